//! The report in a real browser: Debian's chromium, headless. Set `NBAM_SCREENSHOTS` to a folder to get a picture of
//! every report in light, dark, on a phone and printed.

use std::path::Path;

use crate::support::browser::Browser;
use crate::support::{classification, digits, facts, regression, report, report_with_images};
use nbam_audit::RunFacts;
use serde_json::json;

/// Every kind of report that must hold up, by name.
fn reports() -> Vec<(&'static str, String)> {
    let long = vec![
        "pneumonia, organism unspecified, with acute respiratory failure and hypoxia (J18.9, J96.01), first encounter"
            .to_owned(),
        "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft".to_owned(),
        "非常に長い分類名がここにあります、そして続きます".to_owned(),
        "مرحبا بالعالم".to_owned(),
        "<script>alert(\"x\")</script> & 'quotes'".to_owned(),
        "👩‍👩‍👧‍👦 family".to_owned(),
    ];
    let cars = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"];
    let render = |cohort, source, facts| report(&cohort, source, facts).2;
    vec![
        (
            "two",
            render(
                classification(569, vec!["benign".into(), "malignant".into()], &[0.2], 1),
                "breast.csv",
                facts(),
            ),
        ),
        ("ten", render(classification(1797, digits(10), &[0.2], 2), "digits.csv", facts())),
        (
            "words",
            render(
                classification(4500, cars.map(String::from).to_vec(), &[0.0, 0.4, 0.1], 3),
                "cifar.parquet",
                facts(),
            ),
        ),
        (
            "hundred",
            render(
                classification(20_000, (0..100).map(|k| format!("species {k}")).collect(), &[0.05, 0.3], 4),
                "species.parquet",
                RunFacts { features: 512, ..RunFacts::default() },
            ),
        ),
        (
            "long",
            render(
                classification(900, long, &[0.25], 5),
                "a very long file name with blanks & <signs> that goes on and on, 2026-11-15, final version (2).csv",
                facts(),
            ),
        ),
        ("regression", render(regression(2000, 0.15, 6), "prices.csv", facts())),
        ("clean", render(classification(1000, digits(10), &[0.000_02], 7), "clean.csv", RunFacts::default())),
        (
            "million",
            render(
                classification(1_000_000, digits(10), &[0.02], 8),
                "million.parquet",
                RunFacts { features: 64, ..RunFacts::default() },
            ),
        ),
    ]
}

#[test]
fn reports_open_without_a_console_message_and_fit_a_phone() {
    let folder = tempfile::tempdir().unwrap();
    let pictures = std::env::var_os("NBAM_SCREENSHOTS");
    let browser = Browser::start();
    for (name, html) in reports() {
        assert!(html.len() < 5_000_000, "{name} takes {} bytes", html.len());
        let file = folder.path().join(format!("{name}.html"));
        std::fs::write(&file, html).unwrap();
        browser.show(1280, "light", "screen");
        browser.open(&file);
        assert_eq!(browser.console(), Vec::<String>::new(), "{name} logs to the console");
        assert_eq!(browser.run("return performance.getEntriesByType('resource').length"), json!(0));
        assert_ne!(browser.run("return document.querySelectorAll('tr.row').length"), json!(0));
        browser.click("tr.row .open");
        assert_eq!(browser.run("return document.querySelectorAll('.evidence tr').length"), json!(4));
        if let Some(pictures) = &pictures {
            take_pictures(&browser, Path::new(pictures), name, &file);
        }
        browser.show(375, "light", "screen");
        let widths = browser.run("return [document.documentElement.scrollWidth, innerWidth]");
        assert_eq!(widths[0], widths[1], "{name} is wider than a phone");
        let table = browser.run(
            "const [table, box] = ['#table', '.scroll'].map(name => document.querySelector(name).getBoundingClientRect());
             return [table.right <= box.right, document.querySelector('tr.row').cells[3].clientWidth || 99]",
        );
        assert_eq!(table[0], json!(true), "the table of {name} is wider than a phone");
        assert!(table[1].as_f64().unwrap() > 60.0, "the columns of {name} are squeezed: {table}");
        assert_eq!(browser.console(), Vec::<String>::new(), "{name} logs to the console");
    }
}

