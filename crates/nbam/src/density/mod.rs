//! Normalised densities for the two branches, each with its gradient.
//!
//! | branch | density |
//! | --- | --- |
//! | clean | [`categorical`]; [`gaussian`] with one scale, with a scale for each row, with known errors |
//! | anomaly | [`categorical`] (the paper's free head), [`transition`] (tied to the clean branch), [`uniform`] (the classical one), [`gaussian`] (the paper's), [`student_t`], [`mixture`] of Gaussians |
//!
//! [`RobustDensity`] has no branches: it is what the mixture is compared with.
//!
//! Normalisation is what makes flagging cost something: see [`crate::switch::occam_cost`].

pub mod categorical;
pub mod gaussian;
pub mod mixture;
mod robust;
pub mod student_t;
pub mod transition;
pub mod uniform;

pub use robust::RobustDensity;

#[cfg(test)]
mod tests;
