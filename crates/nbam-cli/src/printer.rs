//! The only way to standard output and standard error.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};

use crate::failure::Failure;

/// Lines are no longer than this, however wide the terminal.
const WIDEST: usize = 110;
/// The width where there is no terminal.
const USUAL: usize = 100;

/// Writes data to standard output and everything else to standard error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer {
    is_quiet: bool,
    is_terminal: bool,
    has_color: bool,
}

impl Printer {
    pub(crate) fn new(is_quiet: bool) -> Self {
        let is_terminal = io::stderr().is_terminal();
        Self { is_quiet, is_terminal, has_color: is_terminal && wants_color() }
    }

    /// Whether progress may be drawn in place.
    pub(crate) fn draws_progress(&self) -> bool {
        self.is_terminal && !self.is_quiet
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Data, to standard output.
    pub(crate) fn data(&self, text: &str) -> Result<(), Failure> {
        let mut output = io::stdout().lock();
        output.write_all(text.as_bytes())?;
        Ok(output.flush()?)
    }

    /// Rows as CSV, to standard output.
    pub(crate) fn csv(&self, columns: &[nbam_table::OutputColumn]) -> Result<(), Failure> {
        Ok(nbam_table::write_csv(columns, &mut io::stdout().lock())?)
    }

    /// One line for people.
    pub(crate) fn line(&self, text: impl Display) {
        if !self.is_quiet {
            self.print(&text);
        }
    }

    /// A paragraph for people, wrapped, in bold.
    pub(crate) fn headline(&self, text: &str) {
        for line in wrapped(text, self.width()) {
            self.line(self.bold(&line));
        }
    }

    /// A remark with its kind in front: `note`, `warning`.
    pub(crate) fn remark(&self, kind: &str, text: &str) {
        let indent = " ".repeat(kind.len() + 2);
        let room = self.width().saturating_sub(indent.len());
        for (index, line) in wrapped(text, room).into_iter().enumerate() {
            match index {
                0 => self.line(format_args!("{}: {line}", self.paint(kind, "33"))),
                _ => self.line(format_args!("{indent}{line}")),
            }
        }
    }

    /// Why the run failed, even if it was asked to be quiet. One line each, so that programs can find them.
    pub(crate) fn failure(&self, failure: &Failure) {
        self.print(&format_args!("{}: {}", self.paint("error", "1;31"), failure.message()));
        if let Some(hint) = failure.hint() {
            self.print(&format_args!("{}: {hint}", self.paint("hint", "1;36")));
        }
    }

    pub(crate) fn bold(&self, text: &str) -> String {
        self.paint(text, "1")
    }

    pub(crate) fn faint(&self, text: &str) -> String {
        self.paint(text, "2")
    }

    fn paint(&self, text: &str, code: &str) -> String {
        if self.has_color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub(crate) fn width(&self) -> usize {
        let terminal = terminal_size::terminal_size_of(io::stderr());
        terminal.map_or(USUAL, |(width, _)| usize::from(width.0).clamp(40, WIDEST))
    }

    fn print(&self, text: &dyn Display) {
        // Nobody is left to be told when standard error is closed.
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}

/// Whether standard output is a terminal that wants colour, and its width.
pub(crate) fn output_terminal() -> (bool, usize) {
    let output = io::stdout();
    let width = terminal_size::terminal_size_of(&output).map_or(USUAL, |(width, _)| usize::from(width.0));
    (output.is_terminal() && wants_color(), width.clamp(40, WIDEST))
}

/// NO_COLOR counts when it is set and not empty (no-color.org); a dumb terminal knows no colour.
fn wants_color() -> bool {
    let is_set = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    !is_set && !is_dumb
}

/// Lines of at most so many characters, broken at spaces; a no-break space becomes a plain one.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines.into_iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_never_inside_a_number() {
        assert_eq!(wrapped("about 19\u{a0}% of them", 10), ["about 19 %", "of them"]);
        assert_eq!(wrapped("unbreakable", 4), ["unbreakable"]);
    }
}
