//! The picture of the example.

use super::canvas::{Canvas, Ink};
use super::{Found, Measures, ROWS};
use nbam_paper::synthetic::{self as example, Example};

/// Range of the drawn targets.
const TOP: f64 = 3.2;
/// Room for the numbers of the axis.
const MARGIN: usize = 6;

/// The drawing and its captions, as text with a final line break.
pub(super) fn draw(
    example: &Example,
    found: &Found,
    measures: &Measures,
    width: usize,
    has_color: bool,
) -> String {
    let columns = width.saturating_sub(MARGIN + 2).clamp(30, 96);
    let mut text = format!(
        "The paper's one-dimensional example: {ROWS} rows of y = sin(2.3x) + 0.3x with noise, a quarter of them replaced.\n\n"
    );
    let plot = targets(example, found, columns);
    push_plot(
        &mut text,
        &plot,
        has_color,
        [("3.2", 0), ("0", plot.height() / 2), ("-3.2", plot.height() - 1)],
    );
    text += "\n";
    let plot = priors(found, columns);
    push_plot(&mut text, &plot, has_color, [("1", 0), ("", 0), ("0", plot.height() - 1)]);
    let middle = columns.saturating_sub(4) / 2;
    text += &format!(
        "{:MARGIN$} -3{}0{}3\n\n",
        "",
        " ".repeat(middle),
        " ".repeat(columns.saturating_sub(middle + 4))
    );
    text += &captions(measures, found, has_color);
    text
}

fn push_plot(text: &mut String, plot: &Canvas, has_color: bool, marks: [(&str, usize); 3]) {
    for (row, line) in plot.lines(has_color).into_iter().enumerate() {
        let mark =
            marks.iter().find(|(name, place)| *place == row && !name.is_empty()).map_or("", |mark| mark.0);
        *text += &format!("{mark:>MARGIN$} │{line}\n");
    }
}

fn across(x: f64) -> f64 {
    (x - example::LOW) / (example::HIGH - example::LOW)
}

/// Rows that the model trusts as dots, those that it suspects as crosses, and the signal that it learned.
fn targets(example: &Example, found: &Found, columns: usize) -> Canvas {
    let mut canvas = Canvas::new(columns, 18);
    let up = |y: f64| (y + TOP) / (2.0 * TOP);
    for (row, (&x, &y)) in example.x.iter().zip(&example.y).enumerate() {
        if found.contamination[row] > 0.5 {
            canvas.sign(across(x), up(y), '×', Ink::Suspect);
        } else {
            canvas.dot(across(x), up(y));
        }
    }
    for (&x, &mean) in found.grid.iter().zip(&found.signal) {
        canvas.sign(across(x), up(mean), '━', Ink::Signal);
    }
    canvas
}

/// The learned prior as an area, the true one as a line of circles.
fn priors(found: &Found, columns: usize) -> Canvas {
    const EIGHTHS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let mut canvas = Canvas::new(columns, 5);
    for column in 0..canvas.width() {
        let share = (column as f64 + 0.5) / canvas.width() as f64;
        let index = (share * (found.grid.len() - 1) as f64).round() as usize;
        let height = found.prior[index].clamp(0.0, 1.0) * canvas.height() as f64;
        for cell in 0..canvas.height() {
            let eighths = ((height - cell as f64) * 8.0).round().clamp(0.0, 8.0) as usize;
            let up = (cell as f64 + 0.5) / canvas.height() as f64;
            if eighths > 0 {
                canvas.sign(share, up, EIGHTHS[eighths - 1], Ink::Prior);
            }
        }
        if column % 3 == 0 {
            canvas.sign(share, example::prior(found.grid[index]), '○', Ink::Plain);
        }
    }
    canvas
}

fn captions(measures: &Measures, found: &Found, has_color: bool) -> String {
    let bold = |text: &str| if has_color { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() };
    let rows = [
        ("posterior on the right side", measures.accuracy, measures.best_accuracy),
        ("share of replaced rows", measures.rate, measures.true_rate),
    ];
    let mut text = String::new();
    text += "  ⠒ row that looks right   × row that looks replaced   ━ learned signal\n";
    text += "  █ learned chance of being replaced   ○ true chance\n\n";
    text += &format!("  {:<29}{:>9}   {}\n", "", "learned", "knowing everything");
    for (name, learned, best) in rows {
        text += &format!("  {name:<29}{}   {best:.4}\n", bold(&format!("{learned:>9.4}")));
    }
    text += &format!(
        "  {:<29}{:>9.4}   from the true signal (noise 0.1)\n",
        "root mean squared distance", measures.signal_error
    );
    text += &format!("  {:<29}{:>9.4}   from the true chance\n", "", measures.prior_error);
    text += &format!(
        "\n  No method gets more than {:.4} of such rows right on average. Fitted in {:.1} s.\n",
        example::best_expected_accuracy(),
        found.seconds
    );
    text
}
