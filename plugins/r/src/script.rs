//! read_statistics.R. The program is written as R in `read_statistics.R`, with the table of
//! datasets put in.

use yearbook_sdk::generator::{ColumnType, Dataset, Request};

use crate::text::{literal, vector};

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