fn take_pictures(browser: &Browser, folder: &Path, name: &str, html: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::copy(html, folder.join(format!("{name}.html"))).unwrap();
    let looks = [
        (1280, "light", "screen"),
        (1280, "dark", "screen"),
        (375, "light", "screen"),
        (375, "dark", "screen"),
    ];
    for (width, scheme, medium) in looks {
        browser.show(width, scheme, medium);
        browser.screenshot(&folder.join(format!("{name}-{width}-{scheme}.png")));
    }
    browser.show(1280, "light", "");
    browser.print(&folder.join(format!("{name}.pdf")));
}

fn open_digits(browser: &Browser, folder: &Path) {
    let (_, _, html) = report(&classification(1797, digits(10), &[0.2], 2), "digits.csv", facts());
    let file = folder.join("digits.html");
    std::fs::write(&file, html).unwrap();
    browser.show(1280, "light", "screen");
    browser.open(&file);
}

/// The texts of a column of the table, from the top.
fn column(browser: &Browser, key: &str) -> Vec<String> {
    let script = format!(
        "const at = [...document.querySelectorAll('#table thead th')].findIndex(cell => cell.dataset.key === '{key}');
         return [...document.querySelectorAll('tr.row')].map(row => row.cells[at].textContent)"
    );
    serde_json::from_value(browser.run(&script)).unwrap()
}

#[test]
fn the_table_sorts_by_each_column_both_ways() {
    let folder = tempfile::tempdir().unwrap();
    let browser = Browser::start();
    open_digits(&browser, folder.path());
    let keys: Vec<String> = serde_json::from_value(
        browser.run("return [...document.querySelectorAll('#table thead th')].map(cell => cell.dataset.key)"),
    )
    .unwrap();
    assert_eq!(keys, ["row", "id", "given", "suggested", "strength", "contamination", "flagged"]);
    let state =
        |key: &str| browser.run(&format!("return document.querySelector('th[data-key={key}]').ariaSort"));
    assert_eq!(state("contamination"), json!("descending"));
    browser.click("th[data-key=row] button");
    assert_eq!((state("row"), state("contamination")), (json!("ascending"), json!(null)));
    let rows: Vec<usize> = column(&browser, "row").iter().map(|row| row.parse().unwrap()).collect();
    assert!(rows.len() == 25 && rows.is_sorted());
    browser.click("th[data-key=row] button");
    assert_eq!(state("row"), json!("descending"));
    let rows: Vec<usize> = column(&browser, "row").iter().map(|row| row.parse().unwrap()).collect();
    assert!(rows.is_sorted_by(|a, b| a > b));
    for key in ["given", "suggested", "id"] {
        browser.click(&format!("th[data-key={key}] button"));
        assert!(column(&browser, key).is_sorted(), "{key} rises");
        browser.click(&format!("th[data-key={key}] button"));
        assert!(column(&browser, key).is_sorted_by(|a, b| a >= b), "{key} falls");
    }
    browser.click("#more");
    assert_eq!(column(&browser, "row").len(), 50);
    assert_eq!(browser.console(), Vec::<String>::new());
}

#[test]
fn the_table_filters_and_searches() {
    let folder = tempfile::tempdir().unwrap();
    let browser = Browser::start();
    open_digits(&browser, folder.path());
    let choose = |id: &str, value: &str| {
        browser.run(&format!(
            "const box = document.getElementById('{id}'); box.value = '{value}';
             box.dispatchEvent(new Event('input', {{bubbles: true}}))"
        ))
    };
    choose("filter-given", "4");
    let given = column(&browser, "given");
    assert!(!given.is_empty() && given.iter().all(|label| label == "4"));
    choose("filter-suggested", "3");
    let pairs: Vec<_> = column(&browser, "given").into_iter().zip(column(&browser, "suggested")).collect();
    assert!(!pairs.is_empty() && pairs.iter().all(|pair| (pair.0.as_str(), pair.1.as_str()) == ("4", "3")));
    choose("filter-given", "");
    choose("filter-suggested", "");
    let wanted = column(&browser, "id")[7].clone();
    browser.type_into("#search", &wanted.to_uppercase());
    assert!(column(&browser, "id").contains(&wanted));
    assert!(
        browser
            .run("return document.getElementById('status').textContent")
            .as_str()
            .unwrap()
            .contains("matching")
    );
    browser.type_into("#search", " no such row");
    assert_eq!(column(&browser, "row").len(), 0);
    assert_eq!(
        browser.run("return document.getElementById('status').textContent"),
        json!("No listed row matches.")
    );
    browser.run(
        "document.getElementById('search').value = ''; document.getElementById('filter-flagged').click()",
    );
    assert!(column(&browser, "flagged").iter().all(|flag| flag == "flagged"));
    assert_eq!(browser.console(), Vec::<String>::new());
}

