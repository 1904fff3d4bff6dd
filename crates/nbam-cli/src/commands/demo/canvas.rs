//! Drawing in a terminal: a grid of cells, each a sign with a colour, and dots of which a cell holds eight.

/// Colours by their role; without colour the signs alone tell the layers apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    Plain,
    Faint,
    Signal,
    Suspect,
    Prior,
}

impl Ink {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "0",
            Self::Faint => "2",
            Self::Signal => "1;32",
            Self::Suspect => "31",
            Self::Prior => "36",
        }
    }
}

/// A grid of cells.
pub(super) struct Canvas {
    width: usize,
    height: usize,
    cells: Vec<Option<(char, Ink)>>,
    /// The dots of each cell as a braille pattern; drawn where no sign is.
    dots: Vec<u8>,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self { width, height, cells: vec![None; width * height], dots: vec![0; width * height] }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn height(&self) -> usize {
        self.height
    }

    /// A sign in the cell at these shares of width (from the left) and height (from below); outside is not drawn.
    pub(super) fn sign(&mut self, across: f64, up: f64, sign: char, ink: Ink) {
        if let (Some(column), Some(row)) = (place(across, self.width), place(1.0 - up, self.height)) {
            self.cells[row * self.width + column] = Some((sign, ink));
        }
    }

    /// A faint dot at these shares of width and height.
    pub(super) fn dot(&mut self, across: f64, up: f64) {
        // The eight dots of a braille pattern, row by row, as bits.
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        if let (Some(x), Some(y)) = (place(across, 2 * self.width), place(1.0 - up, 4 * self.height)) {
            self.dots[y / 4 * self.width + x / 2] |= BITS[y % 4][x % 2];
        }
    }

    /// The rows of the picture, without spaces at their ends.
    pub(super) fn lines(&self, has_color: bool) -> Vec<String> {
        let cell = |index: usize| match (self.cells[index], self.dots[index]) {
            (Some(cell), _) => cell,
            (None, 0) => (' ', Ink::Plain),
            (None, dots) => (char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '), Ink::Faint),
        };
        let line = |row: usize| {
            let mut line = String::new();
            let mut current = Ink::Plain;
            for column in 0..self.width {
                let (sign, ink) = cell(row * self.width + column);
                if has_color && ink != current && sign != ' ' {
                    line += &format!("\x1b[0;{}m", ink.code());
                    current = ink;
                }
                line.push(sign);
            }
            let mut line = line.trim_end().to_owned();
            if current != Ink::Plain {
                line += "\x1b[0m";
            }
            line
        };
        (0..self.height).map(line).collect()
    }
}

/// The cell of a share in [0, 1].
fn place(share: f64, cells: usize) -> Option<usize> {
    (0.0..=1.0).contains(&share).then(|| ((share * cells as f64) as usize).min(cells - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_hide_dots_and_corners_are_inside() {
        let mut canvas = Canvas::new(3, 2);
        canvas.dot(0.0, 1.0);
        canvas.dot(1.0, 0.0);
        canvas.dot(1.1, 0.0);
        canvas.sign(0.5, 0.0, '×', Ink::Suspect);
        assert_eq!(canvas.lines(false), ["⠁", " ×⢀"]);
        assert_eq!(canvas.lines(true)[1], " \u{1b}[0;31m×\u{1b}[0;2m⢀\u{1b}[0m");
    }
}
