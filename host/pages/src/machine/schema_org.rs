//! A dataset in the words of schema.org (contract-9-embedded), as dataset search engines read it.

use serde_json::{Map, Value, json};
use yearbook_domain::bulk::FILE_MEDIA_TYPE;
use yearbook_domain::credit::SourceUrlPrecision;
use yearbook_domain::preview_facts::Figure;
use yearbook_domain::{Column, ColumnRole};

use super::escape::json_text;
use super::view::DatasetView;
use crate::figures::range;

/// Columns that are described at most.
const MAX_VARIABLES: usize = 50;

/// Returns the text of the script in the page of a dataset.
pub(crate) fn embedded(view: &DatasetView<'_>) -> String {
    json_text(&dataset(view))
}

/// Returns the `Dataset` of `view`.
pub(super) fn dataset(view: &DatasetView<'_>) -> Value {
    let (snapshot, catalog) = (view.snapshot(), view.catalog);
    let credit = &snapshot.credit;
    let mut node = Map::new();
    let mut set = |key: &str, value: Value| {
        if !value.is_null() {
            node.insert(key.to_owned(), value);
        }
    };
    set("@context", json!("https://schema.org/"));
    set("@type", json!("Dataset"));
    set("@id", json!(view.page_url()));
    set("name", json!(view.title()));
    set("alternateName", json!(view.dataset.name));
    set("description", json!(view.description()));
    set("url", json!(view.page_url()));
    set("identifier", json!(view.cite_url()));
    if credit.source_url_precision == Some(SourceUrlPrecision::Dataset) {
        set("sameAs", json!(view.source_url()));
    }
    let agency_url = view
        .source_url()
        .filter(|_| credit.source_url_precision == Some(SourceUrlPrecision::Source));
    set("creator", organization(&credit.source, agency_url));
    let home = format!("{}/", catalog.base_url);
    set("publisher", organization(catalog.settings.publisher(), Some(&home)));
    set("license", licence(view));
    set("creditText", json!(credit.attribution));
    if !snapshot.keywords.is_empty() {
        set("keywords", json!(snapshot.keywords));
    }
    set("version", json!(snapshot.id));
    set("dateModified", json!(snapshot.created_at.to_rfc3339()));
    if let Some((first, last)) = &snapshot.date_range {
        set("temporalCoverage", json!(format!("{first}/{last}")));
    }
    set("spatialCoverage", places(view));
    let variables = snapshot.columns.iter().filter(|column| is_measured(column));
    let variables: Vec<Value> =
        variables.take(MAX_VARIABLES).map(|column| variable(view, column)).collect();
    if !variables.is_empty() {
        set("variableMeasured", json!(variables));
    }
    set("isAccessibleForFree", json!(true));
    set("distribution", json!(distributions(view)));
    set(
        "includedInDataCatalog",
        json!({"@type": "DataCatalog", "name": catalog.settings.title, "url": home}),
    );
    Value::Object(node)
}

fn organization(name: &str, url: Option<&str>) -> Value {
    match url {
        Some(url) => json!({"@type": "Organization", "name": name, "url": url}),
        None => json!({"@type": "Organization", "name": name}),
    }
}

/// The licence's address; where there is none, its name.
pub(super) fn licence(view: &DatasetView<'_>) -> Value {
    let credit = &view.snapshot().credit;
    match view.licence_url() {
        Some(url) => json!(url),
        None => {
            let name = credit.licence_title.as_ref().unwrap_or(&credit.licence);
            json!({"@type": "CreativeWork", "name": name})
        }
    }
}

fn places(view: &DatasetView<'_>) -> Value {
    let place = |[west, south, east, north]: [f64; 4]| json!({"@type": "Place", "geo": {"@type": "GeoShape", "box": format!("{south} {west} {north} {east}")}});
    let mut places: Vec<Value> = view.boxes().into_iter().map(place).collect();
    match places.len() {
        0 => Value::Null,
        1 => places.remove(0),
        _ => Value::Array(places),
    }
}

fn is_measured(column: &Column) -> bool {
    column.role == ColumnRole::Value
}

/// A value column; its range is that of the preview facts, where they have one of all rows.
fn variable(view: &DatasetView<'_>, column: &Column) -> Value {
    let mut node = json!({"@type": "PropertyValue", "name": column.name});
    if let Some(description) = &column.description {
        node["description"] = json!(description);
    }
    if let Some(unit) = &column.unit {
        node["unitText"] = json!(unit);
    }
    let value = view.facts.and_then(|facts| facts.value(&column.name));
    if let Some((min, max)) = value.and_then(|value| range(value, view.snapshot())) {
        node["minValue"] = number(min);
        node["maxValue"] = number(max);
    }
    node
}

/// A figure as a JSON number of the same digits.
fn number(figure: Figure) -> Value {
    match figure {
        Figure::Integer(value) => json!(value),
        Figure::Number(value) => json!(value),
    }
}

fn distributions(view: &DatasetView<'_>) -> Vec<Value> {
    let rows = view.formats().map(|(format, url)| {
        json!({
            "@type": "DataDownload",
            "name": format.format,
            "contentUrl": url,
            "encodingFormat": format.essence(),
        })
    });
    let whole = view.bulk_url().map(|url| {
        json!({
            "@type": "DataDownload",
            "name": "whole table",
            "contentUrl": url,
            "encodingFormat": FILE_MEDIA_TYPE,
            "contentSize": format!("{} B", view.snapshot().file.bytes),
            "sha256": view.snapshot().file.sha256,
        })
    });
    rows.chain(whole).collect()
}
