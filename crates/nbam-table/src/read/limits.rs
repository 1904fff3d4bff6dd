//! Refusing what does not fit in memory, before it is read.

use crate::error::{Error, ErrorKind};
use crate::table::ReadOptions;

/// Share of the free memory that a table may take; the rest is for the design and the training.
const SHARE: f64 = 0.8;

/// The most bytes a table may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    bytes: u64,
}

impl Limit {
    pub(crate) fn new(options: &ReadOptions) -> Self {
        let bytes = options
            .memory_limit
            .unwrap_or_else(|| available_memory().map_or(u64::MAX, |bytes| (bytes as f64 * SHARE) as u64));
        Self { bytes }
    }

    /// Fails if a table of about this many bytes is too large.
    pub(crate) fn check(&self, source: &str, bytes: u64) -> Result<(), Error> {
        if bytes <= self.bytes {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Memory,
            format!(
                "{source}: the table would take about {} of memory, more than the {} that may be used",
                gigabytes(bytes),
                gigabytes(self.bytes)
            ),
        )
        .with_hint("read fewer columns or rows, or use a machine with more memory"))
    }
}

fn gigabytes(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// The memory that programs can still take, where the system says so.
fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
