//! RFC 7946, as far as datasets meet it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use geojson::FeatureCollection;
use yearbook_geojson::GeoJsonEncoder;
use yearbook_sdk::testing::{Table, batches_for, conformance, encode};
use yearbook_sdk::{Error, Values};

fn text(table: &Table) -> String {
    String::from_utf8(encode::<GeoJsonEncoder>(table, &[]).unwrap()).unwrap()
}

fn placed(geometries: &[Option<&str>]) -> Table {
    Table::new().text("shape", geometries).about("shape", "yearbook.role", "geometry")
}

/// The geometry object of one text.
fn geometry(wkt: &str) -> String {
    let text = text(&placed(&[Some(wkt)]));
    let object = text
        .strip_prefix(r#"{"type":"FeatureCollection","features":[{"type":"Feature","geometry":"#);
    object
        .and_then(|object| object.strip_suffix(r#","properties":null}]}"#))
        .unwrap_or_else(|| panic!("{text}"))
        .to_owned()
}

#[test]
fn conforms() {
    conformance::check::<GeoJsonEncoder>(|bytes| {
        serde_json::from_slice::<FeatureCollection>(bytes).unwrap().features.len()
    });
}

#[test]
fn a_row_is_a_feature_and_credit_stands_beside_them() {
    let table = Table::new()
        .text("name", &[Some("two\nlines"), None])
        .dictionary("shape", &[Some("POINT (174.76 -36.85)"), None])
        .numbers("value", &[Some(f64::NAN), Some(1.5)])
        .about("shape", "yearbook.role", "geometry")
        .metadata("yearbook.licence", "CC-BY-4.0")
        .metadata("yearbook.attribution", "\"A\"");
    assert_eq!(
        text(&table),
        r#"{"type":"FeatureCollection","licence":"CC-BY-4.0","attribution":"\"A\"","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[174.76,-36.85]},"properties":{"name":"two\nlines","value":null}},{"type":"Feature","geometry":null,"properties":{"name":null,"value":1.5}}]}"#
    );
}

#[test]
fn long_properties_stay_with_the_host_and_stand_where_they_belong() {
    let story = |row: usize| format!("{row} {}", "Tāmaki Makaurau ".repeat(20 + row));
    let texts: Vec<_> = (0..7).map(|row| (row % 3 != 1).then(|| story(row))).collect();
    let table = |texts: &[Option<String>]| {
        Table::new()
            .text("before", texts)
            .text("shape", &vec![Some(format!("POINT ({} 1)", "1".repeat(200))); 7])
            .dictionary("behind", texts)
            .integers("n", &[Some(1); 7])
            .about("shape", "yearbook.role", "geometry")
            .batches_of(3)
    };
    let expected = |texts: &[Option<String>]| {
        let features: Vec<_> = texts
            .iter()
            .map(|text| {
                let text = serde_json::to_string(text).unwrap();
                format!(
                    r#"{{"type":"Feature","geometry":{{"type":"Point","coordinates":[{},1]}},"properties":{{"before":{text},"behind":{text},"n":1}}}}"#,
                    "1".repeat(200)
                )
            })
            .collect();
        format!(r#"{{"type":"FeatureCollection","features":[{}]}}"#, features.join(","))
    };
    let held: Vec<_> = batches_for::<GeoJsonEncoder>(&table(&texts))
        .unwrap()
        .iter()
        .flat_map(|batch| [0, 1].map(|at| matches!(batch.column(at).values, Values::Held(_))))
        .collect();
    assert_eq!(held, [true, false].repeat(3), "the geometry crosses");
    assert_eq!(text(&table(&texts)), expected(&texts));
    // One text that needs an escape: its batch crosses whole, and the bytes are as ever.
    let mut escaped = texts.clone();
    escaped[0] = Some(format!("\"{}", "long ".repeat(90)));
    assert_eq!(text(&table(&escaped)), expected(&escaped));
}

#[test]
fn every_kind_of_geometry_has_its_form_and_empty_parts_are_left_out_contract_3() {
    for (wkt, expected) in [
        ("POINT(1 2)", r#"{"type":"Point","coordinates":[1,2]}"#),
        ("POINT EMPTY", r#"{"type":"Point","coordinates":[]}"#),
        (
            " lineString ( 1.0 2.50,\n3 4 ) ",
            r#"{"type":"LineString","coordinates":[[1.0,2.50],[3,4]]}"#,
        ),
        ("MULTIPOINT (1 2, (3 4), EMPTY)", r#"{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}"#),
        ("MULTIPOINT (EMPTY, 1 2)", r#"{"type":"MultiPoint","coordinates":[[1,2]]}"#),
        ("MULTIPOINT (EMPTY)", r#"{"type":"MultiPoint","coordinates":[]}"#),
        (
            "MULTILINESTRING (EMPTY, (1 2, 3 4), EMPTY, EMPTY)",
            r#"{"type":"MultiLineString","coordinates":[[[1,2],[3,4]]]}"#,
        ),
        ("MULTILINESTRING (EMPTY, EMPTY)", r#"{"type":"MultiLineString","coordinates":[]}"#),
        ("MULTIPOLYGON EMPTY", r#"{"type":"MultiPolygon","coordinates":[]}"#),
        (
            "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), EMPTY)",
            r#"{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]]]}"#,
        ),
        (
            "MULTIPOLYGON (EMPTY, ((0 0, 1 0, 1 1, 0 0), EMPTY), (EMPTY), ((5 5, 6 5, 6 6, 5 5)))",
            r#"{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]],[[[5,5],[6,5],[6,6],[5,5]]]]}"#,
        ),
        ("POLYGON (EMPTY)", r#"{"type":"Polygon","coordinates":[]}"#),
        (
            "GEOMETRYCOLLECTION (POINT (1 2), MULTIPOLYGON (EMPTY), GEOMETRYCOLLECTION EMPTY)",
            r#"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},{"type":"MultiPolygon","coordinates":[]},{"type":"GeometryCollection","geometries":[]}]}"#,
        ),
    ] {
        assert_eq!(geometry(wkt), expected, "{wkt}");
    }
}

#[test]
fn rings_are_turned_to_follow_the_right_hand_rule_rfc_7946_3_1_6() {
    let clockwise = "POLYGON ((0 0, 0 9, 9 9, 9 0, 0 0), (1 1, 2 1, 2 2, 1 1))";
    let turned = r#"{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,9],[0,0]],[[1,1],[2,2],[2,1],[1,1]]]}"#;
    assert_eq!(geometry(clockwise), turned);
    let counterclockwise = "POLYGON ((0 0, 9 0, 9 9, 0 9, 0 0), (1 1, 2 2, 2 1, 1 1))";
    assert_eq!(geometry(counterclockwise), turned);
    // Each polygon has an outer ring of its own, and a ring without area is left alone.
    assert_eq!(
        geometry(
            "MULTIPOLYGON (((0 0, 0 1, 1 1, 0 0)), ((5 5, 5 6, 6 6, 5 5)), ((0 0, 1 1, 2 2, 0 0)))"
        ),
        r#"{"type":"MultiPolygon","coordinates":[[[[0,0],[1,1],[0,1],[0,0]]],[[[5,5],[6,6],[5,6],[5,5]]],[[[0,0],[1,1],[2,2],[0,0]]]]}"#
    );
    // Far from the origin the area is smaller than what a product of two coordinates can hold.
    assert_eq!(
        geometry(
            "POLYGON ((179.9999999 -36, 179.9999999 -35.9999999, 180 -35.9999999, 179.9999999 -36))"
        ),
        r#"{"type":"Polygon","coordinates":[[[179.9999999,-36],[180,-35.9999999],[179.9999999,-35.9999999],[179.9999999,-36]]]}"#
    );
}

#[test]
fn digits_are_copied_and_numbers_without_a_form_in_json_get_one() {
    for (number, expected) in [
        ("174.7600000000000001", "174.7600000000000001"),
        ("-0.0", "-0.0"),
        ("+1", "1"),
        (".5", "0.5"),
        ("-.5", "-0.5"),
        ("1.", "1"),
        ("007.50", "7.50"),
        ("1E-7", "1e-7"),
        ("1.e+2", "1e+2"),
    ] {
        assert_eq!(
            geometry(&format!("POINT ({number} 0)")),
            format!(r#"{{"type":"Point","coordinates":[{expected},0]}}"#)
        );
    }
}

#[test]
fn what_is_not_wkt_of_two_dimensions_is_an_error_and_nothing_panics() {
    let deep = format!("{}POINT (1 2){}", "GEOMETRYCOLLECTION (".repeat(100), ")".repeat(100));
    for wkt in [
        "",
        "POINT",
        "POINT (",
        "POINT (1",
        "POINT (1 2",
        "POINT (1 2) x",
        "POINT (1 2 3)",
        "POINT Z (1 2 3)",
        "POINT (1 2, 3 4)",
        "CIRCLE (1 2)",
        "POINT (- 2)",
        "POINT (1.2.3 4)",
        "POINT (1e 2)",
        "POINT (e5 2)",
        "POINT (--1 2)",
        "POLYGON (0 0)",
        "POLYGON ((0 0, 1e999 1, 0 0))",
        "MULTIPOINT ((1 2, 3 4))",
        "SRID=4326;POINT (1 2)",
        "POINT (é 2)",
        &deep,
    ] {
        let bytes = encode::<GeoJsonEncoder>(&placed(&[Some(wkt)]), &[]);
        assert!(matches!(bytes, Err(Error::Internal(_))), "{wkt}: {bytes:?}");
    }
}

#[test]
fn a_table_without_geometry_is_declined_with_what_to_do() {
    let declined = encode::<GeoJsonEncoder>(&Table::new().integers("a", &[Some(1)]), &[]);
    assert!(
        matches!(declined, Err(Error::UnsupportedSchema(said)) if said.contains("geometry=false") && said.contains("format=json"))
    );
}
