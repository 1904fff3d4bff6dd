//! The curve, its error bars, and what it says of the points.

use std::error::Error;

use burn::tensor::Device;
use nbam::metrics::root_mean_squared_error;

use crate::data::{Points, curve, exact_posterior, inputs, targets};
use crate::model::Curve;

/// How good a curve is.
pub(crate) struct Quality {
    pub(crate) error: f64,
    pub(crate) mean_sd: f64,
    pub(crate) coverage: f64,
    pub(crate) accuracy: f64,
    pub(crate) ceiling: f64,
}

/// Mean and standard deviation of clean points at these places.
fn predict(model: &Curve, x: &[f64]) -> Result<(Vec<f64>, Vec<f64>), Box<dyn Error>> {
    let (_, mean, log_sd) = model.forward(inputs(x, &Device::flex()));
    Ok((mean.try_into_vec_as::<f64>()?, log_sd.exp().try_into_vec_as::<f64>()?))
}

/// The curve beside the truth, and how often posterior and error bars are right.
pub(crate) fn quality(model: &Curve, train: &Points, fresh: &Points) -> Result<Quality, Box<dyn Error>> {
    let device = Device::flex();
    let (mean, sd) = predict(model, &fresh.x)?;
    let truth: Vec<f64> = fresh.x.iter().map(|&x| curve(x)).collect();
    let clean: Vec<usize> = (0..fresh.x.len()).filter(|&row| !fresh.is_wrong[row]).collect();
    let covered = clean.iter().filter(|&&row| (fresh.y[row] - mean[row]).abs() < 2.0 * sd[row]).count();
    let review = model.review(inputs(&train.x, &device), targets(&train.y, &device));
    let posterior: Vec<f64> = review.terms.posterior().try_into_vec_as()?;
    let exact: Vec<f64> = train.x.iter().zip(&train.y).map(|(&x, &y)| exact_posterior(x, y)).collect();
    let share_right = |posterior: &[f64]| {
        let right = posterior.iter().zip(&train.is_wrong).filter(|(r, wrong)| (**r > 0.5) == **wrong).count();
        right as f64 / posterior.len() as f64
    };
    Ok(Quality {
        error: root_mean_squared_error(&mean, &truth)?,
        mean_sd: sd.iter().sum::<f64>() / sd.len() as f64,
        coverage: covered as f64 / clean.len() as f64,
        accuracy: share_right(&posterior),
        ceiling: share_right(&exact),
    })
}

/// The curve as lines of text, one for each of some places.
pub(crate) fn picture(model: &Curve, places: usize) -> Result<Vec<String>, Box<dyn Error>> {
    const COLUMNS: f64 = 60.0;
    let x: Vec<f64> = (0..places).map(|place| -3.0 + 6.0 * place as f64 / (places - 1) as f64).collect();
    let (mean, sd) = predict(model, &x)?;
    let line = |row: usize| {
        let truth = curve(x[row]);
        let column = |y: f64| ((y + 2.5) / 5.0 * COLUMNS).clamp(0.0, COLUMNS) as usize;
        let mut cells = vec![' '; COLUMNS as usize + 1];
        cells[column(mean[row] - 2.0 * sd[row])..=column(mean[row] + 2.0 * sd[row])].fill('-');
        cells[column(truth)] = 'o';
        cells[column(mean[row])] = '*';
        let cells: String = cells.into_iter().collect();
        format!("{:6.2} {truth:8.3} {:8.3} ± {:.3} {cells}", x[row], mean[row], sd[row])
    };
    Ok((0..places).map(line).collect())
}
