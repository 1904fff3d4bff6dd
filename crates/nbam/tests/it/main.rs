//! Tests of the library as its users see it.

mod bad_input;
mod made;
mod recovery;
mod same_bits;
