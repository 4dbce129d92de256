//! Descriptors that are accepted, and the words for each fault (contract-7-descriptor).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::json;
use yearbook_domain::credit::SourceUrlPrecision;
use yearbook_domain::{ColumnRole, ColumnType};

use super::*;

/// A long table that is right in every way; tests change one thing each.
fn good() -> Value {
    json!({
        "name": "cpi", "title": "Consumer prices", "description": "Index\nby group",
        "licenses": [{"name": "CC-BY-4.0", "title": "Creative Commons Attribution 4.0"}],
        "sources": [{"title": "Stats NZ", "path": "https://stats.govt.nz/cpi"}],
        "resources": [{
            "name": "cpi", "path": "cpi.csv",
            "schema": {
                "fields": [
                    {"name": "date", "type": "date"},
                    {"name": "period", "type": "string"},
                    {"name": "group", "type": "string", "description": "Group of goods"},
                    {"name": "code", "type": "string", "constraints": {"required": true}},
                    {"name": "value", "type": "number", "unit": "index"},
                    {"name": "flag", "type": "boolean"},
                    {"name": "geometry_wkt", "type": "string"}
                ],
                "primaryKey": ["date", "group", "code"]
            }
        }],
        "yearbook": {"namespace": "prices", "dimensions": ["group"], "refresh_cadence": "weekly"}
    })
}

/// Parses `descriptor` beside an empty `cpi.csv`.
fn open(descriptor: &Value) -> Result<DataPackage, PublishError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cpi.csv"), "").unwrap();
    std::fs::write(folder.path().join(DESCRIPTOR), descriptor.to_string()).unwrap();
    DataPackage::open(folder.path())
}

/// `good` with the value at a JSON pointer replaced (created where its parent is an object).
fn with(pointer: &str, value: Value) -> Value {
    let mut descriptor = good();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = descriptor.pointer_mut(parent).unwrap();
    match key.parse::<usize>() {
        Ok(index) if parent.is_array() => parent[index] = value,
        _ => parent[key] = value,
    }
    descriptor
}

/// The single problem of `descriptor`, as `path: message`.
fn problem(descriptor: &Value) -> String {
    match open(descriptor) {
        Err(PublishError::Descriptor { problems, .. }) => {
            assert_eq!(problems.len(), 1, "{problems:?}");
            problems[0].to_string()
        }
        other => panic!("expected a descriptor problem, got {other:?}"),
    }
}

#[test]
fn a_good_descriptor_is_taken_whole_contract_7() {
    let package = open(&good()).unwrap();
    assert_eq!((package.name.as_str(), package.namespace.as_str()), ("cpi", "prices"));
    assert_eq!(package.layout, TableLayout::Long);
    assert_eq!(package.date_column.as_deref(), Some("date"));
    assert_eq!(package.refresh_cadence.as_deref(), Some("weekly"));
    assert!(package.bulk_redistribution);
    let roles: Vec<ColumnRole> = package.columns.iter().map(|c| c.role).collect();
    assert_eq!(
        roles,
        [
            ColumnRole::Date,
            ColumnRole::Period,
            ColumnRole::Dimension,
            ColumnRole::Key,
            ColumnRole::Value,
            ColumnRole::Attribute,
            ColumnRole::Geometry
        ]
    );
    let nullable: Vec<bool> = package.columns.iter().map(|c| c.nullable).collect();
    assert_eq!(nullable, [false, true, false, false, true, true, true]);
    assert_eq!(package.columns[4].unit.as_deref(), Some("index"));
    assert_eq!(package.columns[0].column_type, ColumnType::Date);
}

