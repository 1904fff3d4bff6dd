//! The dashboard's metrics, by hand.

use burn::data::dataloader::Progress;
use burn::tensor::{Device, Tensor};
use burn::train::metric::{Metric, MetricMetadata, Numeric};
use nbam_burn::Terms;
use nbam_burn::metric::{ContaminationInput, ContaminationMetric, FlaggedMetric, PriorEntropyMetric};

fn input(rows: &[(f32, f32, f32)]) -> ContaminationInput {
    let column = |value: fn(&(f32, f32, f32)) -> f32| {
        let values: Vec<f32> = rows.iter().map(value).collect();
        Tensor::<1>::from_floats(values.as_slice(), &Device::flex())
    };
    let terms = Terms {
        clean_nll: column(|row| row.0),
        prior_logit: column(|row| row.1),
        anomaly_logp: column(|row| row.2),
    };
    ContaminationInput { terms }
}

fn value(mut metric: impl Metric<Input = ContaminationInput> + Numeric) -> f64 {
    let metadata = MetricMetadata { progress: Progress::new(1, 1, None), iteration: Some(0), lr: None };
    // Two batches of different size: the mean is over rows, not over batches.
    for batch in [&[(9.0, -2.0, -1.0), (0.1, -2.0, -2.0), (0.1, -4.0, -2.0)][..], &[(0.3, 0.0, -0.2)]] {
        metric.update(&input(batch), &metadata).unwrap();
    }
    metric.final_value().current()
}

#[test]
fn the_metrics_are_means_over_rows() {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let posteriors = [sigmoid(6.0), sigmoid(-3.9), sigmoid(-5.9), sigmoid(0.1)];
    let contamination = 25.0 * posteriors.iter().sum::<f64>();
    assert!((value(ContaminationMetric::new()) - contamination).abs() < 1e-3);
    assert!((value(FlaggedMetric::default()) - 50.0).abs() < 1e-6);
    assert!((value(FlaggedMetric::new(0.6)) - 25.0).abs() < 1e-6);
    let entropy = |g: f64| {
        let p = sigmoid(g);
        -p * p.ln() - (1.0 - p) * (1.0 - p).ln()
    };
    let expected = (2.0 * entropy(-2.0) + entropy(-4.0) + entropy(0.0)) / 4.0;
    assert!((value(PriorEntropyMetric::new()) - expected).abs() < 1e-5);
}
