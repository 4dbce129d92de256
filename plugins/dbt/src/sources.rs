//! dbt_project.yml and models/sources.yml. dbt renders what stands in them with Jinja, so that
//! texts of publishers are escaped for it before they are quoted for YAML.

use serde_json::{Value, json};
use yearbook_sdk::generator::{Column, ColumnType, Dataset, Request};

use crate::model::is_reserved;

/// The name of the source, and of profile and project.
pub(crate) const NAME: &str = "statistics";

/// dbt_project.yml.
pub(crate) fn project() -> Value {
    json!({
        "name": NAME,
        "version": "1.0.0",
        "config-version": 2,
        "require-dbt-version": ">=1.10.0",
        "profile": NAME,
        "model-paths": ["models"],
        "test-paths": ["tests"],
        "models": {NAME: {"staging": {"+materialized": "view"}}},
    })
}

/// models/sources.yml.
pub(crate) fn sources(request: &Request, loaded_at: &str) -> Value {
    json!({
        "version": 2,
        "sources": [{
            "name": NAME,
            "description": format!("Public statistics of {}.", jinja(&request.base_url)),
            "database": "{{ var('statistics_database', target.database) }}",
            "schema": "{{ var('statistics_schema', 'statistics') }}",
            "tables": request.datasets.iter().map(|dataset| table(dataset, loaded_at)).collect::<Vec<_>>(),
        }],
    })
}

fn table(dataset: &Dataset, loaded_at: &str) -> Value {
    let mut config = json!({"meta": {
        "title": jinja(&dataset.label()),
        "attribution": jinja(&dataset.attribution),
        "licence": jinja(&dataset.licence),
        "source": jinja(&dataset.source),
        "source_url": dataset.source_url.as_deref().map(jinja),
        "data_url": jinja(&dataset.data_url),
        "primary_key": dataset.primary_key,
    }});
    if let (Some(freshness), false) = (freshness(dataset), loaded_at.is_empty()) {
        config["loaded_at_field"] = json!(loaded_at);
        config["freshness"] = freshness;
    }
    let description = dataset
        .description
        .as_deref()
        .unwrap_or_else(|| dataset.title.as_deref().unwrap_or(&dataset.name));
    json!({
        "name": dataset.name,
        "description": jinja(description),
        "config": config,
        "columns": dataset.columns.iter().map(|described| column(described, dataset)).collect::<Vec<_>>(),
    })
}

/// Two rounds of the source's cadence without a load are late, three an error.
pub(crate) fn freshness(dataset: &Dataset) -> Option<Value> {
    let (count, period) = match dataset.refresh_cadence.as_deref()? {
        "hourly" => (1, "hour"),
        "daily" => (1, "day"),
        "weekly" => (7, "day"),
        "monthly" => (31, "day"),
        "quarterly" => (92, "day"),
        "annually" | "yearly" | "annual" => (366, "day"),
        _ => return None,
    };
    let after = |rounds: u32| json!({"count": rounds * count, "period": period});
    Some(json!({"warn_after": after(2), "error_after": after(3)}))
}

fn column(column: &Column, dataset: &Dataset) -> Value {
    let data_type = match column.column_type {
        ColumnType::Text => "text",
        ColumnType::Integer => "bigint",
        ColumnType::Number => "double",
        ColumnType::Boolean => "boolean",
        ColumnType::Date => "date",
    };
    let mut described = json!({"name": column.name, "data_type": data_type});
    if let Some(description) = &column.description {
        described["description"] = json!(jinja(description));
    }
    if let Some(unit) = &column.unit {
        described["config"] = json!({"meta": {"unit": jinja(unit)}});
    }
    if is_reserved(&column.name) {
        described["quote"] = json!(true);
    }
    let mut tests = Vec::new();
    if !column.is_nullable_in_json() {
        tests.push("not_null");
    }
    if dataset.primary_key == [column.name.as_str()] {
        tests.push("unique");
    }
    if !tests.is_empty() {
        described["data_tests"] = json!(tests);
    }
    described
}

/// Text that Jinja renders as it is. What opens an expression, a statement or a comment is itself
/// the value of an expression.
pub(crate) fn jinja(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        if character == '{' && matches!(rest.peek(), None | Some('{' | '%' | '#')) {
            escaped.push_str("{{ '{' }}");
        } else {
            escaped.push(character);
        }
    }
    escaped
}
