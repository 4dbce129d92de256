//! Sentences about a descriptor, each with the JSON path of its fault.

use serde_json::{Value, json};

use super::{good, open, problem, with};
use crate::error::PublishError;

#[test]
fn what_is_wrong_is_named_by_its_json_path() {
    let cases = [
        (
            "/yearbook/namespce",
            json!("x"),
            "yearbook.namespce: is not a known key; the nearest is \"namespace\"",
        ),
        ("/yearbook/max_loss", json!(1.5), "yearbook.max_loss: must be a number from 0"),
        ("/yearbook/max_loss", json!("half"), "yearbook.max_loss: must be a number from 0"),
        (
            "/name",
            json!("CPI-2026"),
            "name: \"CPI-2026\" does not match ^[a-z][a-z0-9_]*$; try \"cpi_2026\"",
        ),
        ("/name", json!(7), "name: must be a string, not a number"),
        ("/title", json!("a\nb"), "title: has a control character (U+000A, character 2)"),
        ("/title", json!(" a"), "title: starts or ends with white space"),
        ("/description", json!("a\u{0}b"), "description: has a control character (U+0000)"),
        ("/licenses", json!([]), "licenses: is empty"),
        ("/licenses", json!([{"title": "x"}]), "licenses[0].name: is missing"),
        (
            "/licenses/0/name",
            json!("CC\u{7f}"),
            "licenses[0].name: has a control character (U+007F",
        ),
        (
            "/sources/0/path",
            json!("downloads/cpi"),
            "sources[0].path: \"downloads/cpi\" is not an address",
        ),
        (
            "/sources",
            json!([{"title": "A"}, {"title": "B", "path": "ftp://b"}]),
            "sources[1].path: \"ftp://b\" is not an address that a reader can follow",
        ),
        (
            "/sources",
            json!([{"title": "A"}, {"title": "B\u{0}"}]),
            "sources[1].title: has a control character (U+0000",
        ),
        (
            "/licenses/0/path",
            json!("javascript:alert(1)"),
            "licenses[0].path: \"javascript:alert(1)\" is not an address",
        ),
        ("/licenses/0/title", json!("CC\nBY"), "licenses[0].title: has a control character"),
        ("/resources", json!([]), "resources: has 0 resources"),
        (
            "/resources/0/path",
            json!("../cpi.csv"),
            "resources[0].path: \"../cpi.csv\" must be a relative path",
        ),
        ("/resources/0/path", json!("/etc/passwd"), "must be a relative path"),
        ("/resources/0/path", json!("a\\cpi.csv"), "must be a relative path"),
        ("/resources/0/path", json!("https://x.org/cpi.csv"), "is an address; download the file"),
        ("/resources/0/path", json!("none.csv"), "resources[0].path: cannot open"),
        ("/resources/0/path", json!(["a.csv", "b.csv"]), "names 2 files"),
        (
            "/resources/0/format",
            json!("parquet"),
            "resources[0].format: \"parquet\" contradicts the file's ending .csv",
        ),
        (
            "/resources/0/encoding",
            json!("latin-1"),
            "resources[0].encoding: \"latin-1\" cannot be read",
        ),
        (
            "/resources/0/dialect",
            json!({"delimiter": ";"}),
            "resources[0].dialect.delimiter: only the default dialect",
        ),
        ("/resources/0/schema", json!("schema.json"), "resources[0].schema: is an address"),
        (
            "/resources/0/schema/missingValues",
            json!(["", "NA"]),
            "resources[0].schema.missingValues: only [\"\"] is read",
        ),
        (
            "/resources/0/schema/primaryKey",
            json!(["dat"]),
            "resources[0].schema.primaryKey[0]: there is no column \"dat\"; the nearest is \"date\"",
        ),
        (
            "/resources/0/schema/primaryKey",
            json!("geo"),
            "resources[0].schema.primaryKey: there is no column",
        ),
        (
            "/resources/0/schema/primaryKey",
            json!(["geometry_wkt"]),
            "cannot be part of the primary key",
        ),
        (
            "/resources/0/schema/primaryKey",
            json!("geometry_wkt"),
            "cannot be part of the primary key",
        ),
        (
            "/resources/0/schema/fields/3/name",
            json!("1962"),
            "fields[3].name: \"1962\" is not snake_case (^[a-z][a-z0-9_]*$); rename it, for example x1962",
        ),
        (
            "/resources/0/schema/fields/3/name",
            json!("group"),
            "fields[3].name: \"group\" is the name of an earlier column too",
        ),
        (
            "/resources/0/schema/fields/3/type",
            json!("strin"),
            "fields[3].type: \"strin\" is not served: types are string, integer, number, boolean, date; the nearest is string",
        ),
        (
            "/resources/0/schema/fields/3/type",
            json!("datetime"),
            "fields[3].type: \"datetime\" is not served",
        ),
        ("/resources/0/schema/fields/3/type", Value::Null, "fields[3].type: is missing"),
        (
            "/resources/0/schema/fields/1/type",
            json!("integer"),
            "fields[1].type: period holds text",
        ),
        (
            "/resources/0/schema/fields/0/format",
            json!("%d/%m/%Y"),
            "fields[0].format: dates are read as YYYY-MM-DD only",
        ),
        (
            "/resources/0/schema/fields/5/trueValues",
            json!(["yes"]),
            "fields[5].trueValues: only true, True, TRUE, 1 are read",
        ),
        (
            "/resources/0/schema/fields/4/decimalChar",
            json!(","),
            "fields[4].decimalChar: numbers are read with a decimal point",
        ),
        (
            "/resources/0/schema/fields/4/constraints",
            json!({"minimum": 0}),
            "fields[4].constraints.minimum: is not checked",
        ),
        (
            "/yearbook/dimensions",
            json!(["value"]),
            "yearbook.dimensions[0]: column \"value\": `dimensions` searches text",
        ),
        (
            "/yearbook/dimensions",
            json!(["group", "group"]),
            "yearbook.dimensions[1]: \"group\" is named twice",
        ),
        (
            "/yearbook/dimensions",
            json!(["geometry_wkt"]),
            "yearbook.dimensions[0]: geometry_wkt cannot be a dimension",
        ),
        (
            "/yearbook/proportions",
            json!(["group"]),
            "yearbook.proportions[0]: column \"group\": a proportion is a fraction",
        ),
        (
            "/yearbook/date_filter_column",
            json!("group"),
            "yearbook.date_filter_column: column \"group\" is not of type date",
        ),
        (
            "/yearbook/layout",
            json!("tall"),
            "yearbook.layout: \"tall\" is unknown; write long or wide",
        ),
        (
            "/yearbook/bulk_redistribution",
            json!("no"),
            "yearbook.bulk_redistribution: must be true or false, not a string",
        ),
        (
            "/yearbook/attribution_text",
            json!("a\r\nSet-Cookie: x"),
            "yearbook.attribution_text: has a control character (U+000D",
        ),
        ("/yearbook/source", json!("  "), "yearbook.source: is blank"),
        (
            "/yearbook/namespace",
            json!("Stats NZ"),
            "yearbook.namespace: \"Stats NZ\" does not match ^[a-z][a-z0-9_]*$; try \"stats_nz\"",
        ),
        ("/yearbook/namespace", Value::Null, "yearbook.namespace: is missing"),
    ];
    for (pointer, value, expected) in cases {
        let found = problem(&with(pointer, value.clone()));
        assert!(
            found.contains(expected),
            "{pointer} = {value}\n  found    {found}\n  expected {expected}"
        );
    }
}

#[test]
fn all_problems_are_told_at_once() {
    let mut descriptor = good();
    descriptor["name"] = json!("A");
    descriptor["licenses"] = json!([]);
    descriptor["yearbook"]["colour"] = json!(1);
    let Err(PublishError::Descriptor { problems, .. }) = open(&descriptor) else {
        panic!("must be refused")
    };
    let places: Vec<&str> = problems.iter().map(|p| p.at.as_str()).collect();
    assert_eq!(places, ["name", "yearbook.colour", "licenses"]);
}
