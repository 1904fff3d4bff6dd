//! The preparation: what the design holds, and what new rows may not do.

mod common;

use common::{Folder, said};
use nbam_table::{
    Conflicts, Design, DesignValues, ErrorKind, Preparation, ReadOptions, Roles, Table, Target, Task,
    conflicting_duplicates,
};

fn fit(table: &Table) -> (Preparation, Vec<String>) {
    let (preparation, notes) = Preparation::fit(table, &Roles::default()).expect("a good table");
    (preparation, notes.into_iter().map(|note| format!("{}: {}", note.code, note.message)).collect())
}

fn column(design: &Design, name: &str) -> Vec<f32> {
    let index = design.names.iter().position(|candidate| candidate == name).expect("a design column");
    let values = design.as_f32().expect("single precision");
    (0..design.rows).map(|row| values[row * design.columns + index]).collect()
}

#[test]
fn numbers_are_centred_scaled_and_filled() {
    let folder = Folder::new();
    let table = folder.table("a.csv", "x,y\n1,10\n2,20\n,30\n9,40\n");
    let (preparation, notes) = fit(&table);
    let design = preparation.apply(&table).expect("a design");
    assert_eq!(design.names, ["x", "x is missing", "y"]);
    // mean 4, squared deviations 9 + 4 + 25 over three rows, median 2
    let deviation = (38.0_f64 / 3.0).sqrt();
    let expected = [1.0, 2.0, 2.0, 9.0].map(|value| ((value - 4.0) / deviation) as f32);
    assert_eq!(column(&design, "x"), expected);
    assert_eq!(column(&design, "x is missing"), [0.0, 0.0, 1.0, 0.0]);
    assert_eq!(design.scale_groups, [0, 1, 2]);
    assert_eq!(
        notes,
        [
            "missing_values: Column 'x' has 1 missing value in 4 rows; they were filled with the median, and a \
          column says where."
        ]
    );
    assert_eq!(preparation.describe(&table, 2), [("x".into(), "missing".into()), ("y".into(), "30".into())]);
}

/// Single precision alone would make all these equal.
#[test]
fn large_offsets_keep_their_digits() {
    let folder = Folder::new();
    let content: String = (0..8).map(|row| format!("{}\n", 1_700_000_000 + row)).collect();
    let table = folder.table("a.csv", format!("t\n{content}"));
    let design = fit(&table).0.apply(&table).expect("a design");
    let values = column(&design, "t");
    let step = values[1] - values[0];
    assert!(
        step > 0.4 && values.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() < 1e-6),
        "{values:?}"
    );
}

