//! The paper's figures, drawn from the table's results file: nothing is trained again.

mod accuracy;
mod anomaly;
mod page;
mod posterior;
mod prior;
pub(crate) mod svg;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::noise::{Noise, NoiseKind};
use crate::results::Record;
use crate::study::{Chosen, Method, Series};
use crate::table::Selection;

/// The cell in which the learned heads are shown.
const SHOWN: Noise = Noise::new(NoiseKind::Asymmetric, 0.4);

/// A picture with what it says.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The file's name, without extension.
    pub name: String,
    /// What is to be seen, with the seeds that it is drawn from.
    pub caption: String,
    /// The text of the SVG file.
    pub svg: String,
}

/// The runs that figures are drawn from.
struct Runs<'a> {
    chosen: &'a Chosen,
    data: &'a str,
    seeds: usize,
}

impl Runs<'_> {
    fn series(&self, noise: Noise, method: Method) -> Option<&Series> {
        self.chosen.series(self.data, noise, method, 0)
    }

    /// `3 of 5 seeds`: how many the runs of a figure have.
    fn seeds(&self, noise: Noise, method: Method) -> String {
        let count = self.series(noise, method).map_or(0, Series::count);
        if count < self.seeds { format!("{count} of {} seeds", self.seeds) } else { format!("{count} seeds") }
    }

    /// The name of a class.
    fn class(&self, class: usize) -> String {
        const CIFAR: [&str; 10] =
            ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"];
        const FASHION: [&str; 10] =
            ["t-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"];
        let names = match self.data {
            name if name.starts_with("cifar10") => Some(CIFAR),
            name if name.starts_with("fashion") => Some(FASHION),
            _ => None,
        };
        names.and_then(|names| names.get(class).copied()).map_or_else(|| class.to_string(), str::to_owned)
    }
}

/// Draws accuracy against rate and, for the paper's method and our default where they have run, the mean prior and the mean anomaly by
/// true class at asymmetric 0.4 and the posterior's histograms.
///
/// # Errors
/// When there are no runs to draw.
pub fn draw(records: &[Record], selection: Selection) -> Result<Vec<Figure>> {
    let chosen = selection.choose(records)?;
    let names = chosen.data();
    let mut figures = Vec::new();
    for data in &names {
        let runs = Runs { chosen: &chosen, data, seeds: selection.seeds };
        let prefix = if names.len() > 1 { format!("{data}-") } else { String::new() };
        let mut add = |name: String, picture: Option<(String, String)>| {
            let figure =
                picture.map(|(caption, svg)| Figure { name: format!("{prefix}{name}"), caption, svg });
            figures.extend(figure);
        };
        add("accuracy".to_owned(), Some(accuracy::draw(&runs)));
        for method in [Method::Nbam, Method::Default] {
            let name = method.name();
            add(format!("prior-{name}"), prior::draw(&runs, method));
            add(format!("anomaly-{name}"), anomaly::draw(&runs, method));
            add(format!("posterior-{name}"), posterior::draw(&runs, method));
        }
    }
    if figures.is_empty() {
        return Err(Error::input("the results file has no runs of the present settings and these seeds")
            .with_hint("nbam paper table makes them"));
    }
    Ok(figures)
}

/// Writes each figure as an SVG file and all of them as one page, `figures.html`; returns the page's path.
///
/// # Errors
/// When a file cannot be written.
pub fn write(folder: &Path, figures: &[Figure]) -> Result<PathBuf> {
    for figure in figures {
        write_file(&folder.join(format!("{}.svg", figure.name)), &figure.svg)?;
    }
    let page = folder.join("figures.html");
    write_file(&page, &page::page(figures))?;
    Ok(page)
}

/// Writes a file beside its place and moves it there, so that it is there whole or not at all. Its folder is made if it is missing.
///
/// # Errors
/// When it cannot be written.
pub fn write_file(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| Error::writing(folder, &error))?;
    }
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    std::fs::write(&part, text).map_err(|error| Error::writing(&part, &error))?;
    std::fs::rename(&part, path).map_err(|error| Error::writing(path, &error))
}
