//! Rules of JSON-stat 2.0, read natively; the files are written to its specification, but for one
//! that an agency served.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cells;

use yearbook_read_json_stat::JsonStatReader;
use yearbook_sdk::Value;
use yearbook_sdk::generator::Role;
use yearbook_sdk::reader::{ColumnRequest, RequestedType};
use yearbook_sdk::testing::reading::{ReadTable, check, read, request};

/// A cube of two regions and three years with these values, and these members beside them.
fn cube(value: &str, more: &str) -> String {
    format!(
        r#"{{"version":"2.0","class":"dataset","value":{value},{more}"id":["geo","time"],"size":[2,3],"role":{{"time":["time"]}},
        "dimension":{{"geo":{{"label":"Region","category":{{"index":{{"AU":1,"NZ":0}},"label":{{"NZ":"New Zealand","AU":"Australia"}}}}}},
        "time":{{"category":{{"index":["2022","2023","2024"]}}}}}}}}"#
    )
}

fn table(text: &str, requests: &[ColumnRequest]) -> ReadTable {
    read::<JsonStatReader>(text.as_bytes(), requests, &[]).unwrap()
}

fn refusal(text: &str) -> String {
    read::<JsonStatReader>(text.as_bytes(), &[], &[]).unwrap_err().to_string()
}

fn from(name: &str, source: &str, requested_type: RequestedType) -> ColumnRequest {
    ColumnRequest { name: name.to_owned(), source: Some(source.to_owned()), requested_type }
}

#[test]
fn it_holds_what_every_reader_must() {
    check::<JsonStatReader>();
}

#[test]
fn a_cube_of_an_agency_is_a_table_contract_7() {
    let file = include_str!("../../../../tests/fixtures/agencies/cso_life_tables.json");
    let requests = [
        from("sex", "C02199V02655 label", RequestedType::Text),
        from("age", "C02076V02508", RequestedType::Text),
        from("date", "TLIST(A1)", RequestedType::Date),
        from("period", "TLIST(A1)", RequestedType::Period),
        from("statistic", "STATISTIC label", RequestedType::Text),
        request("value", RequestedType::Number),
    ];
    let read = table(file, &requests);
    // Two sexes, 106 ages, four years and seven statistics; none is missing.
    assert_eq!(read.rows.len(), 2 * 106 * 4 * 7);
    let row = |at: usize| read.rows[at].iter().flatten().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(row(0), ["Male", "000", "2002-01-01", "2002", "Ix", "100000"]);
    assert_eq!(row(27), ["Male", "000", "2016-01-01", "2016", "e0x", "79.64"]);
    assert_eq!(row(106 * 28 + 27), ["Female", "000", "2016-01-01", "2016", "e0x", "83.42"]);
    assert_eq!(row(5935), ["Female", "105", "2016-01-01", "2016", "e0x", "0.61"]);
    let life: f64 = read
        .rows
        .iter()
        .filter(|row| row[4].as_deref() == Some("e0x"))
        .map(|row| row[5].as_deref().unwrap().parse::<f64>().unwrap())
        .sum();
    assert!((life - 27_840.68).abs() < 1e-6, "{life}");
    let about: Vec<(Option<Role>, Option<&str>, Option<&str>)> = read
        .columns
        .iter()
        .map(|column| (column.role, column.description.as_deref(), column.unit.as_deref()))
        .collect();
    // Seven statistics have no unit in common.
    assert_eq!(
        about,
        [
            (Some(Role::Attribute), Some("Sex"), None),
            (Some(Role::Dimension), Some("Age x"), None),
            (Some(Role::Period), Some("Year"), None),
            (Some(Role::Period), Some("Year"), None),
            (Some(Role::Attribute), Some("Statistic"), None),
            (Some(Role::Value), None, None),
        ]
    );
}