#[test]
fn categories_truths_and_dates() {
    let folder = Folder::new();
    let mut content = String::from("colour,flag,day\n");
    for row in 0..30 {
        let colour = ["red", "blue", "red", "", "blue"][row % 5];
        let colour = if row == 7 { "mauve" } else { colour };
        content.push_str(&format!("{colour},{},2020-01-{:02}\n", row % 2 == 0, row % 9 + 1));
    }
    let table = folder.table("a.csv", content);
    let (preparation, notes) = fit(&table);
    let design = preparation.apply(&table).expect("a design");
    assert_eq!(
        design.names,
        ["colour=blue", "colour=red", "colour is rare", "colour is missing", "flag", "day"]
    );
    let hot = |row: usize| &design.as_f32().expect("numbers")[row * 6..row * 6 + 5];
    assert_eq!(hot(0), [0.0, 1.0, 0.0, 0.0, 1.0]);
    assert_eq!(hot(1), [1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(hot(3), [0.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(hot(7), [0.0, 0.0, 1.0, 0.0, 0.0]);
    assert!(notes[0].starts_with("pooled_categories: Column 'colour': 1 category with fewer than 5 rows"));
    assert_eq!(preparation.text_features(), ["colour"]);

    let json = serde_json::to_string(&preparation).expect("JSON");
    let back: Preparation = serde_json::from_str(&json).expect("the same");
    assert_eq!(back, preparation);
    assert!(json.contains(
        r#""encoding":{"kind":"category","levels":["blue","red"],"pooled":["mauve"],"missing":true}"#
    ));
}

#[test]
fn a_damaged_preparation_is_refused() {
    let folder = Folder::new();
    let (preparation, _) = fit(&folder.table("a.csv", "x,y\n1,2\n3,5\n"));
    let good = serde_json::to_string(&preparation).expect("JSON");
    assert!(serde_json::from_str::<Preparation>(&good).is_ok());
    for (from, to, complaint) in [
        ("\"scale\":1.0", "\"scale\":0.0", "the preparation of the feature 'x' is damaged"),
        ("\"name\":\"y\"", "\"name\":\"x\"", "the feature 'x' occurs twice"),
        ("\"unit\":\"number\"", "\"unit\":\"furlong\"", "unknown variant `furlong`"),
        ("\"fill\"", "\"filling\"", "unknown field `filling`"),
    ] {
        assert!(good.contains(from), "{good}");
        let error = serde_json::from_str::<Preparation>(&good.replacen(from, to, 1)).expect_err("damage");
        assert!(error.to_string().starts_with(complaint), "{error}");
    }
    let error = serde_json::from_str::<Preparation>("{\"features\":[]}").expect_err("nothing");
    assert!(error.to_string().starts_with("the preparation has no features"), "{error}");
}

#[test]
fn new_dates_and_far_numbers() {
    let folder = Folder::new();
    let (preparation, _) = fit(&folder.table("a.csv", "d,x\n2020-01-01,1\n2020-01-05,2\n"));
    let refused = |content: &str| {
        folder.words(&preparation.apply(&folder.table("n.csv", content)).expect_err("bad rows")).0
    };
    assert_eq!(
        refused("d,x\n2020-01-01,1\n2020-13-01,1\n"),
        "n.csv: row 1 (line 3), column 'd': '2020-13-01' is not a date, as the model was trained with"
    );
    assert_eq!(
        refused("d,x\n2020-01-01,1e300\n"),
        "n.csv: row 0 (line 2), column 'x': '1e300' is too far from the training rows' values"
    );
}

#[test]
fn columns_that_say_nothing_are_left_out() {
    let folder = Folder::new();
    let table = folder.table("a.csv", "one,word,none,x,flag\n1,a,,1,true\n1,a,,2,true\n1,a,,3,true\n");
    let (preparation, notes) = fit(&table);
    assert_eq!(preparation.feature_names().collect::<Vec<_>>(), ["x"]);
    assert_eq!(
        notes,
        [
            "constant_column: Column 'one' has the same value in every row and was left out.",
            "constant_column: Column 'word' has the same value in every row and was left out.",
            "empty_column: Column 'none' has no values and was left out.",
            "constant_column: Column 'flag' has the same value in every row and was left out."
        ]
    );
    let table = folder.table("b.csv", "one\n1\n1\n");
    let error = Preparation::fit(&table, &Roles::default()).expect_err("nothing left");
    assert_eq!(
        folder.words(&error),
        said("b.csv: every feature is constant or empty", "give columns that differ between rows")
    );
}

#[test]
fn features_that_cannot_be_used() {
    let folder = Folder::new();
    let refused = |name: &str, content: &str| {
        let table = folder.table(name, content);
        folder.words(&Preparation::fit(&table, &Roles::default()).expect_err("a bad feature"))
    };
    let texts: String =
        (0..60).map(|row| format!("{row},a long remark, number {row}\n").replacen(", n", " n", 1)).collect();
    assert_eq!(
        refused("t.csv", &format!("x,remark\n{texts}")),
        said(
            "t.csv: column 'remark' has 60 distinct texts in 60 rows (for example 'a long remark number 0'), \
             too many to be categories",
            "exclude it, or give it as --id if it names the rows"
        )
    );
    let number_hint = "correct the value, leave it empty if it is unknown, or exclude the column";
    let numbers: String =
        (0..200).map(|row| if row == 150 { "12o\n".to_owned() } else { format!("{row}.25\n") }).collect();
    assert_eq!(
        refused("n.csv", &format!("x\n{numbers}")),
        said(
            "n.csv: row 150 (line 152), column 'x': '12o' is not a number, as the other values are",
            number_hint
        )
    );
    let questions: String =
        (0..60).map(|row| if row % 10 == 9 { "?\n".to_owned() } else { format!("{row}.25\n") }).collect();
    assert_eq!(
        refused("q.csv", &format!("x\n{questions}")),
        said("q.csv: row 9 (line 11), column 'x': '?' is not a number, as the other values are", number_hint)
    );
    assert_eq!(
        refused("i.csv", "x\n1\ninf\n2\n"),
        said(
            "i.csv: row 1 (line 3), column 'x': the value is infinite (inf)",
            "correct the value or leave it empty"
        )
    );
    assert_eq!(
        refused("o.jsonl", "{\"o\": {\"a\": 1}}\n"),
        said("o.jsonl: column 'o' holds nested objects, which cannot be a feature", "exclude it")
    );
    assert_eq!(
        refused("v.jsonl", "{\"v\": [1, 2]}\n{\"v\": [1, null]}\n"),
        said(
            "v.jsonl: row 1 (line 2), column 'v': element 1 is NaN, not a finite number of single precision",
            "correct the value or leave the row out"
        )
    );
    assert_eq!(
        refused("m.jsonl", "{\"v\": [1, 2]}\n{\"v\": null}\n").0,
        "m.jsonl: row 1 (line 2), column 'v': the block of numbers is missing"
    );
}

#[test]
fn one_block_is_handed_over() {
    let folder = Folder::new();
    let table = folder.table("v.jsonl", "{\"v\": [1, 2]}\n{\"v\": [3, 4]}\n");
    let (preparation, _) = fit(&table);
    let design = preparation.apply(&table).expect("a design");
    assert_eq!((design.rows, design.columns), (2, 2));
    assert_eq!((design.names, design.scale_groups), (vec!["v[0]".into(), "v[1]".into()], vec![0, 0]));
    let Some(nbam_table::Column::Block(block)) = table.column("v") else { panic!("a block") };
    let (DesignValues::F32(given), nbam_table::BlockValues::F32(held)) = (&design.values, &block.values)
    else {
        panic!("single precision")
    };
    assert!(given.inner().as_ptr() == held.inner().as_ptr(), "the numbers must not be copied");
    assert_eq!(preparation.describe(&table, 0), [("v".into(), "2 numbers".into())]);
}

#[test]
fn blocks_beside_other_columns() {
    let folder = Folder::new();
    let table = folder.table(
        "v.jsonl",
        "{\"a\": 1, \"v\": [1, 2], \"b\": true}\n{\"a\": 3, \"v\": [3, 4], \"b\": false}\n",
    );
    let design = fit(&table).0.apply(&table).expect("a design");
    assert_eq!(design.as_f32().expect("numbers"), [-1.0, 1.0, 2.0, 1.0, 1.0, 3.0, 4.0, 0.0]);
    assert_eq!(design.scale_groups, [0, 1, 1, 2]);
}

#[test]
fn new_rows() {
    let folder = Folder::new();
    let mut content = String::from("x,colour,flag\n");
    for row in 0..20 {
        content.push_str(&format!("{row},{},{}\n", ["7", "b"][row % 2], row % 3 == 0));
    }
    let (preparation, _) = fit(&folder.table("train.csv", content));
    let options = ReadOptions { text: preparation.text_features(), ..ReadOptions::default() };
    let apply =
        |content: &str| preparation.apply(&folder.read("new.csv", content, &options).expect("a table"));
    let refused = |content: &str| {
        let error = apply(content).expect_err("bad rows");
        (error.kind(), folder.words(&error))
    };
    let design = apply("flag,x,colour\ntrue,0,7\nfalse,,b\n").expect("a design");
    assert_eq!(column(&design, "colour=7"), [1.0, 0.0]);
    assert_eq!(column(&design, "x")[1], 0.0, "the median is the mean here");
    assert_eq!(
        design.notes[0].message,
        "Column 'x' has 1 missing value in the new rows, but had none in training; the training rows' median \
         was used."
    );
    // Numbers for categories, as they come from a reader that was not told.
    let untold = folder.table("untold.csv", "flag,x,colour\n1,0,7\n0,1,7\n");
    assert_eq!(column(&preparation.apply(&untold).expect("a design"), "colour=7"), [1.0, 1.0]);

    assert_eq!(
        refused("x,colour\n1,b\n"),
        (
            ErrorKind::UnknownColumn,
            said(
                "new.csv: there is no column named 'flag'",
                "the model was trained with this feature; add the column to the new rows"
            )
        )
    );
    assert_eq!(
        refused("x,colour,flag\n1,b,true\n1,green,true\n"),
        (
            ErrorKind::UnseenCategory,
            said(
                "new.csv: row 1 (line 3), column 'colour': the category 'green' did not occur in the training \
                 rows",
                "use one of '7', 'b', leave the row out, or train again with such rows"
            )
        )
    );
    assert_eq!(
        refused("x,colour,flag\n1,,true\n").1.0,
        "new.csv: row 0 (line 2), column 'colour': the category is missing, which never happened in the \
         training rows"
    );
    assert_eq!(
        refused("x,colour,flag\nten,b,true\n").1.0,
        "new.csv: row 0 (line 2), column 'x': 'ten' is not a number, as the model was trained with"
    );
    assert_eq!(
        refused("x,colour,flag\n1,b,2\n").1.0,
        "new.csv: row 0 (line 2), column 'flag': '2' is neither true nor false"
    );
    assert_eq!(
        refused("x,colour,flag\n2020-01-01,b,true\n").1.0,
        "new.csv: column 'x' holds dates, but the model was trained with numbers"
    );
}

#[test]
fn blocks_of_another_width() {
    let folder = Folder::new();
    let (preparation, _) = fit(&folder.table("v.jsonl", "{\"v\": [1, 2]}\n{\"v\": [3, 4]}\n"));
    let error = preparation.apply(&folder.table("n.jsonl", "{\"v\": [1, 2, 3]}\n")).expect_err("too wide");
    assert_eq!(
        folder.words(&error),
        said(
            "n.jsonl: column 'v' has 3 numbers per row, but the model was trained with 2",
            "make the new rows as the training rows were made"
        )
    );
}

#[test]
fn the_same_features_with_different_targets() {
    let folder = Folder::new();
    let table = folder.table("d.csv", "x,z,y\n1,1,a\n1,1,b\n1,1,a\n2,1,a\n2,1,a\n1,2,b\n");
    let roles = Roles { target: Some("y".into()), ..Roles::default() };
    let (preparation, _) = Preparation::fit(&table, &roles).expect("a good table");
    let (target, _) = Target::extract(&table, "y", Task::Auto).expect("a good target");
    let design = preparation.apply(&table).expect("a design");
    assert_eq!(conflicting_duplicates(&design, &target), Conflicts { groups: 1, rows: 3 });
}

/// Numbers that another program holds in memory reach the design where they are.
#[test]
fn a_block_from_memory_is_not_copied() {
    use arrow::array::{Array as _, FixedSizeListArray, Float32Array, Int64Array, RecordBatch};
    use arrow::datatypes::{DataType, Field, Schema};
    use std::sync::Arc;

    let numbers = Arc::new(Float32Array::from(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]));
    let element = Arc::new(Field::new("element", DataType::Float32, true));
    let lists = FixedSizeListArray::new(element, 2, numbers.clone(), None);
    let fields =
        vec![Field::new("v", lists.data_type().clone(), true), Field::new("y", DataType::Int64, true)];
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(
        schema.clone(),
        vec![Arc::new(lists), Arc::new(Int64Array::from(vec![0, 1, 0, 1]))],
    )
    .expect("a batch");
    let read = |batches: Vec<RecordBatch>| {
        let table = Table::from_arrow_batches(
            "memory",
            &schema,
            batches.into_iter().map(Ok),
            &ReadOptions::default(),
        )
        .expect("a table");
        let roles = Roles { target: Some("y".into()), ..Roles::default() };
        let (preparation, _) = Preparation::fit(&table, &roles).expect("a preparation");
        preparation.apply(&table).expect("a design")
    };
    let whole = read(vec![batch.clone()]);
    assert_eq!(whole.as_f32().expect("numbers").as_ptr(), numbers.values().as_ptr());
    // A slice is used where it is as well, and several batches become one block.
    let slice = read(vec![batch.slice(1, 2)]);
    assert_eq!(slice.as_f32().expect("numbers"), [3.0, 4.0, 5.0, 6.0]);
    let pieces = read(vec![batch.slice(0, 1), batch.slice(1, 3)]);
    assert_eq!(pieces.as_f32().expect("numbers"), whole.as_f32().expect("numbers"));
}
