//! The command as its users meet it: arguments in; files, words and exit codes out.

mod audit;
mod bad_input;
mod compare;
mod corrupt;
mod examples;
mod interrupt;
mod new_rows;
mod paper;
mod paper_table;
mod support;
