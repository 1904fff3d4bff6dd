//! JSON lines: one object per row; numbers that JSON cannot say (NaN, infinity) become null.

use std::io::{Result, Write};

use super::cells::{Cell, Cells};

pub(super) fn write(
    named: &[(String, Cells<'_>)],
    rows: usize,
    writer: &mut (impl Write + ?Sized),
) -> Result<()> {
    let keys: Vec<String> = named.iter().map(|(name, _)| json(name)).collect();
    let mut line = String::new();
    for row in 0..rows {
        line.clear();
        line.push('{');
        for (index, (key, (_, cells))) in keys.iter().zip(named).enumerate() {
            if index > 0 {
                line.push(',');
            }
            line.push_str(key);
            line.push(':');
            line.push_str(&match cells.get(row) {
                Cell::Missing => "null".to_owned(),
                Cell::Number(number) => json(&number),
                Cell::Single(number) => json(&number),
                Cell::Signed(number) => number.to_string(),
                Cell::Unsigned(number) => number.to_string(),
                Cell::Truth(truth) => truth.to_string(),
                Cell::Text(text) => json(&text),
                Cell::Made(text) => json(&text),
                Cell::Block(block) => {
                    json(&(0..block.width).map(|element| block.get(row, element)).collect::<Vec<f32>>())
                }
            });
        }
        line.push_str("}\n");
        writer.write_all(line.as_bytes())?;
    }
    writer.flush()
}

fn json(value: &impl serde::Serialize) -> String {
    // Strings, numbers and lists of numbers always have a JSON form.
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}