#[test]
fn the_credit_is_composed_where_the_descriptor_gives_none() {
    let credit = open(&good()).unwrap().credit;
    assert_eq!(credit.source, "Stats NZ");
    assert_eq!(credit.licence, "CC-BY-4.0", "the header carries licenses[0].name");
    let composed = "Stats NZ, Consumer prices, https://stats.govt.nz/cpi. Licence: Creative Commons Attribution 4.0.";
    assert_eq!(credit.attribution, composed);
    assert_eq!(credit.source_url_precision, Some(SourceUrlPrecision::Dataset));
    let credit = open(&with("/yearbook/attribution_text", json!("Crown © 2026"))).unwrap().credit;
    assert_eq!(credit.attribution, "Crown © 2026");
    let credit = open(&with("/yearbook/source", json!("Tatauranga Aotearoa"))).unwrap().credit;
    assert_eq!(credit.source, "Tatauranga Aotearoa");
}

#[test]
fn precision_of_the_source_address_spec_2_1() {
    for (url, expected) in [
        ("https://www.stats.govt.nz", SourceUrlPrecision::Source),
        ("https://www.stats.govt.nz/", SourceUrlPrecision::Source),
        ("https://www.stats.govt.nz/cpi", SourceUrlPrecision::Dataset),
    ] {
        let credit =
            open(&with("/sources", json!([{"title": "Stats NZ", "path": url}]))).unwrap().credit;
        assert_eq!(credit.source_url_precision, Some(expected), "{url}");
    }
    let credit = open(&with("/yearbook/source_url_precision", json!("source"))).unwrap().credit;
    assert_eq!(
        credit.source_url_precision,
        Some(SourceUrlPrecision::Source),
        "what is stated wins"
    );
    let credit = open(&with("/sources", json!([{"title": "Stats NZ"}]))).unwrap().credit;
    assert_eq!((credit.source_url, credit.source_url_precision), (None, None));
}

#[test]
fn layout_and_roles_of_a_wide_table() {
    let mut descriptor = with("/yearbook/dimensions", json!([]));
    let package = open(&descriptor).unwrap();
    assert_eq!(package.layout, TableLayout::Wide, "a date and a value column without dimensions");
    descriptor["yearbook"]["layout"] = json!("long");
    assert_eq!(open(&descriptor).unwrap().layout, TableLayout::Long, "what is stated wins");
    let package =
        open(&with("/resources/0/schema/fields/5", json!({"name": "emp", "type": "integer"})))
            .unwrap();
    assert_eq!(
        (package.layout, package.columns[5].role),
        (TableLayout::Wide, ColumnRole::Value),
        "two measures: a column a series"
    );
}

/// `good` with a measure called `amount`, a numeric part of the key, and these words under
/// `"yearbook"`.
fn with_amount(words: &[(&str, Value)]) -> Value {
    let mut descriptor =
        with("/resources/0/schema/fields/4", json!({"name": "amount", "type": "integer"}));
    descriptor["resources"][0]["schema"]["fields"][3] = json!({"name": "code", "type": "integer"});
    for (key, value) in words {
        descriptor["yearbook"][*key] = value.clone();
    }
    descriptor
}

#[test]
fn the_measure_of_a_long_table_may_have_any_name_contract_7() {
    let roles =
        |package: &DataPackage| (package.layout, package.columns[3].role, package.columns[4].role);
    let package = open(&with_amount(&[])).unwrap();
    assert_eq!(
        roles(&package),
        (TableLayout::Long, ColumnRole::Key, ColumnRole::Value),
        "a date, a dimension, one number outside the key"
    );
    let package = open(&with_amount(&[("date_filter_column", Value::Null)])).unwrap();
    assert_eq!(
        roles(&package),
        (TableLayout::Wide, ColumnRole::Key, ColumnRole::Value),
        "without a date axis"
    );
    let package =
        open(&with_amount(&[("dimensions", json!([])), ("layout", json!("long"))])).unwrap();
    assert_eq!(
        roles(&package),
        (TableLayout::Long, ColumnRole::Key, ColumnRole::Value),
        "what is stated wins"
    );
    let package = open(&with_amount(&[("value_columns", json!([]))])).unwrap();
    assert_eq!(
        roles(&package),
        (TableLayout::Wide, ColumnRole::Key, ColumnRole::Attribute),
        "no measure at all"
    );
}

