//! How fast a wide numeric CSV file is read: `cargo run --release --example csv_speed -- [MEGABYTES] [COLUMNS]`.
//!
//! The file is made in the system's temporary folder and removed at the end.

#![expect(clippy::print_stdout, reason = "the example prints what it measured")]

use std::io::Write;
use std::time::Instant;

use nbam_table::{ReadOptions, Table};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let megabytes: usize = arguments.next().map_or(Ok(200), |text| text.parse())?;
    let columns: usize = arguments.next().map_or(Ok(500), |text| text.parse())?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("wide.csv");
    let size = generate(&path, megabytes << 20, columns)?;
    for round in 1..=3 {
        let start = Instant::now();
        let table = Table::read(&path, &ReadOptions::default())?;
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "round {round}: {} rows x {} columns, {:.0} MB in {seconds:.2} s = {:.0} MB/s on {} threads",
            table.rows(),
            table.names().len(),
            size as f64 / 1e6,
            size as f64 / 1e6 / seconds,
            rayon::current_num_threads(),
        );
    }
    Ok(())
}

/// Writes numbers as measurements are: a sign, a point, about nine digits.
fn generate(path: &std::path::Path, size: usize, columns: usize) -> std::io::Result<u64> {
    let mut file = std::io::BufWriter::with_capacity(1 << 20, std::fs::File::create(path)?);
    let names: Vec<String> = (0..columns).map(|column| format!("x{column}")).collect();
    writeln!(file, "{}", names.join(","))?;
    let mut state = 1_u64;
    let mut written = 0;
    let mut line = String::new();
    while written < size {
        line.clear();
        for column in 0..columns {
            // A linear congruential generator is random enough for digits.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = ((state >> 33) as f64 / f64::from(1_u32 << 30) - 1.0) * 10.0;
            line.push_str(if column == 0 { "" } else { "," });
            line.push_str(&format!("{value:.8}"));
        }
        line.push('\n');
        file.write_all(line.as_bytes())?;
        written += line.len();
    }
    file.flush()?;
    std::fs::metadata(path).map(|metadata| metadata.len())
}
