//! All figures on one page that needs nothing else.

use std::fmt::Write as _;

use nbam_audit::markup::escape;

use super::Figure;

const STYLE: &str = "body{font:16px/1.5 sans-serif;color:#222;max-width:980px;margin:2em auto;padding:0 1em}\
                     figure{margin:2.5em 0}svg{max-width:100%;height:auto}figcaption{color:#444;max-width:46em}";

pub(super) fn page(figures: &[Figure]) -> String {
    let mut body = String::new();
    for Figure { name, caption, svg } in figures {
        // Writing to a string does not fail.
        let _ = writeln!(
            body,
            "<figure id=\"{}\">\n{svg}<figcaption>{}</figcaption>\n</figure>",
            escape(name),
            escape(caption)
        );
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width\">\n<title>nbam: the paper's figures</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>The \
         paper's figures, from our runs</h1>\n<p>Drawn by <code>nbam paper figures</code> from the results file of <code>nbam paper \
         table</code>. nbam is the paper's method with its settings; default is our preset.</p>\n{body}</body>\n</html>\n"
    )
}
