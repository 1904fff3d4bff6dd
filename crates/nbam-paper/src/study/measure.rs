//! What is measured of a fit.

use nbam::{Classifier, Warning};

use super::method::Method;
use crate::data::{Sample, Targets, Test};
use crate::error::{Error, ErrorKind, Result};
use crate::results::{ByClass, Judged, Measures, measure_labels, measure_scores};

/// Accuracy on the test rows, and how well the contaminated training rows are told from the others: by the posterior, or by the score
/// `1 - p(y|x)` where there is none.
pub(super) fn measure(
    method: Method,
    model: &Classifier,
    sample: &Sample,
    is_wrong: &[bool],
) -> Result<Measures> {
    let (Test::Rows(rows, Targets::Labels { labels: truth, .. }), Targets::Labels { labels, classes }) =
        (&sample.test, &sample.targets)
    else {
        return Err(Error::input("the targets are no classes"));
    };
    let predicted = model.predict(&rows.features()?)?;
    let training = model
        .training()
        .ok_or_else(|| Error::new(ErrorKind::Method, "the fit has no posterior of its training rows"))?;
    let posterior = &training.contamination;
    let measured_on = Some("test".to_owned());
    let warnings = model.warnings().iter().map(|warning: &Warning| warning.code.clone()).collect();
    if !method.has_posterior() {
        let accuracy = Some(nbam::metrics::accuracy(&predicted, truth)?);
        return Ok(Measures { accuracy, measured_on, ..measure_scores(posterior, is_wrong)? });
    }
    let judged = Judged { posterior, member_means: &training.member_means, is_wrong, is_told: &[] };
    let features = sample.features.features()?;
    let mut by_class = ByClass::new(*classes);
    by_class.add_prior(labels, &model.prior(&features)?);
    by_class.add_anomaly(labels, &model.anomaly(&features)?);
    by_class.add_posterior(posterior, is_wrong);
    let measures = measure_labels(&judged, &predicted, truth)?;
    Ok(Measures { measured_on, warnings, by_class: Some(by_class), ..measures })
}
