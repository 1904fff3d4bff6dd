//! report.html: the decisions for people, in one self-contained file.

mod chart;
mod image;
mod page;
mod rows;

use std::path::Path;

use askama::Template as _;

use crate::{Decisions, Error, ErrorKind, Scored, Summary};

/// The most rows that a report lists.
pub const LISTED_LIMIT: usize = 1000;

/// Everything a report shows. Plain borrowed data: nothing is computed that the decisions do not hold.
#[derive(Debug, Clone)]
pub struct Report<'a> {
    /// What was audited, in words for the reader: usually the file's name.
    pub source: &'a str,
    /// The posterior and the targets.
    pub scored: &'a Scored,
    /// What follows from them.
    pub decisions: &'a Decisions,
    /// The facts of the run.
    pub summary: &'a Summary,
    /// The rows of the table, most suspicious first: those that [`Decisions::listed`] names for [`LISTED_LIMIT`].
    pub listed: &'a [ListedRow],
    /// The names of the feature values in `listed`.
    pub feature_names: &'a [String],
    /// The training loss of each member, epoch by epoch; empty if there was no training.
    pub training: &'a [Vec<f64>],
    /// The folder to which relative image paths refer; the current one if there is none.
    pub image_folder: Option<&'a Path>,
}

/// A row of the report's table: what the table knows and the posterior does not.
#[derive(Debug, Clone, Default)]
pub struct ListedRow {
    /// The row's number, from 0.
    pub row: usize,
    /// The row's own name, if the data has one.
    pub id: Option<String>,
    /// The row's feature values as text, in the order of the names; may be shorter.
    pub features: Vec<String>,
    /// The path of the row's image, if the data has one.
    pub image: Option<String>,
}

impl Report<'_> {
    /// Renders the report as one HTML document without any reference to the network.
    ///
    /// # Errors
    /// `Range` if a listed row does not exist; `Render` if a part cannot be written.
    pub fn render(&self) -> Result<String, Error> {
        let table = rows::Table::new(self)?;
        let page = page::Page::new(self, &table)?;
        page.render().map_err(|error| {
            Error::new(ErrorKind::Render, format!("The report could not be rendered: {error}."))
        })
    }
}
