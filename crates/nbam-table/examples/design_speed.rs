//! How fast a long Parquet file becomes a design: `cargo run --release --example design_speed -- [ROWS] [COLUMNS]`.
//!
//! The file is made in the system's temporary folder and removed at the end.

#![expect(clippy::print_stdout, reason = "the example prints what it measured")]

use std::time::Instant;

use nbam_table::{OutputColumn, OutputValues, Preparation, ReadOptions, Roles, Table, write_table};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let rows: usize = arguments.next().map_or(Ok(1_000_000), |text| text.parse())?;
    let columns: usize = arguments.next().map_or(Ok(64), |text| text.parse())?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("long.parquet");
    generate(&path, rows, columns)?;

    let start = Instant::now();
    let table = Table::read(&path, &ReadOptions::default())?;
    println!("read {rows} rows x {columns} columns: {:.2} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let (preparation, _) = Preparation::fit(&table, &Roles::default())?;
    println!("fit the preparation: {:.2} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let design = preparation.apply(&table)?;
    println!("make the design of {} columns: {:.2} s", design.columns, start.elapsed().as_secs_f64());
    Ok(())
}

fn generate(path: &std::path::Path, rows: usize, columns: usize) -> Result<(), nbam_table::Error> {
    let mut state = 1_u64;
    let mut random = || {
        // A linear congruential generator is random enough for a test of speed.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let made: Vec<OutputColumn> = (0..columns)
        .map(|column| {
            OutputColumn::new(format!("x{column}"), OutputValues::F64((0..rows).map(|_| random()).collect()))
        })
        .collect();
    write_table(&made, path)
}
