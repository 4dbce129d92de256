//! A citation in CSL JSON: an array of one item, as processors read it.

use serde_json::{Value, json};

use super::Citation;

pub(super) fn render(citation: &Citation) -> String {
    let date = citation.date();
    let parts: Vec<i64> = date.split('-').filter_map(|part| part.parse().ok()).collect();
    let item: Value = json!([{
        "id": citation.key(),
        "type": "dataset",
        "author": [{ "literal": citation.agency() }],
        "title": citation.title(),
        "issued": { "date-parts": [parts] },
        "publisher": citation.agency(),
        "version": citation.snapshot_id.as_str(),
        "URL": citation.url,
        "note": citation.notes().join(" "),
    }]);
    format!("{item:#}\n")
}
