//! The `nbam` command.

fn main() {}
