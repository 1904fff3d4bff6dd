//! The rows of `switch.json`, for the tests of every crate that has the kernel.

use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    rows: Vec<GoldenRow>,
}

/// Inputs of the kernel, and its outputs from 50-digit arithmetic.
#[derive(Deserialize, Clone, Copy)]
pub(crate) struct GoldenRow {
    pub(crate) l: f64,
    pub(crate) g: f64,
    pub(crate) a: f64,
    pub(crate) loss: f64,
    pub(crate) posterior: f64,
    pub(crate) d_clean: f64,
    pub(crate) d_prior: f64,
    pub(crate) d_anomaly: f64,
}

pub(crate) fn golden() -> Vec<GoldenRow> {
    serde_json::from_str::<Golden>(include_str!("switch.json")).unwrap().rows
}
