//! Metrics for Burn's training dashboard: how much is believed to be wrong.
//!
//! | metric | what it shows |
//! | --- | --- |
//! | [`ContaminationMetric`] | the mean posterior: the share of targets that are believed to be wrong |
//! | [`FlaggedMetric`] | the share of rows with a posterior above a threshold |
//! | [`PriorEntropyMetric`] | the mean entropy of the switch before the target is seen, in nats |
//!
//! A model whose step returns [`NbamClassificationOutput`] or [`NbamRegressionOutput`] can be watched by them, and by Burn's own.

use std::sync::Arc;

use burn::tensor::activation::log_sigmoid;
use burn::tensor::{ExecutionError, Int, Tensor, TensorReadError};
use burn::train::ItemLazy;
use burn::train::metric::state::{FormatOptions, NumericMetricState};
use burn::train::metric::{
    AccuracyInput, Adaptor, LossInput, Metric, MetricAttributes, MetricMetadata, MetricName, Numeric,
    NumericAttributes, NumericEntry, SerializedEntry,
};

use crate::Terms;

/// What the metrics of this module look at.
#[derive(Debug, Clone)]
pub struct ContaminationInput {
    /// The three terms of each row.
    pub terms: Terms,
}

/// Defines a metric that is the mean over rows of something that the terms give.
macro_rules! contamination_metric {
    ($(#[$documentation:meta])* $metric:ident { $($field:ident: $type:ty),* }, $unit:expr, $value:expr) => {
        $(#[$documentation])*
        #[derive(Clone)]
        pub struct $metric {
            name: MetricName,
            state: NumericMetricState,
            $($field: $type,)*
        }

        impl Metric for $metric {
            type Input = ContaminationInput;

            fn update(
                &mut self,
                input: &ContaminationInput,
                _metadata: &MetricMetadata,
            ) -> Result<SerializedEntry, TensorReadError> {
                let [rows] = input.terms.clean_nll.dims();
                let value: Tensor<1> = $value(self, &input.terms);
                self.state.update(value.mean().try_into_scalar::<f64>()?, rows);
                Ok(self.state.compute_update(self.format()))
            }

            fn compute(&mut self) -> Result<SerializedEntry, TensorReadError> {
                Ok(self.state.compute_final(self.format()))
            }

            fn clear(&mut self) {
                self.state.reset();
            }

            fn name(&self) -> MetricName {
                self.name.clone()
            }

            fn attributes(&self) -> MetricAttributes {
                NumericAttributes { unit: $unit, higher_is_better: false }.into()
            }
        }

        impl $metric {
            fn format(&self) -> FormatOptions {
                FormatOptions::new(self.name()).precision(3)
            }
        }

        impl Numeric for $metric {
            fn value(&self) -> Option<NumericEntry> {
                Some(self.state.current_value())
            }

            fn running_value(&self) -> Option<NumericEntry> {
                Some(self.state.running_value())
            }

            fn final_value(&self) -> NumericEntry {
                self.state.final_value()
            }
        }
    };
}

contamination_metric! {
    /// The mean posterior, in percent: the share of targets that are believed to be wrong.
    ContaminationMetric {}, Some("%".to_owned()), |_: &Self, terms: &Terms| terms.posterior().mul_scalar(100.0)
}

contamination_metric! {
    /// The share of rows whose posterior is above a threshold, in percent.
    FlaggedMetric { threshold: f64 }, Some("%".to_owned()),
    |metric: &Self, terms: &Terms| terms.posterior().greater_scalar(metric.threshold).float().mul_scalar(100.0)
}

contamination_metric! {
    /// The mean entropy of the prior, `-pi log pi - (1 - pi) log(1 - pi)`, in nats: how undecided the model is before it sees a target.
    /// It starts high and falls as the model learns where errors are.
    PriorEntropyMetric {}, None, |_: &Self, terms: &Terms| {
        let (logit, prior) = (terms.prior_logit.clone(), terms.prior());
        -(prior.clone() * log_sigmoid(logit.clone()) + (-prior).add_scalar(1.0) * log_sigmoid(-logit))
    }
}

impl ContaminationMetric {
    /// Creates the metric.
    pub fn new() -> Self {
        Self { name: Arc::new("Contamination".to_owned()), state: NumericMetricState::default() }
    }
}

impl FlaggedMetric {
    /// Creates the metric with a threshold on the posterior.
    pub fn new(threshold: f64) -> Self {
        Self { name: Arc::new("Flagged".to_owned()), state: NumericMetricState::default(), threshold }
    }
}

impl PriorEntropyMetric {
    /// Creates the metric.
    pub fn new() -> Self {
        Self { name: Arc::new("Prior entropy".to_owned()), state: NumericMetricState::default() }
    }
}

impl Default for ContaminationMetric {
    fn default() -> Self {
        Self::new()
    }
}

/// Flags what is more probably wrong than right.
impl Default for FlaggedMetric {
    fn default() -> Self {
        Self::new(0.5)
    }
}

impl Default for PriorEntropyMetric {
    fn default() -> Self {
        Self::new()
    }
}

/// What a step of a classification returns: Burn's `ClassificationOutput` with the terms.
#[derive(Debug, Clone)]
pub struct NbamClassificationOutput {
    /// The loss. Shape `[1]`.
    pub loss: Tensor<1>,
    /// The logits. Shape `[rows, classes]`.
    pub output: Tensor<2>,
    /// The labels as given. Shape `[rows]`.
    pub targets: Tensor<1, Int>,
    /// The three terms of each row.
    pub terms: Terms,
}

/// What a step of a regression returns: Burn's `RegressionOutput` with the terms.
#[derive(Debug, Clone)]
pub struct NbamRegressionOutput {
    /// The loss. Shape `[1]`.
    pub loss: Tensor<1>,
    /// The predicted means. Shape `[rows]`.
    pub output: Tensor<1>,
    /// The targets as given. Shape `[rows]`.
    pub targets: Tensor<1>,
    /// The three terms of each row.
    pub terms: Terms,
}

impl ItemLazy for NbamClassificationOutput {
    fn sync(self) -> Result<Self, ExecutionError> {
        self.loss.device().flush()?;
        Ok(Self {
            loss: self.loss.without_autodiff(),
            output: self.output.without_autodiff(),
            targets: self.targets.without_autodiff(),
            terms: self.terms.without_autodiff(),
        })
    }
}

impl ItemLazy for NbamRegressionOutput {
    fn sync(self) -> Result<Self, ExecutionError> {
        self.loss.device().flush()?;
        Ok(Self {
            loss: self.loss.without_autodiff(),
            output: self.output.without_autodiff(),
            targets: self.targets.without_autodiff(),
            terms: self.terms.without_autodiff(),
        })
    }
}

impl Adaptor<AccuracyInput> for NbamClassificationOutput {
    fn adapt(&self) -> AccuracyInput {
        AccuracyInput::new(self.output.clone(), self.targets.clone())
    }
}

impl Adaptor<LossInput> for NbamClassificationOutput {
    fn adapt(&self) -> LossInput {
        LossInput::new(self.loss.clone())
    }
}

impl Adaptor<ContaminationInput> for NbamClassificationOutput {
    fn adapt(&self) -> ContaminationInput {
        ContaminationInput { terms: self.terms.clone() }
    }
}

impl Adaptor<LossInput> for NbamRegressionOutput {
    fn adapt(&self) -> LossInput {
        LossInput::new(self.loss.clone())
    }
}

impl Adaptor<ContaminationInput> for NbamRegressionOutput {
    fn adapt(&self) -> ContaminationInput {
        ContaminationInput { terms: self.terms.clone() }
    }
}
