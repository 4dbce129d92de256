//! Columns as parts of dataflows.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

fn column<'a>(name: &'a str, role: &str, value_type: ValueType) -> Column<'a> {
    Column { name, role: Role::parse(role), value_type, of: Vec::new(), codes: "own" }
}

fn status<'a>(name: &'a str, of: &[&'a str], codes: &'a str) -> Column<'a> {
    Column { of: of.to_vec(), codes, ..column(name, "status", ValueType::Text) }
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
fn a_status_with_codes_of_sdmx_is_the_status_of_its_observations_contract_19() {
    let with = |further: Vec<Column<'static>>| {
        let mut columns = vec![
            column("date", "date", ValueType::Date),
            column("gdp", "value", ValueType::Number),
            column("people", "value", ValueType::Integer),
        ];
        columns.extend(further);
        Structure::new(&columns, &["date"], true).unwrap().attributes
    };
    let one = with(vec![status("flag", &[], "sdmx-obs"), status("secret", &[], "sdmx-conf")]);
    assert_eq!((&*one[0].id, &*one[1].id), ("OBS_STATUS", "CONF_STATUS"));
    assert_eq!((one[0].column(0), one[0].column(1)), (Some(3), Some(3)));
    let each = with(vec![
        status("people_flag", &["people"], "sdmx-obs"),
        status("gdp_flag", &["gdp"], "sdmx-obs"),
        status("gdp_second", &["gdp"], "sdmx-obs"),
        status("note", &["flag"], "sdmx-obs"),
    ]);
    let found: Vec<_> = each.iter().map(|one| (&*one.id, one.column(0), one.column(1))).collect();
    assert_eq!(
        found,
        [
            ("OBS_STATUS", Some(4), Some(3)),
            ("GDP_SECOND", Some(5), None),
            ("NOTE", Some(6), Some(6)),
        ]
    );
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