#[test]
fn value_columns_say_which_numbers_are_measures_contract_7() {
    let mut descriptor = with_amount(&[("value_columns", json!(["amount"]))]);
    descriptor["resources"][0]["schema"]["fields"][5] = json!({"name": "sample", "type": "number"});
    let package = open(&descriptor).unwrap();
    assert_eq!(
        (package.layout, package.columns[4].role, package.columns[5].role),
        (TableLayout::Long, ColumnRole::Value, ColumnRole::Attribute)
    );
    descriptor["yearbook"].as_object_mut().unwrap().remove("value_columns");
    let package = open(&descriptor).unwrap();
    assert_eq!(
        (package.layout, package.columns[4].role, package.columns[5].role),
        (TableLayout::Wide, ColumnRole::Value, ColumnRole::Value)
    );
    for (named, expected) in [
        (json!(["group"]), "yearbook.value_columns[0]: column \"group\": a measure is a number"),
        (
            json!(["amount", "code"]),
            "yearbook.value_columns[1]: column \"code\" is part of the primary key",
        ),
        (
            json!(["amont"]),
            "yearbook.value_columns[0]: there is no column \"amont\"; the nearest is \"amount\"",
        ),
        (json!("amount"), "yearbook.value_columns: must be an array"),
    ] {
        let found = problem(&with_amount(&[("value_columns", named)]));
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn a_text_column_called_date_is_the_date_axis_contract_7() {
    let package = open(&with("/resources/0/schema/fields/0/type", json!("string"))).unwrap();
    assert_eq!(package.date_column.as_deref(), Some("date"));
    assert_eq!(
        (package.columns[0].column_type, package.columns[0].role),
        (ColumnType::Date, ColumnRole::Date)
    );
    for kind in ["integer", "number", "boolean"] {
        let found = problem(&with("/resources/0/schema/fields/0/type", json!(kind)));
        assert!(found.starts_with("resources[0].schema.fields[0].type: date holds dates YYYY-MM-DD; declare it as date"), "{found}");
    }
    let found = problem(&with("/yearbook/dimensions", json!(["group", "date"])));
    assert!(found.starts_with("yearbook.dimensions[1]: column \"date\" holds dates"), "{found}");
}

#[test]
fn refresh_cadence_is_from_a_closed_list_contract_7() {
    for cadence in
        ["hourly", "daily", "weekly", "monthly", "quarterly", "annual", "irregular", "none"]
    {
        let package = open(&with("/yearbook/refresh_cadence", json!(cadence))).unwrap();
        assert_eq!(package.refresh_cadence.as_deref(), Some(cadence));
    }
    for cadence in ["fortnightly", "Weekly", "yearly", "", "weekly "] {
        let found = problem(&with("/yearbook/refresh_cadence", json!(cadence)));
        let list = "hourly, daily, weekly, monthly, quarterly, annual, irregular or none";
        assert_eq!(
            found,
            format!("yearbook.refresh_cadence: {cadence:?} is unknown; write {list}")
        );
    }
    assert_eq!(
        open(&with("/yearbook/refresh_cadence", Value::Null)).unwrap().refresh_cadence,
        None
    );
}

#[test]
fn keywords_are_the_topics_of_a_dataset_contract_7() {
    let keywords = |value: Value| open(&with("/keywords", value)).unwrap().keywords;
    assert_eq!(keywords(Value::Null), Vec::<String>::new());
    assert_eq!(keywords(json!(["prices", "Māori land", "prices"])), ["prices", "Māori land"]);
    for (value, fault) in [
        (json!("prices"), "keywords: "),
        (json!(["a", 7]), "keywords[1]: "),
        (json!([" a"]), "keywords[0]: starts or ends with white space"),
        (json!(["a\nb"]), "keywords[0]: has a control character"),
        (json!(["k".repeat(201)]), "keywords[0]: has 201 bytes"),
        (json!(vec!["k"; 101]), "keywords: has 101 entries"),
    ] {
        let found = problem(&with("/keywords", value));
        assert!(found.starts_with(fault), "{found}");
    }
}

#[test]
fn a_licence_that_is_not_known_to_allow_redistribution_needs_the_word_contract_7() {
    for (licence, allowed) in [
        ("CC-BY-4.0", true),
        ("CC0-1.0", true),
        ("other-pd", true),
        ("OGL-UK-3.0", true),
        ("ODbL-1.0", true),
    ] {
        assert_eq!(
            open(&with("/licenses", json!([{"name": licence}]))).unwrap().bulk_redistribution,
            allowed,
            "{licence}"
        );
    }
    for licence in [
        "CC-BY-NC-ND-4.0",
        "CC-BY-NC-4.0",
        "CC-BY-ND-4.0",
        "CC-BY-4.0-NC",
        "LicenseRef-Demo-No-Bulk",
        "Public Domain?",
    ] {
        let mut descriptor = with("/licenses", json!([{"name": licence}]));
        let expected = format!(
            "yearbook.bulk_redistribution: is missing, and the licence {licence:?} is not known to allow redistribution"
        );
        let found = problem(&descriptor);
        assert!(found.starts_with(&expected), "{found}");
        for said in [true, false] {
            descriptor["yearbook"]["bulk_redistribution"] = json!(said);
            assert_eq!(open(&descriptor).unwrap().bulk_redistribution, said, "{licence}");
        }
    }
    assert!(
        !open(&with("/yearbook/bulk_redistribution", json!(false))).unwrap().bulk_redistribution,
        "the word wins over the licence"
    );
}

#[test]
fn licence_title_and_address_and_every_source_are_kept_contract_7() {
    let mut descriptor = with(
        "/sources",
        json!([
            {"title": "Stats NZ", "path": "https://stats.govt.nz/cpi", "email": "a@b.nz"},
            {"title": "LINZ"},
            {"path": "https://c.example/x"},
            {"email": "nobody@d.example"},
        ]),
    );
    descriptor["licenses"][0]["path"] = json!("https://creativecommons.org/licenses/by/4.0/");
    let credit = open(&descriptor).unwrap().credit;
    assert_eq!(credit.licence_title.as_deref(), Some("Creative Commons Attribution 4.0"));
    assert_eq!(credit.licence_url.as_deref(), Some("https://creativecommons.org/licenses/by/4.0/"));
    let sources: Vec<_> = credit
        .sources
        .iter()
        .map(|source| (source.title.as_deref(), source.path.as_deref()))
        .collect();
    assert_eq!(
        sources,
        [
            (Some("Stats NZ"), Some("https://stats.govt.nz/cpi")),
            (Some("LINZ"), None),
            (None, Some("https://c.example/x"))
        ],
        "in the package's order, without those that say nothing"
    );
    let credit = open(&with("/licenses/0/path", json!("LICENCE.md"))).unwrap().credit;
    assert_eq!(credit.licence_url, None, "a file of the package is not served");
}

#[test]
fn an_empty_list_of_sources_leaves_the_agency_to_the_extension() {
    assert!(problem(&with("/sources", json!([]))).starts_with("yearbook.source: is missing"));
}

#[test]
fn the_date_filter_column_is_named_or_called_date() {
    assert_eq!(open(&with("/yearbook/date_filter_column", Value::Null)).unwrap().date_column, None);
    let mut descriptor =
        with("/resources/0/schema/fields/5", json!({"name": "observed", "type": "date"}));
    descriptor["yearbook"]["date_filter_column"] = json!("observed");
    let package = open(&descriptor).unwrap();
    assert_eq!(package.date_column.as_deref(), Some("observed"));
    assert!(!package.columns[5].nullable, "the date column refuses nulls");
}

#[test]
fn what_is_wrong_is_named_by_its_json_path() {
    let cases = [
        (
            "/yearbook/namespce",
            json!("x"),
            "yearbook.namespce: is not a known key; the nearest is \"namespace\"",
        ),
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

#[test]
fn a_source_must_be_known_and_a_precision_needs_an_address() {
    let mut descriptor = good();
    descriptor.as_object_mut().unwrap().remove("sources");
    assert!(problem(&descriptor).starts_with("yearbook.source: is missing"));
    descriptor["yearbook"]["source"] = json!("Stats NZ");
    assert_eq!(open(&descriptor).unwrap().credit.source_url, None);
    descriptor["yearbook"]["source_url_precision"] = json!("dataset");
    assert!(
        problem(&descriptor)
            .starts_with("yearbook.source_url_precision: is given but no address is")
    );
}

#[test]
fn broken_and_missing_descriptors_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(DESCRIPTOR);
    let missing = DataPackage::open(folder.path()).unwrap_err().to_string();
    assert!(missing.contains("datapackage.json"), "{missing}");
    for (text, expected) in
        [("{", "is not JSON"), ("[]", "must be an object, not an array"), ("", "is not JSON")]
    {
        std::fs::write(&file, text).unwrap();
        let found = DataPackage::open(&file).unwrap_err().to_string();
        assert!(found.contains(expected), "{found}");
    }
}

/// A folder with `good` beside an empty `cpi.csv`.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cpi.csv"), "").unwrap();
    std::fs::write(folder.path().join(DESCRIPTOR), good().to_string()).unwrap();
    folder
}

#[test]
fn a_descriptor_that_is_a_device_or_a_pipe_is_refused_at_once_contract_7() {
    let folder = folder();
    let pipe = folder.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)
        .unwrap();
    for path in [Path::new("/dev/zero"), Path::new("/dev/null"), &pipe] {
        let found = DataPackage::open(path).unwrap_err().to_string();
        assert!(found.contains("it is not a regular file"), "{found}");
    }
    for (name, expected) in
        [("pipe", "\"pipe\" is not a regular file"), ("sub", "\"sub\" is not a regular file")]
    {
        let _ = std::fs::create_dir(folder.path().join("sub"));
        let mut descriptor = with("/resources/0/path", json!(name));
        descriptor["resources"][0]["format"] = json!("csv");
        std::fs::write(folder.path().join(DESCRIPTOR), descriptor.to_string()).unwrap();
        let found = DataPackage::open(folder.path()).unwrap_err().to_string();
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn a_descriptor_that_links_out_of_its_folder_is_refused() {
    let (outside, inside) = (folder(), folder());
    let descriptor = inside.path().join(DESCRIPTOR);
    std::fs::remove_file(&descriptor).unwrap();
    for (target, expected) in [
        (outside.path().join(DESCRIPTOR), "it is a link out of its folder"),
        (PathBuf::from("/dev/zero"), "it is not a regular file"),
    ] {
        std::os::unix::fs::symlink(&target, &descriptor).unwrap();
        let found = DataPackage::open(inside.path()).unwrap_err().to_string();
        assert!(found.contains(expected), "{found}");
        std::fs::remove_file(&descriptor).unwrap();
    }
    std::fs::write(inside.path().join("v1.json"), good().to_string()).unwrap();
    std::os::unix::fs::symlink("v1.json", &descriptor).unwrap();
    DataPackage::open(inside.path()).unwrap();
    let linked = outside.path().join("linked");
    std::os::unix::fs::symlink(inside.path(), &linked).unwrap();
    DataPackage::open(&linked).unwrap();
}

#[test]
fn a_descriptor_is_read_within_a_bound() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(DESCRIPTOR);
    std::fs::File::create(&file).unwrap().set_len(MAX_DESCRIPTOR_BYTES + 1).unwrap();
    let found = DataPackage::open(&file).unwrap_err().to_string();
    assert!(found.contains("it has more than 16777216 bytes"), "{found}");
}

#[test]
fn a_link_out_of_the_folder_is_refused() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.csv");
    std::fs::write(&secret, "").unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(&secret, folder.path().join("cpi.csv")).unwrap();
    std::fs::write(folder.path().join(DESCRIPTOR), good().to_string()).unwrap();
    let found = DataPackage::open(folder.path()).unwrap_err().to_string();
    assert!(found.contains("link out of the package's folder"), "{found}");
}
