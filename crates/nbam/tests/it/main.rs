//! Tests of the library as its users see it.

mod bad_input;
mod committee;
mod golden;
#[path = "../../../../golden/rows.rs"]
mod golden_rows;
mod made;
mod monitor;
mod planted;
mod recovery;
mod same_bits;
