//! What a run is, what it measured, and the file that remembers it.

mod by_class;
mod file;
mod measure;
mod record;

pub use by_class::ByClass;
pub use file::{ResultsFile, read_results};
pub(crate) use measure::relative_error;
pub use measure::{Judged, Measures, measure_labels, measure_scores, measure_values};
pub(crate) use record::cell_name;
pub use record::{Identity, Record};
