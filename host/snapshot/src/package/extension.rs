//! What a data package has no word for: the object under `"yearbook"` (contract 7). Unknown keys are errors, because a
//! misspelt one would silently not hold.

use yearbook_domain::credit::SourceUrlPrecision;
use yearbook_domain::dataset::GEOMETRY_COLUMN;
use yearbook_domain::{ColumnType, Layout, Namespace, name};

use super::node::{Node, Problems, nearest};
use super::schema::{self, Schema};
use super::text;

/// Keys that `"yearbook"` takes.
pub(super) const KEYS: [&str; 10] = [
    "namespace",
    "source",
    "attribution_text",
    "source_url_precision",
    "refresh_cadence",
    "date_filter_column",
    "dimensions",
    "bulk_redistribution",
    "layout",
    "proportions",
];

/// The column that the date filter takes when the descriptor names none.
const DEFAULT_DATE_COLUMN: &str = "date";

/// Everything under `"yearbook"` as written; defaults that depend on other parts are chosen by the caller.
pub(super) struct Extension {
    pub(super) namespace: Option<Namespace>,
    pub(super) source: Option<String>,
    pub(super) attribution: Option<String>,
    pub(super) source_url_precision: Option<SourceUrlPrecision>,
    pub(super) refresh_cadence: Option<String>,
    pub(super) date_column: Option<String>,
    pub(super) dimensions: Vec<String>,
    pub(super) bulk_redistribution: bool,
    pub(super) layout: Option<Layout>,
    pub(super) proportions: Vec<String>,
}

/// Reads the object. Column names are judged where the schema could be read.
pub(super) fn parse(node: &Node<'_>, schema: Option<&Schema>, problems: &mut Problems) -> Option<Extension> {
    for key in node.object(problems)?.keys() {
        if !KEYS.contains(&key.as_str()) {
            let near = nearest(key, KEYS).unwrap_or_default();
            problems.add(node.place(key), format!("is not a known key; the nearest is {near:?}"));
        }
    }
    let line = |key: &str, problems: &mut Problems| node.get(key).and_then(|n| text::line(&n, problems));
    let columns = |key: &str, problems: &mut Problems| named_columns(node, key, schema, problems);
    Some(Extension {
        namespace: namespace(node, problems),
        source: line("source", problems),
        attribution: line("attribution_text", problems),
        source_url_precision: word(node, "source_url_precision", &PRECISIONS, problems),
        refresh_cadence: line("refresh_cadence", problems),
        date_column: schema.and_then(|schema| date_column(node, schema, problems)),
        dimensions: columns("dimensions", problems),
        bulk_redistribution: node.get("bulk_redistribution").and_then(|n| n.boolean(problems)).unwrap_or(true),
        layout: word(node, "layout", &LAYOUTS, problems),
        proportions: columns("proportions", problems),
    })
}

const PRECISIONS: [(&str, SourceUrlPrecision); 2] = [("dataset", SourceUrlPrecision::Dataset), ("source", SourceUrlPrecision::Source)];
const LAYOUTS: [(&str, Layout); 2] = [("long", Layout::Long), ("wide", Layout::Wide)];

fn namespace(node: &Node<'_>, problems: &mut Problems) -> Option<Namespace> {
    let node = node.need("namespace", "the grouping that appears in bulk addresses, for example stats_nz", problems)?;
    let text = node.text(problems)?;
    let parsed = Namespace::parse(text);
    if parsed.is_none() {
        problems.add(node.at.clone(), format!("{text:?} does not match {}; try {:?}", name::PATTERN, schema::snake_case(text)));
    }
    parsed
}

fn word<T: Copy>(node: &Node<'_>, key: &str, words: &[(&str, T)], problems: &mut Problems) -> Option<T> {
    let node = node.get(key)?;
    let text = node.text(problems)?;
    let found = words.iter().find(|(word, _)| *word == text);
    if found.is_none() {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        problems.add(node.at.clone(), format!("{text:?} is unknown; write {}", known.join(" or ")));
    }
    found.map(|(_, value)| *value)
}

/// Default: a column named `date` of type date; an explicit null: no date axis.
fn date_column(node: &Node<'_>, schema: &Schema, problems: &mut Problems) -> Option<String> {
    let is_date = |name: &str| schema.find(name).is_some_and(|field| field.column_type == ColumnType::Date);
    let Some(named) = node.get("date_filter_column") else {
        return (!node.is_null("date_filter_column") && is_date(DEFAULT_DATE_COLUMN)).then(|| DEFAULT_DATE_COLUMN.to_owned());
    };
    let name = schema::columns(std::slice::from_ref(&named), schema, problems).pop()?;
    if !is_date(&name) {
        problems.add(named.at, format!("column {name:?} is not of type date, so `start` and `end` cannot filter it"));
        return None;
    }
    Some(name)
}

fn named_columns(node: &Node<'_>, key: &str, schema: Option<&Schema>, problems: &mut Problems) -> Vec<String> {
    let (Some(list), Some(schema)) = (node.get(key), schema) else { return Vec::new() };
    let nodes = list.list(problems).unwrap_or_default();
    let names = schema::columns(&nodes, schema, problems);
    let (wanted, why) = match key {
        "dimensions" => (ColumnType::String, "`dimensions` searches text: declare it as string or leave it out"),
        _ => (ColumnType::Number, "a proportion is a fraction: declare it as number or leave it out"),
    };
    for name in &names {
        let at = nodes.iter().find(|n| n.value == name.as_str()).map_or_else(|| list.at.clone(), |n| n.at.clone());
        if schema.find(name).is_some_and(|field| field.column_type != wanted) {
            problems.add(at, format!("column {name:?}: {why}"));
        } else if name == GEOMETRY_COLUMN {
            problems.add(at, format!("{GEOMETRY_COLUMN} cannot be a dimension"));
        }
    }
    names
}
