//! What a classifier believes of its labels and classes while it is fitted. Left-out rows decide ([`super::search`]).

use super::labels::{LabelModel, TransitionPrior};

/// How training starts. It ends in one of several optima, and the start decides in which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Start {
    /// As the parameters say.
    Usual,
    /// From labels that are mostly right. Where half of the labels are taken for random at first, a pattern that is hard
    /// to learn may never show: what cannot be predicted yet is taken for noise, and noise teaches nothing.
    TrustedLabels,
    /// From errors that know no class. Where every class has errors of its own from the first step, what the network has not learned yet
    /// may be explained away as flips between two classes, and is then never learned.
    EvenErrors,
}

/// What the borders between classes are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Borders {
    /// Clean labels are nearly certain given the features.
    Sharp,
    /// Classes may overlap: no sharpness, unless its weight was given.
    Soft,
    /// Classes overlap, or labels were mistaken where classes are alike, and that is all: no errors that follow the classes either.
    Guessed,
}

/// What is believed of the labels and the classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Belief {
    pub(crate) start: Start,
    pub(crate) borders: Borders,
}

impl Belief {
    pub(crate) const USUAL: Self = Self::from(Start::Usual);

    /// What the members of a committee believe ([`super::committee`]): sharpness would hide how little they know.
    pub(crate) const COMMITTEE: Self = Self::softly(Start::TrustedLabels);

    /// Without a channel there is but one start.
    pub(crate) const GUESSED: Self = Self { start: Start::Usual, borders: Borders::Guessed };

    pub(crate) const fn from(start: Start) -> Self {
        Self { start, borders: Borders::Sharp }
    }

    pub(crate) const fn softly(start: Start) -> Self {
        Self { start, borders: Borders::Soft }
    }

    fn change(self, prior: &mut TransitionPrior) {
        match self.start {
            Start::Usual => {}
            Start::TrustedLabels => prior.initial_share = prior.initial_share.min(0.1),
            Start::EvenErrors => prior.starts_even = true,
        }
        if self.borders != Borders::Sharp && prior.sharpness.is_none() {
            prior.sharpness = Some(0.0);
            prior.borders_only = self.borders == Borders::Guessed;
        }
    }

    /// The label model under this belief.
    pub(crate) fn model(self, mut model: LabelModel) -> LabelModel {
        if let LabelModel::Transition(prior) = &mut model {
            self.change(prior);
        }
        model
    }
}
