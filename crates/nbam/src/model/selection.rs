//! Which members of an ensemble found the best optimum.

/// Rates of a class that differ by more than this belong to different explanations of the labels.
const RATE_LIMIT: f64 = 0.1;
/// Rows that a class must have for its rate to tell explanations apart.
const ROWS_LIMIT: f64 = 30.0;
/// Log odds from which the likelihood decides: 20 to 1.
const DECISIVE: f64 = 3.0;

/// What the choice needs of a member.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    /// Minus the log of the joint density of all labels and the weights: what training made small.
    pub(crate) objective: f64,
    /// Each class's rate of contaminated labels.
    pub(crate) rates: Vec<f64>,
    /// Rows that are really of each class.
    pub(crate) rows: Vec<f64>,
}

/// Whether each member is kept.
///
/// The objective has several optima: a class may be taken for flipped rows of another. A member that explains the
/// labels otherwise than the best one does (another rate for some class) and is decisively less probable sits in a worse
/// optimum and is set aside. Members that agree are all kept, whatever their objective; so are ones between which
/// the likelihood does not decide, for then the data cannot tell, and the disagreement is to be seen.
pub(crate) fn kept(candidates: &[Candidate]) -> Vec<bool> {
    let best = candidates.iter().min_by(|a, b| a.objective.total_cmp(&b.objective));
    let Some(best) = best else { return Vec::new() };
    candidates
        .iter()
        .map(|candidate| candidate.objective - best.objective <= DECISIVE || agrees(candidate, best))
        .collect()
}

fn agrees(candidate: &Candidate, best: &Candidate) -> bool {
    let rates = candidate.rates.iter().zip(&best.rates);
    let rows = candidate.rows.iter().zip(&best.rows);
    rates.zip(rows).all(|((rate, best_rate), (rows, best_rows))| {
        rows.max(*best_rows) < ROWS_LIMIT || (rate - best_rate).abs() <= RATE_LIMIT
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(objective: f64, rates: [f64; 2]) -> Candidate {
        Candidate { objective, rates: rates.to_vec(), rows: vec![500.0, 20.0] }
    }

    #[test]
    fn a_worse_explanation_is_set_aside() {
        let members = [candidate(1010.0, [0.0, 0.1]), candidate(1000.0, [0.3, 0.1])];
        assert_eq!(kept(&members), [false, true]);
    }

    #[test]
    fn the_same_explanation_stays() {
        let members = [candidate(1010.0, [0.25, 0.1]), candidate(1000.0, [0.3, 0.1])];
        assert_eq!(kept(&members), [true, true]);
    }

    #[test]
    fn a_tie_stays() {
        let members = [candidate(1002.0, [0.0, 0.1]), candidate(1000.0, [0.3, 0.1])];
        assert_eq!(kept(&members), [true, true]);
    }

    #[test]
    fn a_small_class_does_not_decide() {
        let members = [candidate(1010.0, [0.3, 0.9]), candidate(1000.0, [0.3, 0.1])];
        assert_eq!(kept(&members), [true, true]);
    }
}
