//! The columns of rows.parquet.

use nbam_table::{MISSING_CODE, OutputColumn, OutputValues};

use crate::{ClassTargets, Decisions, Scored, Targets};

/// One output row per input row, in input order: `row`, `id` if there are ids, `given_label` or `given_value`, the
/// posterior and its evidence, `is_flagged`, the prediction, and for classes `suggested_label` with its probability.
///
/// A suggestion is made where the row is flagged or more probably wrong than right, and another label than the given one
/// is the most probable; elsewhere both columns are empty.
pub(super) fn columns(scored: &Scored, decisions: &Decisions, ids: Option<&[String]>) -> Vec<OutputColumn> {
    let posterior = scored.posterior();
    let numbers = |name: &str, values: &[f64]| OutputColumn::new(name, OutputValues::F64(values.to_vec()));
    let mut columns = leading(scored.rows(), ids);
    match scored.targets() {
        Targets::Classification(targets) => columns.push(labels("given_label", targets, &targets.given)),
        Targets::Regression(targets) => columns.push(numbers("given_value", &targets.given)),
    }
    columns.extend([
        numbers("contamination", &posterior.contamination),
        numbers("prior", &posterior.prior),
        numbers("log_clean", &posterior.log_clean),
        numbers("log_anomaly", &posterior.log_anomaly),
        OutputColumn::new("is_flagged", OutputValues::Bool(decisions.flags.is_flagged.clone())),
    ]);
    match scored.targets() {
        Targets::Classification(targets) => {
            columns.push(labels("predicted_label", targets, &targets.predicted));
            columns.extend(suggestions(targets, &posterior.contamination, &decisions.flags.is_flagged));
        }
        Targets::Regression(targets) => {
            columns.push(numbers("predicted_value", &targets.predicted));
            columns.push(numbers("predicted_sd", &targets.predicted_sd));
        }
    }
    columns
}

/// The row numbers, and the ids if there are some.
pub(super) fn leading(rows: usize, ids: Option<&[String]>) -> Vec<OutputColumn> {
    let mut columns = vec![OutputColumn::new("row", OutputValues::U64((0..rows as u64).collect()))];
    columns.extend(ids.map(|ids| OutputColumn::new("id", OutputValues::Text(ids.to_vec()))));
    columns
}

fn labels(name: &str, targets: &ClassTargets, codes: &[usize]) -> OutputColumn {
    let codes = codes.iter().map(|&code| code as u32).collect();
    OutputColumn::new(name, OutputValues::Category { codes, values: targets.classes.clone() })
}

fn suggestions(targets: &ClassTargets, contamination: &[f64], is_flagged: &[bool]) -> [OutputColumn; 2] {
    let is_suggested = |row: usize| {
        (is_flagged[row] || contamination[row] > 0.5) && targets.suggested[row] != targets.given[row]
    };
    let rows = 0..contamination.len();
    let codes =
        rows.clone().map(|row| if is_suggested(row) { targets.suggested[row] as u32 } else { MISSING_CODE });
    let codes = codes.collect();
    let probabilities =
        rows.map(|row| is_suggested(row).then(|| targets.suggested_probability[row])).collect();
    [
        OutputColumn::new(
            "suggested_label",
            OutputValues::Category { codes, values: targets.classes.clone() },
        ),
        OutputColumn::new("suggested_probability", OutputValues::OptionalF64(probabilities)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FlagRule, Posterior, ValueTargets, decide};

    fn posterior(contamination: Vec<f64>) -> Posterior {
        let same = vec![0.1; contamination.len()];
        Posterior {
            contamination,
            prior: same.clone(),
            log_clean: same.clone(),
            log_anomaly: same,
            member_means: vec![],
        }
    }

    fn names(columns: &[OutputColumn]) -> Vec<&str> {
        columns.iter().map(|column| column.name.as_str()).collect()
    }

    #[test]
    fn the_columns_of_the_contract_in_their_order() {
        let targets = ClassTargets {
            classes: vec!["a".into(), "b".into()],
            given: vec![0, 0, 0, 0],
            predicted: vec![1, 1, 0, 1],
            suggested: vec![1, 1, 0, 1],
            suggested_probability: vec![0.99, 0.6, 0.9, 0.4],
        };
        let posterior = posterior(vec![0.99, 0.6, 0.7, 0.4]);
        let scored = Scored::new("y", posterior, Targets::Classification(targets)).unwrap();
        let decisions = decide(&scored, FlagRule::at(0.05).unwrap());
        let ids: Vec<String> = ["p", "q", "r", "s"].map(str::to_owned).to_vec();
        let columns = columns(&scored, &decisions, Some(&ids));
        assert_eq!(
            names(&columns),
            [
                "row",
                "id",
                "given_label",
                "contamination",
                "prior",
                "log_clean",
                "log_anomaly",
                "is_flagged",
                "predicted_label",
                "suggested_label",
                "suggested_probability"
            ]
        );
        // Flagged; probably wrong; wrong, but nothing better is known; probably right.
        let OutputValues::OptionalF64(suggested) = &columns[10].values else { panic!("numbers expected") };
        assert_eq!(suggested, &[Some(0.99), Some(0.6), None, None]);
    }

    #[test]
    fn a_regression_has_values_instead_of_labels() {
        let targets =
            ValueTargets { given: vec![1.0], predicted: vec![2.0], predicted_sd: vec![0.5], error: None };
        let scored = Scored::new("y", posterior(vec![0.9]), Targets::Regression(targets)).unwrap();
        let columns = columns(&scored, &decide(&scored, FlagRule::at(0.05).unwrap()), None);
        assert_eq!(
            names(&columns),
            [
                "row",
                "given_value",
                "contamination",
                "prior",
                "log_clean",
                "log_anomaly",
                "is_flagged",
                "predicted_value",
                "predicted_sd"
            ]
        );
    }
}