/// A cube whose time is that of a PX table: the id names the scale.
fn px_cube(id: &str, codes: [&str; 3]) -> String {
    cube("[1,2,3,4,5,6]", "")
        .replace(r#""time"]"#, &format!(r#""{id}"]"#))
        .replace(r#""time":{"category""#, &format!(r#""{id}":{{"category""#))
        .replace(r#"["2022","2023","2024"]"#, &format!("{codes:?}"))
}

#[test]
fn times_of_px_tables_become_dates_and_periods_contract_7() {
    for (id, codes, dates, periods) in [
        (
            "TLIST(M1)",
            ["202201", "202202", "202212"],
            ["2022-01-01", "2022-02-01", "2022-12-01"],
            Some(["2022-01", "2022-02", "2022-12"]),
        ),
        (
            "TLIST(Q1)",
            ["20221", "20222", "20224"],
            ["2022-01-01", "2022-04-01", "2022-10-01"],
            Some(["2022-Q1", "2022-Q2", "2022-Q4"]),
        ),
        (
            "TLIST(H1)",
            ["20221", "20222", "20231"],
            ["2022-01-01", "2022-07-01", "2023-01-01"],
            None,
        ),
    ] {
        let text = px_cube(id, codes);
        let requests =
            [from("date", id, RequestedType::Date), from("code", id, RequestedType::Text)];
        let rows = table(&text, &requests);
        assert_eq!(rows.column("date")[..3], dates.map(Some));
        assert_eq!(rows.column("code")[..3], codes.map(Some), "text stays what it is");
        let requests = [from("period", id, RequestedType::Period)];
        match (read::<JsonStatReader>(text.as_bytes(), &requests, &[]), periods) {
            (Ok(rows), Some(periods)) => {
                assert_eq!(rows.column("period")[..3], periods.map(Some));
            }
            (Err(refused), None) => {
                assert!(refused.to_string().contains("has no code"), "{refused}")
            }
            (read, _) => panic!("{id}: {read:?}"),
        }
    }
    let text = px_cube("TLIST(M1)", ["202201", "202213", "202301"]);
    let date = [from("date", "TLIST(M1)", RequestedType::Date)];
    let refused = read::<JsonStatReader>(text.as_bytes(), &date, &[]).unwrap_err().to_string();
    let expected = "$.dimension.TLIST(M1).category: \"202213\" is no period of time";
    assert!(refused.starts_with(expected), "{refused}");
}

#[test]
fn dense_and_sparse_cubes_are_the_same_rows_contract_7() {
    let dense = cube("[1,null,3,4.5,null,-6e1]", r#""status":{"2":"e","5":"p"},"#);
    let sparse = cube(r#"{"5":-60,"0":1,"3":4.5,"2":3}"#, r#""status":{"2":"e","5":"p"},"#);
    assert_eq!(table(&dense, &[]), table(&sparse, &[]));
    let rows = table(&dense, &[]);
    assert_eq!(rows.column("geo"), [Some("NZ"), Some("NZ"), Some("AU"), Some("AU")]);
    assert_eq!(rows.column("time"), [Some("2022"), Some("2024"), Some("2022"), Some("2024")]);
    assert_eq!(rows.column("value"), [Some("1"), Some("3"), Some("4.5"), Some("-60")]);
    assert_eq!(rows.column("status"), [None, Some("e"), None, Some("p")]);
}

#[test]
fn missing_cells_are_kept_where_that_is_asked_for() {
    let keep = [("missing", Value::Text("keep".to_owned()))];
    let sparse = cube(r#"{"5":-60,"0":1}"#, "");
    let rows = read::<JsonStatReader>(sparse.as_bytes(), &[], &keep).unwrap();
    assert_eq!(rows.column("value"), [Some("1"), None, None, None, None, Some("-60")]);
}

#[test]
fn labels_dates_periods_and_whole_numbers_are_asked_for_by_type_contract_7() {
    let requests = [
        from("region", "geo label", RequestedType::Text),
        from("date", "time", RequestedType::Date),
        from("period", "time", RequestedType::Period),
        from("year", "time", RequestedType::Integer),
        request("value", RequestedType::Integer),
    ];
    let rows = table(&cube("[1,2,3,4,5,6]", ""), &requests);
    assert_eq!(
        rows.rows[5].iter().flatten().collect::<Vec<_>>(),
        ["Australia", "2024-01-01", "2024", "2024", "6"]
    );
    assert_eq!(rows.columns[0].description.as_deref(), Some("Region"));
}

#[test]
fn the_unit_of_a_single_metric_is_that_of_the_value() {
    let text = r#"{"class":"dataset","id":["m"],"size":[1],"role":{"metric":["m"]},"value":[7],"status":"e",
        "dimension":{"m":{"category":{"label":{"GDP":"Product"},"unit":{"GDP":{"base":"EUR","symbol":"€"}}}}}}"#;
    let rows = table(text, &[]);
    let value = rows.columns.iter().find(|column| column.name == "value").unwrap();
    assert_eq!(value.unit.as_deref(), Some("EUR"));
    assert_eq!(rows.column("status"), [Some("e")]);
}

#[test]
fn json_stat_is_refused_with_its_path_contract_7() {
    let good = cube("[1,2,3,4,5,6]", "");
    let cases = [
        (good.replace("\"dataset\"", "\"collection\""), "$.class: is \"collection\""),
        (r#"{"dataset":{"value":[]}}"#.to_owned(), "$.class: is JSON-stat before 2.0"),
        (
            good.replace("[2,3]", "[2,4]"),
            "$.dimension.time.category: has 3 categories where $.size says 4",
        ),
        (good.replace("[2,3]", "[2]"), "$.size: has 1 entries where $.id has 2"),
        (good.replace("[2,3]", "[2,99999999999999999999]"), "line 1, byte"),
        (
            good.replace("[2,3]", "[4611686018427387904,8]"),
            "$.size: makes more cells than can be counted",
        ),
        (good.replace("[2,3]", "[2,0]"), "$.size: has a dimension without categories"),
        (good.replace("[2,3]", "[2,-3]"), "line 1, byte"),
        (good.replace("\"AU\":1", "\"AU\":0"), "$.dimension.geo.category: gives"),
        (
            good.replace("\"AU\":1", "\"AU\":7"),
            "$.dimension.geo.category: gives \"AU\" the position 7",
        ),
        (
            good.replace("[\"geo\",\"time\"]", "[\"geo\",\"geo\"]"),
            "$.id[1]: \"geo\" is named twice",
        ),
        (
            good.replace("[\"geo\",\"time\"]", "[\"geo\",\"year\"]"),
            "$.dimension: has no dimension \"year\"",
        ),
        (cube("[1,2]", ""), "$.value: has 2 values where $.size makes 6 cells"),
        (cube(r#"{"6":1}"#, ""), "$.value: has a cell 6 of 6"),
        (cube(r#"{"1":1,"01":2}"#, ""), "$.value: has the cell 1 twice"),
        (cube(r#"{"-1":1}"#, ""), "line 1, byte"),
        (cube("[1e999,2,3,4,5,6]", ""), "$.value, cell 0: \"1e999\" is too large"),
        (cube("[[1],2,3,4,5,6]", ""), "line 1, byte"),
        (cube(r#"{"1":null,"01":2}"#, ""), "$.value: has the cell 1 twice"),
        (
            cube("[1,2,3,4,5,6]", r#""status":["p","e"],"#),
            "$.status: has 2 entries where $.size makes 6 cells; write one for each",
        ),
        (cube("[1,2,3,4,5,6]", r#""status":{"6":"p"},"#), "$.status: has a cell 6 of 6"),
        (cube("[1,2,3,4,5,6]", r#""status":{"5":true},"#), "line 1, byte"),
        (good.replace("\"id\"", "\"ids\""), "$.id: is missing or empty"),
        (good[..good.len() - 1].to_owned(), "line 3, byte"),
        ("[]".to_owned(), "line 1, byte 0, $: a file of JSON-stat is an object"),
    ];
    for (text, expected) in cases {
        let refused = refusal(&text);
        assert!(refused.starts_with(expected), "{refused}\n{expected}");
    }
    let week = [from("period", "geo", RequestedType::Period)];
    let refused = read::<JsonStatReader>(good.as_bytes(), &week, &[]).unwrap_err().to_string();
    assert!(
        refused.starts_with("$.dimension.geo.category: \"NZ\" is no period of time"),
        "{refused}"
    );
}

#[test]
fn a_cube_that_claims_to_be_huge_costs_nothing() {
    let claimed = cube(r#"{"0":1}"#, "").replace("[2,3]", "[2,4000000000]");
    assert!(refusal(&claimed).contains("has 3 categories where $.size says 4000000000"));
    let keep = [("missing", Value::Text("keep".to_owned()))];
    // Every category is there, and only the product is huge.
    let wide: Vec<String> = (0..5_000).map(|at| format!("\"{at}\"")).collect();
    let category = format!(r#"{{"category":{{"index":[{}]}}}}"#, wide.join(","));
    let wide = format!(
        r#"{{"class":"dataset","id":["a","b"],"size":[5000,5000],"value":{{"24999999":1}},"dimension":{{"a":{category},"b":{category}}}}}"#
    );
    assert_eq!(table(&wide, &[]).rows.len(), 1);
    let refused = read::<JsonStatReader>(wide.as_bytes(), &[], &keep).unwrap_err().to_string();
    assert!(refused.starts_with("$.size: makes 25000000 cells"), "{refused}");
    let one = r#"{"class":"dataset","id":["a"],"size":[4000000000],"value":{},"dimension":{"a":{"category":{"index":[]}}}}"#;
    assert!(read::<JsonStatReader>(one.as_bytes(), &[], &keep).is_err());
}
