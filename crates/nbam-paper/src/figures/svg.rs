//! Small SVG pictures that stand alone: every colour and size is in the file.

use std::fmt::{Display, Write as _};

use nbam_audit::markup::escape;

/// Colours that people with any colour vision tell apart (after Okabe and Ito), and greys for what is not data.
pub(crate) mod colour {
    pub(crate) const INK: &str = "#222222";
    pub(crate) const FAINT: &str = "#888888";
    pub(crate) const GRID: &str = "#e4e4e4";
    pub(crate) const BLUE: &str = "#0072b2";
    pub(crate) const SKY: &str = "#56b4e9";
    pub(crate) const GREEN: &str = "#009e73";
    pub(crate) const AMBER: &str = "#e69f00";
    pub(crate) const RED: &str = "#d55e00";
}

/// A picture that is being drawn.
pub(crate) struct Svg {
    width: f64,
    height: f64,
    description: String,
    body: String,
}

/// Where a text has its fixed point.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// An empty picture that a screen reader announces by its description.
    pub(crate) fn new(width: f64, height: f64, description: &str) -> Self {
        Self { width, height, description: escape(description), body: String::new() }
    }

    /// Adds an element, written as it is.
    fn add(&mut self, element: impl Display) {
        // Writing to a string does not fail.
        let _ = writeln!(self.body, "{element}");
    }

    /// A text of this size.
    pub(crate) fn text(&mut self, (x, y): (f64, f64), size: f64, anchor: Anchor, text: &str) {
        self.coloured_text((x, y), size, anchor, colour::INK, text);
    }

    /// A text of this size and colour.
    pub(crate) fn coloured_text(
        &mut self,
        (x, y): (f64, f64),
        size: f64,
        anchor: Anchor,
        colour: &str,
        text: &str,
    ) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.add(format_args!(
            r#"<text x="{x:.1}" y="{y:.1}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{}</text>"#,
            escape(text)
        ));
    }

    /// A text that is read from bottom to top, centred at its place.
    fn upright(&mut self, (x, y): (f64, f64), size: f64, text: &str) {
        self.add(format_args!(
            r#"<text transform="translate({x:.1} {y:.1}) rotate(-90)" font-size="{size}" text-anchor="middle" fill="{}">{}</text>"#,
            colour::INK,
            escape(text)
        ));
    }

    /// A filled rectangle; `opacity` from 0 to 1.
    pub(crate) fn rectangle(
        &mut self,
        (x, y, width, height): (f64, f64, f64, f64),
        fill: &str,
        opacity: f64,
    ) {
        self.add(format_args!(
            r#"<rect x="{x:.1}" y="{y:.1}" width="{:.1}" height="{:.1}" fill="{fill}" fill-opacity="{opacity:.3}"/>"#,
            width.max(0.0),
            height.max(0.0)
        ));
    }

    /// The outline of a rectangle.
    pub(crate) fn outline(&mut self, (x, y, width, height): (f64, f64, f64, f64), colour: &str, stroke: f64) {
        self.add(format_args!(
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" fill="none" stroke="{colour}" stroke-width="{stroke}"/>"#
        ));
    }

    /// A line through points, dashed if so asked.
    pub(crate) fn line(&mut self, points: &[(f64, f64)], colour: &str, stroke: f64, is_dashed: bool) {
        let path = path(points);
        let dash = if is_dashed { r#" stroke-dasharray="5 4""# } else { "" };
        self.add(format_args!(
            r#"<path d="M{path}" fill="none" stroke="{colour}" stroke-width="{stroke}"{dash} stroke-linejoin="round"/>"#
        ));
    }

    /// A filled shape.
    pub(crate) fn area(&mut self, points: &[(f64, f64)], fill: &str, opacity: f64) {
        let path = path(points);
        self.add(format_args!(r#"<path d="M{path}Z" fill="{fill}" fill-opacity="{opacity}"/>"#));
    }

    /// A dot, hollow if so asked.
    pub(crate) fn dot(&mut self, (x, y): (f64, f64), radius: f64, colour: &str, is_hollow: bool) {
        let fill = if is_hollow { "#ffffff" } else { colour };
        self.add(format_args!(
            r#"<circle cx="{x:.1}" cy="{y:.1}" r="{radius}" fill="{fill}" stroke="{colour}" stroke-width="1.2"/>"#
        ));
    }

    /// The picture as the text of a file.
    pub(crate) fn finish(self) -> String {
        let Self { width, height, description, body } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" role=\"img\" aria-label=\"{description}\" font-family=\"sans-serif\">\n<rect \
             width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n"
        )
    }
}

fn path(points: &[(f64, f64)]) -> String {
    let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    points.join("L")
}

/// The area in which data is drawn, and the values at its edges.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Panel {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    pub(crate) x: (f64, f64),
    pub(crate) y: (f64, f64),
}

