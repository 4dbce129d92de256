//! Columns as parts of dataflows.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

fn column<'a>(name: &'a str, role: &str, value_type: ValueType) -> Column<'a> {
    Column { name, role: Role::parse(role), value_type, of: Vec::new() }
}

fn status<'a>(name: &'a str, of: &[&'a str]) -> Column<'a> {
    Column { of: of.to_vec(), ..column(name, "status", ValueType::Text) }
}

/// A long table with every kind of column; of the key, the region stands before the product.
fn long() -> Vec<Column<'static>> {
    vec![
        column("date", "date", ValueType::Date),
        column("period", "period", ValueType::Text),
        column("region", "dimension", ValueType::Text),
        column("region_name", "dimension", ValueType::Text),
        column("product", "key", ValueType::Integer),
        column("price", "value", ValueType::Number),
        column("flag", "status", ValueType::Text),
        column("unit", "attribute", ValueType::Text),
        column("outline", "geometry", ValueType::Text),
    ]
}

fn ids(structure: &Structure) -> Vec<(&str, Representation)> {
    structure.attributes.iter().map(|one| (&*one.id, one.representation)).collect()
}

#[test]
fn the_key_without_time_and_then_time_are_the_dimensions_contract_19() {
    let structure = Structure::new(&long(), &["product", "date", "region"], false).unwrap();
    assert_eq!(structure.dimension_ids(), ["REGION", "PRODUCT", "TIME_PERIOD"]);
    assert_eq!(structure.time, Some(Time { date: 0, period: Some(1) }));
    assert_eq!(structure.measures, [Measure { code: "price".to_owned(), column: 5 }]);
    let text = Representation::Plain(ValueType::Text);
    let expected = [("REGION_NAME", text), ("FLAG", Representation::Coded), ("UNIT", text)];
    assert_eq!(ids(&structure), expected);
    let by_period = Structure::new(&long(), &["product", "period", "region"], false).unwrap();
    assert_eq!(by_period, structure, "a key may have the period instead of the date");
}

#[test]
fn a_table_without_dates_has_no_dimension_of_time_contract_19() {
    let columns: Vec<_> = long().into_iter().skip(1).collect();
    let structure = Structure::new(&columns, &["period", "region"], false).unwrap();
    assert_eq!(structure.dimension_ids(), ["PERIOD", "REGION"]);
    assert_eq!(structure.time, None);
}

#[test]
fn columns_of_values_of_a_wide_table_are_codes_of_a_dimension_contract_19() {
    let columns = vec![
        column("date", "date", ValueType::Date),
        column("measure", "key", ValueType::Text),
        column("gdp", "value", ValueType::Number),
        column("people", "value", ValueType::Integer),
    ];
    let key = ["date", "measure"];
    let structure = Structure::new(&columns, &key, false).unwrap();
    assert_eq!(structure.dimension_ids(), ["MEASURE_", "MEASURE", "TIME_PERIOD"]);
    let codes: Vec<_> = structure.measures.iter().map(|measure| &*measure.code).collect();
    assert_eq!(codes, ["gdp", "people"]);
    assert_eq!(structure.value_type, ValueType::Number);
    let one = Structure::new(&columns[..3], &key, true).unwrap();
    assert_eq!(one.dimension_ids(), structure.dimension_ids(), "a part of its columns");
    assert!(!Structure::new(&columns[..3], &key, false).unwrap().is_wide);
}

#[test]
fn a_status_is_known_by_its_name_contract_19() {
    let with = |further: Vec<Column<'static>>| {
        let mut columns = vec![
            column("date", "date", ValueType::Date),
            column("gdp", "value", ValueType::Number),
            column("people", "value", ValueType::Integer),
        ];
        columns.extend(further);
        let attributes = Structure::new(&columns, &["date"], true).unwrap().attributes;
        let found = attributes.iter().map(|one| (one.id.clone(), one.column(0), one.column(1)));
        found.collect::<Vec<_>>()
    };
    let found = |id: &str, gdp, people| (id.to_owned(), gdp, people);
    assert_eq!(
        with(vec![status("status", &[]), status("conf_status", &["gdp", "people"])]),
        [found("OBS_STATUS", Some(3), Some(3)), found("CONF_STATUS", Some(4), Some(4))]
    );
    assert_eq!(
        with(vec![
            status("people_obs_status", &["people"]),
            status("gdp_status", &["gdp"]),
            status("obs_status", &["gdp"]),
            status("gdp_quality", &["gdp"]),
            status("people_status", &["gdp"]),
            status("area_status", &["area"]),
        ]),
        [
            found("OBS_STATUS", Some(4), Some(3)),
            found("OBS_STATUS_", Some(5), None),
            found("GDP_QUALITY", Some(6), None),
            found("PEOPLE_STATUS", Some(7), None),
        ],
        "one of each measure, and none of a measure that was not selected"
    );
    assert_eq!(
        with(vec![status("gdp_status", &["gdp"]), status("status", &["gdp", "people"])]),
        [found("OBS_STATUS", Some(3), None), found("STATUS", Some(4), Some(4))],
        "structures are not told of which ones it speaks"
    );
}

#[test]
fn statuses_have_the_same_ids_whatever_columns_are_sent_contract_19() {
    let columns = [
        column("date", "date", ValueType::Date),
        column("people", "value", ValueType::Integer),
        status("status", &["gdp", "people"]),
        status("people_conf_status", &["people"]),
    ];
    let all = [
        ("gdp_status", vec!["gdp"]),
        ("status", vec!["gdp", "people"]),
        ("people_conf_status", vec!["people"]),
    ];
    let ids = |statuses: &[(&'static str, Vec<&'static str>)]| {
        let statuses = statuses.iter().cloned();
        let found = Structure::with_statuses(&columns, statuses, &["date"], true).unwrap();
        found.attributes.into_iter().map(|attribute| attribute.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(&all), ["STATUS", "CONF_STATUS"], "one that is not sent has the id");
    assert_eq!(ids(&all[1..]), ["OBS_STATUS", "CONF_STATUS"]);
}

#[test]
fn other_tables_are_no_dataflows_contract_19() {
    let decline = |columns: &[Column<'_>], key: &[&str]| {
        Structure::new(columns, key, false).unwrap_err().to_string()
    };
    let columns = long();
    assert!(decline(&columns, &[]).contains("no primary key"));
    assert!(decline(&columns, &["market"]).contains("name `market` in `columns` too"));
    assert!(decline(&columns[..5], &["date"]).contains("no column of values"));
    let odd = [column("a b", "key", ValueType::Text), column("price", "value", ValueType::Number)];
    assert!(decline(&odd, &["a b"]).contains("`a b` has no id"));
    let structure = Structure::new(&columns, &["date", "region"], false).unwrap();
    assert_eq!(structure.check_codes(|_| Some(MAX_CODES)), Ok(()));
    let many = Err(Decline::ManyValues("REGION".to_owned()));
    assert_eq!(structure.check_codes(|_| Some(MAX_CODES + 1)), many);
    assert_eq!(structure.check_codes(|_| None), many);
}

#[test]
fn the_measure_has_a_type_that_holds_all_values_contract_19() {
    for (types, common) in [
        ([ValueType::Integer, ValueType::Integer], ValueType::Integer),
        ([ValueType::Integer, ValueType::Number], ValueType::Number),
        ([ValueType::Boolean, ValueType::Number], ValueType::Text),
    ] {
        let [one, two] = types;
        let columns =
            [column("id", "key", one), column("a", "value", one), column("b", "value", two)];
        assert_eq!(Structure::new(&columns, &["id"], true).unwrap().value_type, common);
    }
}
