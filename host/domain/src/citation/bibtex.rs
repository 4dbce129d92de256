//! A citation for `BibTeX` and biblatex: `@misc`, which every style knows. Text is escaped for TeX,
//! and braces are written as commands, since `BibTeX` counts them even behind a backslash.

use std::fmt::Write as _;

use super::{Citation, one_line};

pub(super) fn render(citation: &Citation) -> String {
    let agency = escape(&citation.agency());
    let date = citation.date();
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next(), parts.next(), parts.next());
    let fields = [
        ("author", format!("{{{agency}}}")),
        ("title", format!("{{{}}}", escape(&citation.title()))),
        ("year", year.unwrap_or_default().to_owned()),
        ("month", month.unwrap_or_default().to_owned()),
        ("day", day.unwrap_or_default().to_owned()),
        ("publisher", agency),
        ("howpublished", "Data set".to_owned()),
        ("version", citation.snapshot_id.to_string()),
        // Verbatim: an address has none of the characters that end a field.
        ("url", one_line(&citation.url)),
        ("note", escape(&citation.notes().join(" "))),
    ];
    let mut text = format!("@misc{{{},\n", citation.key());
    for (name, value) in fields {
        let _ = writeln!(text, "  {name} = {{{value}}},");
    }
    text + "}\n"
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("{\\textbackslash}"),
            '{' => escaped.push_str("{\\textbraceleft}"),
            '}' => escaped.push_str("{\\textbraceright}"),
            '~' => escaped.push_str("{\\textasciitilde}"),
            '^' => escaped.push_str("{\\textasciicircum}"),
            '$' | '&' | '%' | '#' | '_' => {
                escaped.push('\\');
                escaped.push(c);
            }
            _ => escaped.push(c),
        }
    }
    escaped
}
