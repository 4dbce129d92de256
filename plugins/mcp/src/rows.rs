//! Rows with all that belongs to their numbers, and citations.

use serde_json::{Map, Value, json};
use yearbook_sdk::adapter::{Asked, Host, Selection, Step, Table};

use crate::arguments::Arguments;
use crate::catalogue::{address, columns, credit, published_at};
use crate::selection;

/// Rows: without `limit`, and at most.
const ROWS: [u32; 2] = [20, 200];
/// Beginning of a digest, and the number of its hexadecimal digits.
const DIGEST: (&str, usize) = ("yb1:", 64);

/// `get_data`.
pub(crate) fn data(arguments: &Arguments<'_>, host: &mut Host) -> Step<Value> {
    let limit = arguments.number("limit", ROWS[1])?.unwrap_or(ROWS[0]);
    let selection = Selection { limit: Some(limit.into()), ..selection::whole(arguments)? };
    let dataset = selection.dataset.clone();
    let told = table(&dataset, &host.rows(selection)?);
    Ok(Value::Object(told))
}

/// `cite`.
pub(crate) fn cite(arguments: &Arguments<'_>, host: &mut Host) -> Step<Value> {
    let limit = arguments.number("limit", ROWS[1])?;
    let selection = selection::whole(arguments)?;
    // A whole version has its geometry, without which it would have no digest.
    let geometry = selection == Selection::new(&selection.dataset);
    let limit = Some(limit.unwrap_or(0).into());
    let selection = Selection { limit, geometry, ..selection };
    let round = (Asked::dataset(&selection.dataset), Asked::citation(selection));
    let (dataset, cited) = host.ask(round)?;
    Ok(json!({
        "dataset": dataset.name,
        "text": cited.text.trim_end(),
        "citation": address(&cited.address),
        "digest": digest(&cited.text),
        "snapshot": cited.snapshot,
        "published_at": published_at(&dataset, &cited.snapshot),
        "credit": credit(&dataset.credit),
    }))
}

/// Rows as objects, their columns with units, and where they come from.
pub(crate) fn table(dataset: &str, table: &Table) -> Map<String, Value> {
    let Table { known, rows } = table;
    let row = |cells: &Vec<Option<yearbook_sdk::Value>>| {
        let names = known.columns.iter().map(|column| column.name.clone());
        Value::Object(names.zip(cells.iter().map(cell)).collect())
    };
    let mut made = Map::new();
    let mut add = |name: &str, value: Value| {
        made.insert(name.to_owned(), value);
    };
    add("dataset", json!(dataset));
    // Of values they may say a unit that the column does not.
    add("columns", columns(&known.columns, |column| column.role == "value"));
    add("rows", rows.iter().map(row).collect());
    add("rows_in_selection", json!(known.total));
    add("rows_remain", json!(known.next.is_some() || known.truncated));
    add("changed_by", json!(known.modified));
    add("snapshot", json!(known.snapshot));
    add("published_at", json!(known.published_at));
    add("credit", credit(&known.credit));
    add("citation", address(&known.citation));
    made
}

/// A value as JSON.
pub(crate) fn cell(cell: &Option<yearbook_sdk::Value>) -> Value {
    match cell {
        None => Value::Null,
        Some(yearbook_sdk::Value::Text(text)) => json!(text),
        Some(yearbook_sdk::Value::Integer(number)) => json!(number),
        Some(yearbook_sdk::Value::Number(number)) => json!(number),
        Some(yearbook_sdk::Value::Boolean(boolean)) => json!(boolean),
    }
}

/// The digest that a citation names. `None` where it covers no whole snapshot.
fn digest(text: &str) -> Option<&str> {
    let (mark, digits) = DIGEST;
    text.match_indices(mark).find_map(|(at, _)| {
        let digest = text.get(at..at + mark.len() + digits)?;
        let is_hex = digest[mark.len()..].bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then_some(digest)
    })
}
