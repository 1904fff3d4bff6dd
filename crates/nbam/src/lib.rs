//! Neural Bayesian Anomaly Mitigation.

pub mod density;
pub mod error;
pub mod net;
pub mod switch;

pub use error::{Error, ErrorKind, Result};
