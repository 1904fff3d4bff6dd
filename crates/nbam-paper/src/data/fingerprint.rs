//! A name for the contents of arrays, so that results of changed data are never taken for those of the old.

use nbam_table::{BlockValues, Column};
use sha2::{Digest as _, Sha256};

/// Adds up the arrays of a data set.
#[derive(Default)]
pub(super) struct Fingerprint(Sha256);

impl Fingerprint {
    /// Adds a named array. Its numbers count as they were read: a half-precision array and the same numbers in
    /// single precision are different data.
    pub(super) fn add(&mut self, name: &str, column: &Column) {
        self.0.update(name.as_bytes());
        self.0.update((column.rows() as u64).to_le_bytes());
        match column {
            Column::Numeric(numbers) => self.add_all(&numbers.values, |value| value.to_le_bytes()),
            Column::Block(block) => match &block.values {
                BlockValues::F32(values) => self.add_all(values, |value| value.to_le_bytes()),
                BlockValues::F16(values) => self.add_all(values, |value| value.to_le_bytes()),
                _ => {}
            },
            // The reader of data sets refuses every other kind.
            _ => {}
        }
    }

    fn add_all<T: Copy, const N: usize>(&mut self, values: &[T], bytes: impl Fn(T) -> [u8; N]) {
        let mut buffer = Vec::with_capacity(4096 * N);
        for chunk in values.chunks(4096) {
            buffer.clear();
            chunk.iter().for_each(|&value| buffer.extend_from_slice(&bytes(value)));
            self.0.update(&buffer);
        }
    }

    /// Sixteen hexadecimal digits: enough to tell data sets apart.
    pub(super) fn finish(self) -> String {
        self.0.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}
