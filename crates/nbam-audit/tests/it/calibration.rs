//! Promises held against data whose truth is known. The margins allow for the chance in a simulation of this size.

use crate::support::{classification, digits, regression};
use nbam_audit::{FlagRule, Posterior, Scored, Targets, ValueTargets, decide};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Without the members' part, so that only the chance in the switches is under test.
fn without_members(scored: &Scored) -> Scored {
    let posterior = Posterior { member_means: Vec::new(), ..scored.posterior().clone() };
    Scored::new("label", posterior, scored.targets().clone()).unwrap()
}

#[test]
fn intervals_cover_the_truth_as_often_as_they_say() {
    let (mut rate, mut budget, audits) = (0, 0, 400);
    for seed in 0..audits {
        let cohort = classification(600, digits(4), &[0.05, 0.3], seed);
        let scored = without_members(&cohort.scored);
        let decisions = decide(&scored, FlagRule::at(0.05).unwrap());
        let wrong = cohort.is_wrong.iter().filter(|&&wrong| wrong).count() as f64;
        let share = wrong / 600.0;
        rate += usize::from((decisions.rate.estimate.low..=decisions.rate.estimate.high).contains(&share));
        let found = decisions.order[..150].iter().filter(|&&row| cohort.is_wrong[row]).count() as f64;
        let expected = decisions.budget.expected_found(150).found;
        budget += usize::from((expected.low..=expected.high).contains(&found));
    }
    // Four standard deviations of a share of 95 % among 400 are 0.044; counts are whole, which costs a little more.
    for (name, covered) in [("rate", rate), ("budget", budget)] {
        let share = covered as f64 / audits as f64;
        assert!((0.90..=0.995).contains(&share), "the {name} interval covers {share}");
    }
}

#[test]
fn the_members_part_covers_a_rate_that_scatters_with_the_members() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut draw = || 0.2 + 0.02 * (0..12).map(|_| random.random::<f64>() - 0.5).sum::<f64>();
    let (mut covered, trials) = (0, 500);
    for _ in 0..trials {
        let members: Vec<f64> = (0..12).map(|_| draw()).collect();
        let truth = draw();
        let mean = members.iter().sum::<f64>() / 12.0;
        // So many rows that the chance in the switches is negligible.
        let posterior = Posterior {
            contamination: vec![mean; 200_000],
            prior: vec![0.2; 200_000],
            log_clean: vec![0.0; 200_000],
            log_anomaly: vec![0.0; 200_000],
            member_means: members,
        };
        let values = vec![0.0; 200_000];
        let targets = ValueTargets {
            given: values.clone(),
            predicted: values.clone(),
            predicted_sd: values,
            error: None,
        };
        let scored = Scored::new("y", posterior, Targets::Regression(targets)).unwrap();
        let estimate = decide(&scored, FlagRule::at(0.05).unwrap()).rate.estimate;
        covered += usize::from((estimate.low..=estimate.high).contains(&truth));
    }
    let share = covered as f64 / f64::from(trials);
    // Twelve members know their spread only roughly: the normal quantile then covers 92.5 % rather than 95 %.
    assert!((0.88..=0.97).contains(&share), "covers {share}");
}

#[test]
fn the_realised_false_discovery_rate_keeps_the_promise() {
    for (name, cohort) in [
        ("classes", classification(40_000, digits(10), &[0.0, 0.4], 11)),
        ("values", regression(40_000, 0.1, 12)),
    ] {
        for fdr in [0.01, 0.05, 0.2] {
            let decisions = decide(&cohort.scored, FlagRule::at(fdr).unwrap());
            let flagged = decisions.flags.count as f64;
            let false_flags =
                decisions.flags.is_flagged.iter().zip(&cohort.is_wrong).filter(|(f, w)| **f && !**w);
            let realised = false_flags.count() as f64 / flagged;
            let margin = 4.0 * (fdr / flagged).sqrt();
            assert!((realised - decisions.flags.expected_fdr).abs() < margin, "{name} at {fdr}: {realised}");
            assert!(decisions.flags.expected_fdr <= fdr + 1e-9);
        }
    }
}

#[test]
fn transitions_find_the_planted_direction() {
    let cohort = classification(20_000, digits(5), &[0.0, 0.3, 0.0, 0.0, 0.0], 3);
    let decisions = decide(&cohort.scored, FlagRule::at(0.05).unwrap());
    let top = decisions.transitions.pairs[0];
    assert_eq!((top.from, top.to), (1, 2));
    let Targets::Classification(targets) = cohort.scored.targets() else { unreachable!("a classification") };
    let moved = (0..20_000).filter(|&row| {
        decisions.flags.is_flagged[row]
            && targets.suggested[row] == 1
            && targets.given[row] == 2
            && cohort.is_wrong[row]
    });
    let moved = moved.count() as f64;
    assert!((moved - top.expected).abs() < 4.0 * (top.rows as f64 - top.expected).max(1.0).sqrt() + 1.0);
}
