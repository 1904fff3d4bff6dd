//! The uniform density: the classical anomaly, the same for everything.

/// `-log(volume)`: the length of an interval, or the number of classes.
pub fn log_density(volume: f64) -> f64 {
    -volume.ln()
}
