//! read_statistics.py. The program is written as Python in `read_statistics.py`, with what depends
//! on request and library put in; every text goes in as a JSON text, which is one of Python's, too.

use std::fmt::Write;

use serde_json::json;
use yearbook_sdk::generator::{ColumnType, Dataset, Request};

use crate::FrameLibrary;

const PROGRAM: &str = include_str!("read_statistics.py");

/// The program.
pub(crate) fn script(request: &Request, frame: FrameLibrary) -> String {
    let (import, convert) = match frame {
        FrameLibrary::Pandas => (
            "import pandas as pd\nimport pyarrow as pa\n",
            "table.to_pandas(types_mapper=pd.ArrowDtype)",
        ),
        FrameLibrary::Polars => {
            ("import polars as pl\nimport pyarrow as pa\n", "pl.from_arrow(table)")
        }
    };
    let table: String = request.datasets.iter().map(|dataset| entry(dataset, request)).collect();
    // What free text says comes last: nothing is put into it.
    PROGRAM
        .replacen("import pyarrow as pa\n", import, 1)
        .replacen("return table\n", &format!("return {convert}\n"), 1)
        .replacen("\"http://localhost:8080\"", &json!(request.base_url).to_string(), 1)
        .replacen("DATASETS = {}\n", &format!("DATASETS = {{\n{table}}}\n"), 1)
}

fn entry(dataset: &Dataset, request: &Request) -> String {
    let mut columns = String::new();
    for column in &dataset.columns {
        let arrow_type = match column.column_type {
            ColumnType::Text => "pa.string()",
            ColumnType::Integer => "pa.int64()",
            ColumnType::Number => "pa.float64()",
            ColumnType::Boolean => "pa.bool_()",
            ColumnType::Date => "pa.date32()",
        };
        let _ = writeln!(columns, "            ({}, {arrow_type}),", json!(column.name));
    }
    let url =
        dataset.source_url.as_ref().map_or_else(|| "None".to_owned(), |url| json!(url).to_string());
    format!(
        "    {name}: {{\n        \"title\": {title},\n        \"attribution\": {attribution},\n        \"licence\": {licence},\n        \
         \"source\": {source},\n        \"source_url\": {url},\n        \"primary_key\": {key},\n        \"rows\": {rows},\n        \
         \"columns\": [\n{columns}        ],\n    }},\n",
        name = json!(dataset.name),
        title = json!(dataset.label()),
        attribution = json!(dataset.attribution),
        licence = json!(dataset.licence),
        source = json!(dataset.source),
        key = json!(dataset.primary_key),
        rows = dataset.page(&request.plan, true),
    )
}
