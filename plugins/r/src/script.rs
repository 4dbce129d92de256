//! read_statistics.R. The program is written as R in `read_statistics.R`, with the table of
//! datasets put in. Owns text literals of R.

use std::fmt::Write;

use yearbook_sdk::generator::{ColumnType, Dataset, Request};

const PROGRAM: &str = include_str!("read_statistics.R");

/// The program.
pub(crate) fn script(request: &Request) -> String {
    let entries: Vec<String> =
        request.datasets.iter().map(|dataset| entry(dataset, request)).collect();
    // What free text says comes last: nothing is put into it.
    PROGRAM.replacen("\"http://localhost:8080\"", &literal(&request.base_url), 1).replacen(
        "datasets <- list()\n",
        &format!("datasets <- list(\n{}\n)\n", entries.join(",\n")),
        1,
    )
}

fn entry(dataset: &Dataset, request: &Request) -> String {
    let columns: Vec<String> = dataset
        .columns
        .iter()
        .map(|column| {
            let kind = match column.column_type {
                ColumnType::Text => "text",
                ColumnType::Integer => "integer",
                ColumnType::Number => "number",
                ColumnType::Boolean => "boolean",
                ColumnType::Date => "date",
            };
            format!("      {} = \"{kind}\"", literal(&column.name))
        })
        .collect();
    format!(
        "  {name} = list(\n    title = {title},\n    attribution = {attribution},\n    licence = {licence},\n    source = {source},\n    \
         source_url = {url},\n    primary_key = {key},\n    rows = {rows},\n    columns = c(\n{columns}\n    )\n  )",
        name = literal(&dataset.name),
        title = literal(&dataset.label()),
        attribution = literal(&dataset.attribution),
        licence = literal(&dataset.licence),
        source = literal(&dataset.source),
        url = dataset.source_url.as_deref().map_or_else(|| "NA_character_".to_owned(), literal),
        key = vector(dataset.primary_key.iter().map(String::as_str)),
        rows = dataset.page(&request.plan, true),
        columns = columns.join(",\n"),
    )
}

/// `text` between quotes, in ASCII alone: R reads a script in the encoding of the session. R has no
/// text with a zero in it, so that those are left out.
pub(crate) fn literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                literal.push('\\');
                literal.push(character);
            }
            '\0' => {}
            ' '..='~' => literal.push(character),
            _ => {
                let _ = write!(literal, "\\U{{{:x}}}", u32::from(character));
            }
        }
    }
    literal.push('"');
    literal
}

/// `c("a", "b")`.
pub(crate) fn vector<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let literals: Vec<String> = texts.map(literal).collect();
    if literals.is_empty() {
        "character(0)".to_owned()
    } else {
        format!("c({})", literals.join(", "))
    }
}
