//! What the paper's table and its sensitivity sweep share: the methods with the paper's settings, and runs of them on
//! contaminated labels.

mod measure;
mod method;
mod run;
mod series;

pub use method::{Method, PAPER_VERSION, Setting};
pub use run::{Run, Study};
pub(crate) use series::{Chosen, Series, choose};
