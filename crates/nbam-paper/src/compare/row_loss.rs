//! What a method is to a network: a loss of one row's logits, with its gradient.

/// One row as a loss sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    /// Which training row it is, for losses that remember something of each.
    pub(super) index: usize,
    /// The class that it was given.
    pub(super) label: usize,
    /// `log p(k|x)`, the logarithm of the softmax of the logits.
    pub(super) log_p: &'a [f64],
    /// `p(k|x)`.
    pub(super) p: &'a [f64],
}

impl Row<'_> {
    /// The cross-entropy `l = -log p(y|x)`.
    pub(super) fn cross_entropy(&self) -> f64 {
        -self.log_p[self.label]
    }

    /// The cross-entropy's gradient by logit `class`: `p_k - [k = y]`.
    pub(super) fn cross_entropy_slope(&self, class: usize) -> f64 {
        self.p[class] - self.is_label(class)
    }

    /// The reverse cross-entropy `-sum_k p_k log [k = y]`, with `log 0` taken for `log_zero`.
    pub(super) fn reverse_cross_entropy(&self, log_zero: f64) -> f64 {
        -log_zero * (1.0 - self.p[self.label])
    }

    /// Its gradient by logit `class`: `log_zero p_y ([k = y] - p_k)`.
    pub(super) fn reverse_cross_entropy_slope(&self, class: usize, log_zero: f64) -> f64 {
        log_zero * self.p[self.label] * (self.is_label(class) - self.p[class])
    }

    /// `[k = y]`.
    pub(super) fn is_label(&self, class: usize) -> f64 {
        f64::from(u8::from(class == self.label))
    }
}

/// A loss of each row. It may remember rows (`&mut self`): a network is trained on one thread.
pub(super) trait RowLoss {
    /// The row's loss; writes its gradient by the logits into `gradient`.
    fn row(&mut self, row: &Row<'_>, gradient: &mut [f64]) -> f64;
}
