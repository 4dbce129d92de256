//! The Connector SDK project. The program is written as Python in `connector.py`, with the table of
//! datasets put in: only names that the service guarantees to be snake_case reach the source text.

use std::fmt::Write;

use serde_json::json;
use yearbook_sdk::generator::{ColumnType, Request};

/// The program, but for its table.
const PROGRAM: &str = include_str!("connector.py");
/// The line that the table replaces.
const MARK: &str = "DATASETS = {}\n";

/// connector.py.
pub(crate) fn program(request: &Request) -> String {
    let mut table = "DATASETS = {\n".to_owned();
    for dataset in &request.datasets {
        let key: Vec<String> =
            dataset.primary_key.iter().map(|name| format!("\"{name}\"")).collect();
        let (name, rows, key) = (&dataset.name, dataset.page(&request.plan, true), key.join(", "));
        let _ = write!(
            table,
            "    \"{name}\": {{\n        \"rows\": {rows},\n        \"primary_key\": [{key}],\n        \"columns\": {{\n"
        );
        for column in &dataset.columns {
            let _ = writeln!(
                table,
                "            \"{}\": \"{}\",",
                column.name,
                fivetran_type(column.column_type)
            );
        }
        table.push_str("        },\n    },\n");
    }
    table.push_str("}\n");
    PROGRAM.replacen(MARK, &table, 1)
}

/// configuration.json: what Fivetran asks for when the connector is set up. Values must be text.
pub(crate) fn configuration(request: &Request) -> String {
    let configuration = json!({"base_url": request.base_url, "api_key": "<YOUR_API_KEY>"});
    format!("{configuration:#}\n")
}

fn fivetran_type(column_type: ColumnType) -> &'static str {
    match column_type {
        ColumnType::Text => "STRING",
        ColumnType::Integer => "LONG",
        ColumnType::Number => "DOUBLE",
        ColumnType::Boolean => "BOOLEAN",
        ColumnType::Date => "NAIVE_DATE",
    }
}