/// The marks of an axis with their labels, and what it shows.
pub(crate) struct Axis<'a> {
    pub(crate) ticks: Vec<(f64, String)>,
    pub(crate) title: &'a str,
}

impl Panel {
    pub(crate) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.at_x(x), self.at_y(y))
    }

    pub(crate) fn at_x(&self, value: f64) -> f64 {
        self.left + (value - self.x.0) / (self.x.1 - self.x.0) * (self.right - self.left)
    }

    pub(crate) fn at_y(&self, value: f64) -> f64 {
        self.bottom - (value - self.y.0) / (self.y.1 - self.y.0) * (self.bottom - self.top)
    }

    /// Points of a curve, those outside the panel moved to its edge.
    pub(crate) fn curve(&self, points: impl IntoIterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
        points.into_iter().map(|(x, y)| self.at(x, y.clamp(self.y.0, self.y.1))).collect()
    }

    /// The title above, grid lines, marks and titles of both axes.
    pub(crate) fn frame(&self, svg: &mut Svg, title: &str, x: &Axis<'_>, y: &Axis<'_>) {
        let middle = (self.left + self.right) / 2.0;
        svg.text((self.left, self.top - 10.0), 14.0, Anchor::Start, title);
        for (value, label) in &y.ticks {
            let place = self.at_y(*value);
            svg.line(&[(self.left, place), (self.right, place)], colour::GRID, 1.0, false);
            svg.text((self.left - 7.0, place + 4.0), 12.0, Anchor::End, label);
        }
        svg.line(&[(self.left, self.bottom), (self.right, self.bottom)], colour::INK, 1.0, false);
        for (value, label) in &x.ticks {
            let place = self.at_x(*value);
            svg.line(&[(place, self.bottom), (place, self.bottom + 4.0)], colour::INK, 1.0, false);
            svg.text((place, self.bottom + 18.0), 12.0, Anchor::Middle, label);
        }
        svg.text((middle, self.bottom + 36.0), 12.0, Anchor::Middle, x.title);
        svg.upright((self.left - 44.0, (self.top + self.bottom) / 2.0), 12.0, y.title);
    }

    /// Says in the middle that there is nothing to draw.
    pub(crate) fn nothing(&self, svg: &mut Svg) {
        let place = ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0);
        svg.coloured_text(place, 13.0, Anchor::Middle, colour::FAINT, "no runs yet");
    }
}

/// Marks at these values, written with so many digits after the point.
pub(crate) fn marks(values: impl IntoIterator<Item = f64>, digits: usize) -> Vec<(f64, String)> {
    values.into_iter().map(|value| (value, format!("{value:.digits$}"))).collect()
}

/// A row of names with their colours; each is a line, dashed or not, or a block if so asked.
pub(crate) fn legend(svg: &mut Svg, (left, y): (f64, f64), entries: &[(&str, &str, Key)]) {
    let mut x = left;
    for (name, colour, key) in entries {
        match key {
            Key::Line => svg.line(&[(x, y - 4.0), (x + 20.0, y - 4.0)], colour, 2.5, false),
            Key::Dashed => svg.line(&[(x, y - 4.0), (x + 20.0, y - 4.0)], colour, 1.5, true),
            Key::Dot => svg.dot((x + 10.0, y - 4.0), 3.0, colour, false),
            Key::Block(opacity) => svg.rectangle((x + 3.0, y - 11.0, 14.0, 13.0), colour, *opacity),
        }
        svg.text((x + 26.0, y), 12.0, Anchor::Start, name);
        // About the width of the text; nothing measures text here.
        x += 26.0 + 6.6 * name.chars().count() as f64 + 22.0;
    }
}

/// How a name of a legend is marked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Key {
    Line,
    Dashed,
    Dot,
    Block(f64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_land_inside_the_panel() {
        let panel = Panel { left: 10.0, right: 110.0, top: 5.0, bottom: 55.0, x: (0.0, 1.0), y: (0.0, 2.0) };
        assert_eq!((panel.at(0.0, 0.0), panel.at(1.0, 2.0)), ((10.0, 55.0), (110.0, 5.0)));
        assert_eq!(panel.curve([(0.5, 9.0)]), [(60.0, 5.0)]);
    }

    #[test]
    fn markup_is_escaped() {
        let mut svg = Svg::new(10.0, 10.0, "a \"b\"");
        svg.text((0.0, 0.0), 10.0, Anchor::Start, "<&'");
        let text = svg.finish();
        assert!(text.contains("&lt;&amp;&#39;") && text.contains("a &quot;b&quot;"), "{text}");
    }
}
