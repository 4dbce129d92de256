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
    let project = generate::<Dbt>(&request, &[]).unwrap();
    assert!(
        text(&project, "tests/harvest_long_key_is_unique.sql")
            .contains("group by date, region\nhaving count(*) > 1")
    );
    assert_eq!(project.files.iter().filter(|file| file.path.starts_with("tests/")).count(), 1);
}

#[test]
fn a_number_may_be_null_wherever_a_loader_read_json_contract_4() {
    let mut request = project::request();
    request.datasets[0].columns[3].nullable = false;
    let columns = sources::sources(&request, "")["sources"][0]["tables"][0]["columns"].clone();
    assert!(columns[3].get("data_tests").is_none(), "{}", columns[3]);
    assert_eq!(columns[2]["data_tests"], json!(["not_null"]), "text");
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
    let project = generate::<Dbt>(&project::request(), &[]).unwrap();
    let wide = text(&project, "models/staging/stg_prices_wide.sql");
    assert!(wide.contains("cast({{ adapter.quote('no') }} as {{ dbt.type_bigint() }}) as {{ adapter.quote('no') }}"), "{wide}");
    assert!(
        wide.contains("cast(date as date) as date,")
            && wide.contains("from {{ source('statistics', 'prices_wide') }}")
    );
    let without =
        generate::<Dbt>(&project::request(), &[("staging", Value::Boolean(false))]).unwrap();
    assert!(!without.files.iter().any(|file| file.path.starts_with("models/staging/")));
}

#[test]
fn words_that_duckdb_reserves_are_quoted_contract_4() {
    assert!(model::RESERVED.is_sorted(), "they are searched by bisection");
    let mut request = project::request();
    for word in ["array", "both", "lambda", "only", "pivot_wider", "show", "variadic"] {
        request.datasets[1].columns[1].name = word.to_owned();
        let project = generate::<Dbt>(&request, &[]).unwrap();
        let model = text(&project, "models/staging/stg_prices_wide.sql");
        assert!(model.contains(&format!("cast({{{{ adapter.quote('{word}') }}}} as ")), "{model}");
        let columns = sources::sources(&request, "")["sources"][0]["tables"][1]["columns"].clone();
        assert_eq!(columns[1]["quote"], true, "{word}");
    }
}

#[test]
fn numbers_have_64_bits_in_every_warehouse_contract_4() {
    let project = generate::<Dbt>(&project::request(), &[]).unwrap();
    let wide = text(&project, "models/staging/stg_prices_wide.sql");
    assert!(
        wide.contains(
            "cast(cpi as {{ dbt.type_float() if target.type in \
             ('bigquery', 'postgres', 'redshift', 'snowflake') else 'double' }}) as cpi"
        ),
        "{wide}"
    );
}
