//! Contents of the generated project, without the tool itself.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::json;
use yearbook_sdk::Value;
use yearbook_sdk::testing::project::{self, generate, text};

use super::*;

#[test]
fn keys_are_tested_once_each() {
    let request = project::request();
    let tables = sources::sources(&request, "")["sources"][0]["tables"].clone();
    assert_eq!(
        tables[0]["columns"][0]["data_tests"],
        json!(["not_null"]),
        "one of two key columns"
    );
    assert_eq!(tables[1]["columns"][0]["data_tests"], json!(["not_null", "unique"]));
    assert!(tables[0]["columns"][3].get("data_tests").is_none(), "nullable");
    let made = generate::<Dbt>(&request, &[]).unwrap();
    assert!(
        text(&made, "tests/harvest_long_key_is_unique.sql")
            .contains("group by date, region\nhaving count(*) > 1")
    );
    assert_eq!(made.files.iter().filter(|file| file.path.starts_with("tests/")).count(), 1);
}

#[test]
fn freshness_needs_a_cadence_and_a_column() {
    let mut request = project::request();
    request.datasets[1].refresh_cadence = Some("when it suits them".to_owned());
    let tables = |loaded_at| sources::sources(&request, loaded_at)["sources"][0]["tables"].clone();
    let weekly = json!({"warn_after": {"count": 14, "period": "day"}, "error_after": {"count": 21, "period": "day"}});
    assert_eq!(tables("loaded")[0]["config"]["freshness"], weekly);
    assert!(
        tables("loaded")[1]["config"].get("freshness").is_none()
            && tables("")[0]["config"].get("freshness").is_none()
    );
    let spoilt = [("loaded_at", Value::Text("x; drop".to_owned()))];
    assert!(matches!(generate::<Dbt>(&request, &spoilt), Err(Error::InvalidOption(_))));
}

#[test]
fn what_opens_jinja_is_text() {
    assert_eq!(
        sources::jinja("a {b} {{c}} {% d %} {# e #} {"),
        "a {b} {{ '{' }}{c}} {{ '{' }}% d %} {{ '{' }}# e #} {{ '{' }}"
    );
    assert_eq!(sources::jinja("{{{"), "{{ '{' }}{{ '{' }}{{ '{' }}");
}

#[test]
fn reserved_names_alone_are_quoted_in_models() {
    let made = generate::<Dbt>(&project::request(), &[]).unwrap();
    let wide = text(&made, "models/staging/stg_prices_wide.sql");
    assert!(wide.contains("cast({{ adapter.quote('no') }} as {{ dbt.type_bigint() }}) as {{ adapter.quote('no') }}"), "{wide}");
    assert!(
        wide.contains("cast(date as date) as date,")
            && wide.contains("from {{ source('statistics', 'prices_wide') }}")
    );
    let without =
        generate::<Dbt>(&project::request(), &[("staging", Value::Boolean(false))]).unwrap();
    assert!(!without.files.iter().any(|file| file.path.starts_with("models/staging/")));
}
