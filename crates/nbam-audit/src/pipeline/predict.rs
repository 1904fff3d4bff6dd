//! Predictions of a saved model, for rows that need no target.

use nbam::Model;
use nbam_table::{MISSING_CODE, OutputColumn, OutputValues, Table};

use super::{SavedModel, features, rows};
use crate::Error;
use crate::decisions::NORMAL_95;

/// The predictions of new rows.
#[derive(Debug, Clone)]
pub struct Predictions {
    /// `row`, `id` if there are ids, then for classes `predicted_label`, `predicted_probability` and one column
    /// `probability[class]` each; for numbers `predicted_value`, `predicted_sd`, and the 95 % interval `low` to `high`
    /// in which a clean target is expected.
    pub columns: Vec<OutputColumn>,
    /// What was done along the way.
    pub notes: Vec<String>,
}

/// Predicts the targets of a table's rows.
///
/// # Errors
/// `Input` if the table lacks a feature or holds a category that the model does not know.
pub fn predict(table: &Table, saved: &SavedModel, id: Option<&str>) -> Result<Predictions, Error> {
    let ids = id.map(|name| nbam_table::texts(table, name)).transpose()?;
    let design = saved.attachment.preparation.apply(table)?;
    let features = features(&design)?;
    let mut columns = rows::leading(table.rows(), ids.as_deref());
    match &saved.model {
        Model::Classifier(model) => {
            let probabilities = model.predict_proba(&features)?;
            columns.extend(class_columns(&probabilities, &saved.attachment.classes));
        }
        Model::Regressor(model) => {
            let prediction = model.predict(&features)?;
            let (mean, sd) = (prediction.mean, prediction.sd);
            let bound =
                |sign: f64| mean.iter().zip(&sd).map(|(mean, sd)| mean + sign * NORMAL_95 * sd).collect();
            let (low, high) = (bound(-1.0), bound(1.0));
            let named = [("predicted_value", mean), ("predicted_sd", sd), ("low", low), ("high", high)];
            columns.extend(named.map(|(name, values)| OutputColumn::new(name, OutputValues::F64(values))));
        }
    }
    Ok(Predictions { columns, notes: design.notes.iter().map(|note| note.message.clone()).collect() })
}

fn class_columns(probabilities: &[f64], classes: &[String]) -> Vec<OutputColumn> {
    let best = |row: &[f64]| {
        row.iter().enumerate().fold((MISSING_CODE, f64::NEG_INFINITY), |best, (class, &probability)| {
            if probability > best.1 { (class as u32, probability) } else { best }
        })
    };
    let (codes, highest): (Vec<u32>, Vec<f64>) = probabilities.chunks_exact(classes.len()).map(best).unzip();
    let mut columns = vec![
        OutputColumn::new("predicted_label", OutputValues::Category { codes, values: classes.to_vec() }),
        OutputColumn::new("predicted_probability", OutputValues::F64(highest)),
    ];
    for (class, name) in classes.iter().enumerate() {
        let values = probabilities.iter().skip(class).step_by(classes.len()).copied().collect();
        columns.push(OutputColumn::new(format!("probability[{name}]"), OutputValues::F64(values)));
    }
    columns
}
