//! Blocks being read: several numbers per row.

use arrow::buffer::ScalarBuffer;
use half::f16;

use crate::column::{BlockColumn, BlockValues, Column, UnsupportedColumn};

/// A block column being read; its width is that of the first row that is present.
pub(crate) struct BlockBuilder {
    values: Values,
    width: Option<usize>,
    rows: usize,
    /// Missing rows that came before the width was known.
    leading_missing: usize,
    /// Why the column cannot be a block, once that is so.
    fault: Option<String>,
}

enum Values {
    F32(Vec<f32>),
    F16(Vec<f16>),
    /// All rows so far, in memory that belongs to whoever made them.
    Shared(BlockValues),
}

impl BlockBuilder {
    /// A block of single precision, or of half precision as it is.
    pub(crate) fn new(is_half: bool) -> Self {
        let values = if is_half { Values::F16(Vec::new()) } else { Values::F32(Vec::new()) };
        Self { values, width: None, rows: 0, leading_missing: 0, fault: None }
    }

    /// Takes the first rows of a block as they are, without a copy; false if there are rows already.
    pub(crate) fn share(&mut self, width: usize, rows: usize, values: BlockValues) -> bool {
        if self.rows > 0 || rows == 0 || width == 0 {
            return false;
        }
        (self.width, self.rows, self.values) = (Some(width), rows, Values::Shared(values));
        true
    }

    /// Copies shared rows, so that more can follow.
    fn own(&mut self) {
        if let Values::Shared(shared) = &self.values {
            self.values = match shared {
                BlockValues::F32(values) => Values::F32(values.to_vec()),
                BlockValues::F16(values) => Values::F16(values.to_vec()),
            };
        }
    }

    /// Announces a row of this many numbers; false if the numbers are not wanted.
    fn start_row(&mut self, width: usize) -> bool {
        let row = self.rows;
        self.own();
        self.rows += 1;
        if self.fault.is_some() {
            return false;
        }
        let expected = *self.width.get_or_insert(width);
        if expected != width {
            let first = self.leading_missing;
            let fault = format!(
                "holds lists of different lengths ({expected} numbers in row {first}, {width} in row {row})"
            );
            self.give_up(fault);
            return false;
        }
        for _ in 0..std::mem::take(&mut self.leading_missing) {
            self.push_nothing(width);
        }
        true
    }

    fn push_nothing(&mut self, width: usize) {
        match &mut self.values {
            Values::F32(values) => values.extend(std::iter::repeat_n(f32::NAN, width)),
            Values::F16(values) => values.extend(std::iter::repeat_n(f16::NAN, width)),
            Values::Shared(_) => {}
        }
    }

    /// The column cannot be used; its numbers are dropped.
    pub(crate) fn give_up(&mut self, fault: String) {
        self.fault = Some(fault);
        self.values = Values::F32(Vec::new());
    }

    pub(crate) fn push_missing(&mut self) {
        self.own();
        self.rows += 1;
        match self.width {
            None => self.leading_missing += 1,
            Some(width) if self.fault.is_none() => self.push_nothing(width),
            Some(_) => {}
        }
    }

    pub(crate) fn push_f32(&mut self, width: usize, numbers: impl Iterator<Item = f32>) {
        if self.start_row(width) {
            match &mut self.values {
                Values::F32(values) => values.extend(numbers),
                Values::F16(values) => values.extend(numbers.map(f16::from_f32)),
                Values::Shared(_) => {}
            }
        }
    }

    pub(crate) fn push_f16(&mut self, numbers: &[f16]) {
        if self.start_row(numbers.len()) {
            match &mut self.values {
                Values::F32(values) => values.extend(numbers.iter().map(|number| number.to_f32())),
                Values::F16(values) => values.extend_from_slice(numbers),
                Values::Shared(_) => {}
            }
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match &self.values {
            Values::F32(values) => values.len() * 4,
            Values::F16(values) => values.len() * 2,
            // The memory is taken already.
            Values::Shared(_) => 0,
        }
    }

    pub(crate) fn finish(self) -> Column {
        let rows = self.rows;
        if let Some(reason) = self.fault {
            return Column::Unsupported(UnsupportedColumn { rows, reason });
        }
        match self.width {
            None => Column::Unsupported(UnsupportedColumn { rows, reason: "holds no values".to_owned() }),
            Some(0) => {
                Column::Unsupported(UnsupportedColumn { rows, reason: "holds empty lists".to_owned() })
            }
            Some(width) => {
                let values = match self.values {
                    Values::F32(values) => BlockValues::F32(ScalarBuffer::from(values)),
                    Values::F16(values) => BlockValues::F16(ScalarBuffer::from(values)),
                    Values::Shared(values) => values,
                };
                Column::Block(BlockColumn { width, values })
            }
        }
    }
}
