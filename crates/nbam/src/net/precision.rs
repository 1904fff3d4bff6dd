//! In which precision matrix products are computed.

use serde::{Deserialize, Serialize};

/// The precision of a network's matrix products. Everything else, the sums and the weights among it, is in single precision or better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Single precision: 24 significant bits.
    #[default]
    Single,
    /// Operands are rounded to bfloat16, of 8 significant bits, and products are summed in single precision: about one and a half times as fast where the processor
    /// multiplies such numbers (AVX-512 with its BF16 extension), and the same as [`Self::Single`] where it does not.
    Bfloat16,
}

impl Precision {
    /// Whether this is [`Self::Single`].
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
    pub(crate) fn is_single(&self) -> bool {
        *self == Self::Single
    }

    /// What this processor makes of it.
    #[must_use]
    pub fn here(self) -> Self {
        #[cfg(target_arch = "x86_64")]
        if super::tiles::has_bfloat16() {
            return self;
        }
        Self::Single
    }
}
