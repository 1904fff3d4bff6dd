//! The checks of this repository, as one command.

fn main() {}