#[test]
fn a_row_opens_by_keyboard_and_shows_evidence_and_values() {
    let folder = tempfile::tempdir().unwrap();
    let browser = Browser::start();
    open_digits(&browser, folder.path());
    let is_open = || browser.run("return document.querySelector('tr.row .open').ariaExpanded");
    assert_eq!(is_open(), json!("false"));
    browser.type_into("tr.row .open", "\u{e007}");
    assert_eq!(is_open(), json!("true"));
    let words = browser.run("return document.querySelector('tr.detail p').textContent");
    assert!(words.as_str().unwrap().starts_with("The label says"), "{words}");
    assert_eq!(browser.run("return document.querySelectorAll('.values dt').length"), json!(12));
    let sums = browser.run(
        "const numbers = [...document.querySelectorAll('.evidence td.number')].map(cell => Number(cell.textContent.replace('−', '-')));
         return Math.abs(numbers[0] + numbers[1] + numbers[2] - numbers[3])",
    );
    assert!(sums.as_f64().unwrap() < 0.21, "the bars add up to within rounding: {sums}");
    browser.type_into("tr.row .open", "\u{e007}");
    assert_eq!(is_open(), json!("false"));
    assert_eq!(browser.run("return document.querySelectorAll('tr.detail').length"), json!(0));
    assert_eq!(browser.console(), Vec::<String>::new());
}

#[test]
fn the_budget_input_answers_like_the_decisions() {
    let folder = tempfile::tempdir().unwrap();
    let cohort = classification(1797, digits(10), &[0.2], 2);
    let (decisions, _, html) = report(&cohort, "digits.csv", facts());
    let file = folder.path().join("digits.html");
    std::fs::write(&file, html).unwrap();
    let browser = Browser::start();
    browser.open(&file);
    let answer = || browser.run("return document.getElementById('budget-answer').textContent").to_string();
    for budget in [1, 37, 200, 333, 1000, 1797] {
        browser.run("document.getElementById('budget-input').value = ''");
        browser.type_into("#budget-input", &budget.to_string());
        let mean = decisions.budget.expected_found(budget).found.mean.round();
        let said: f64 = answer().split("about ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!((said - mean).abs() <= 1.0, "{budget}: said {said}, is {mean}");
    }
    browser.run("document.getElementById('budget-input').value = ''");
    browser.type_into("#budget-input", "999999999");
    assert!(answer().contains("100"), "{}", answer());
    browser.run("document.getElementById('budget-input').value = ''");
    browser.type_into("#budget-input", "-");
    assert!(answer().contains("Enter a number"));
    browser.click("[data-budget='200']");
    assert!(answer().contains("about 200 "), "{}", answer());
    let place =
        browser.run("return Number(document.querySelector('#budget-marker circle').getAttribute('cx'))");
    assert!(place.as_f64().unwrap() > 70.0);
    assert_eq!(browser.console(), Vec::<String>::new());
}

#[test]
fn images_are_shown_or_their_absence_is_explained() {
    /// One white pixel.
    const PIXEL: &[u8] =
        b"GIF89a\x01\0\x01\0\x80\0\0\xff\xff\xff\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pixel.gif"), PIXEL).unwrap();
    let cohort = classification(1797, digits(10), &[0.2], 2);
    let top = report(&cohort, "digits.csv", facts()).0.order[0];
    let image = |row| Some(if row == top { "missing.png".to_owned() } else { "pixel.gif".to_owned() });
    let (_, _, html) = report_with_images(&cohort, "digits.csv", facts(), Some(folder.path()), image);
    let file = folder.path().join("images.html");
    std::fs::write(&file, html).unwrap();
    let browser = Browser::start();
    browser.open(&file);
    browser.click("tr.row .open");
    let note = browser.run("return document.querySelector('tr.detail p').textContent");
    assert_eq!(note, json!("Image missing.png: the file was not found."));
    let widths = browser.run(
        "const images = [...document.querySelectorAll('img.thumb')];
         return Promise.all(images.map(image => image.decode())).then(() => images.map(image => image.naturalWidth))",
    );
    assert_eq!(widths, json!(vec![1; 24]));
    assert_eq!(browser.console(), Vec::<String>::new());
}
