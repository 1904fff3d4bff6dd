//! Tests of the library as its users see it.

mod bad_input;
mod golden;
mod made;
mod monitor;
mod planted;
mod recovery;
mod same_bits;
