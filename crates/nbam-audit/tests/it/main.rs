//! The crate as its users see it: decisions held against a known truth, the report as text and in a real browser.

mod browser;
mod calibration;
mod report;
mod support;
