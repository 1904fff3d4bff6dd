//! What a fit tells its monitor, and what the monitor may tell it.

use std::sync::atomic::{AtomicUsize, Ordering};

use nbam::{Classifier, ErrorKind, Features, LabelledRows, MeasuredRows, Monitor, Progress, Regressor};

struct Impatient;

impl Monitor for Impatient {
    fn epoch(&self, _: Progress) {}

    fn is_cancelled(&self) -> bool {
        true
    }
}

#[test]
fn a_fit_can_be_cancelled() {
    let features: Vec<f32> = (0..40).map(|i| i as f32).collect();
    let x = Features::new(&features, 1).unwrap();
    let y: Vec<usize> = (0..40).map(|i| i % 2).collect();
    let rows = LabelledRows { features: x, labels: &y, weights: None, known: None };
    let cancelled = Classifier::params().check().unwrap().fit_rows(&rows, &Impatient);
    assert_eq!(cancelled.unwrap_err().kind(), ErrorKind::Cancelled);
    let y: Vec<f64> = (0..40).map(f64::from).collect();
    let rows = MeasuredRows { features: x, values: &y, errors: None, weights: None, known: None };
    let cancelled = Regressor::params().check().unwrap().fit_rows(&rows, &Impatient);
    assert_eq!(cancelled.unwrap_err().kind(), ErrorKind::Cancelled);
}

#[derive(Default)]
struct Count {
    epochs: AtomicUsize,
    trial_epochs: AtomicUsize,
}

impl Monitor for Count {
    fn epoch(&self, progress: Progress) {
        assert_eq!((progress.members, progress.epochs), (2, 3));
        self.epochs.fetch_add(1, Ordering::Relaxed);
    }

    fn trial_epoch(&self, _: Progress) {
        self.trial_epochs.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn trial_fits_are_told_from_the_members() {
    // So many that no committee is asked.
    let features: Vec<f32> = (0..1600).map(|i| i as f32).collect();
    let x = Features::new(&features, 1).unwrap();
    let y: Vec<usize> = (0..1600).map(|i| i / 800).collect();
    let rows = LabelledRows { features: x, labels: &y, weights: None, known: None };
    let params = Classifier::params().epochs(3).members(2);
    let count = |params: nbam::Params<nbam::Classification>| {
        let count = Count::default();
        params.check().unwrap().fit_rows(&rows, &count).unwrap();
        (count.epochs.into_inner(), count.trial_epochs.into_inner())
    };
    let (epochs, trial_epochs) = count(params.clone());
    assert_eq!(epochs, 6);
    assert!(trial_epochs >= 6 && trial_epochs % 3 == 0, "{trial_epochs}");
    assert_eq!(count(params.weight_prior(1.0)), (6, 0));
}
