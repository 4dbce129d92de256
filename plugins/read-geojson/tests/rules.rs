//! Rules of GeoJSON, read natively; the files are written to RFC 7946.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_read_geojson::GeoJsonReader;
use yearbook_sdk::reader::{ColumnRequest, RequestedType};
use yearbook_sdk::testing::reading::{ReadTable, check, read, request};

fn collection(features: &[(&str, &str)]) -> String {
    let features: Vec<String> = features
        .iter()
        .map(|(properties, geometry)| {
            format!(r#"{{"type":"Feature","properties":{properties},"geometry":{geometry}}}"#)
        })
        .collect();
    format!(r#"{{"type":"FeatureCollection","features":[{}]}}"#, features.join(","))
}

fn table(text: &str, requests: &[ColumnRequest]) -> ReadTable {
    read::<GeoJsonReader>(text.as_bytes(), requests, &[]).unwrap()
}

fn wkt(geometry: &str) -> Result<String, String> {
    let text = collection(&[("{}", geometry)]);
    let requests = [request("geometry_wkt", RequestedType::Text)];
    let read = read::<GeoJsonReader>(text.as_bytes(), &requests, &[]);
    read.map(|table| table.column("geometry_wkt")[0].unwrap_or("null").to_owned())
        .map_err(|refusal| refusal.to_string())
}

#[test]
fn it_holds_what_every_reader_must() {
    check::<GeoJsonReader>();
}

#[test]
fn a_feed_of_an_agency_is_a_table_contract_7() {
    let feed = include_str!("../../../tests/fixtures/agencies/usgs_earthquakes.geojson");
    let requests = [
        request("id", RequestedType::Text),
        request("mag", RequestedType::Number),
        request("place", RequestedType::Text),
        request("time", RequestedType::Integer),
        request("felt", RequestedType::Integer),
        request("geometry_wkt", RequestedType::Text),
    ];
    let read = table(feed, &requests);
    assert_eq!(read.rows.len(), 12);
    assert_eq!(read.column("id")[4], Some("nc72965406"));
    assert_eq!(read.column("place")[5], Some("32km W of Healy, Alaska"));
    assert_eq!(read.column("time")[0], Some("1517966773840"));
    assert_eq!(read.column("felt").iter().flatten().collect::<Vec<_>>(), [&"0", &"46", &"0"]);
    // The depth of an event is its third coordinate.
    assert_eq!(read.column("geometry_wkt")[5], Some("MULTIPOINT ((-149.6259 63.8969))"));
    let magnitudes: f64 =
        read.column("mag").iter().map(|mag| mag.unwrap().parse::<f64>().unwrap()).sum();
    assert!((magnitudes - 26.13).abs() < 1e-9, "{magnitudes}");
}

#[test]
fn every_geometry_becomes_its_multi_form_contract_7() {
    for (geometry, expected) in [
        (r#"{"type":"Point","coordinates":[174.5,-41,12]}"#, "MULTIPOINT ((174.5 -41))"),
        (r#"{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}"#, "MULTIPOINT ((1 2),(3 4))"),
        (r#"{"coordinates":[[1,2],[3,4]],"type":"LineString"}"#, "MULTILINESTRING ((1 2,3 4))"),
        (
            r#"{"type":"MultiLineString","coordinates":[[[1,2],[3,4]]]}"#,
            "MULTILINESTRING ((1 2,3 4))",
        ),
        (
            r#"{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,0]],[[2,1],[3,1],[3,2],[2,1]]]}"#,
            "MULTIPOLYGON (((0 0,9 0,9 9,0 0),(2 1,3 1,3 2,2 1)))",
        ),
        (r#"{"type":"MultiPolygon","coordinates":[]}"#, "MULTIPOLYGON EMPTY"),
        (r#"{"type":"Point","coordinates":[]}"#, "MULTIPOINT EMPTY"),
        (r#"{"type":"Point","coordinates":[190,0]}"#, "MULTIPOINT ((-170 0))"),
        (
            r#"{"type":"Polygon","coordinates":[[[179,-1],[181,-1],[181,1],[179,1],[179,-1]]]}"#,
            "MULTIPOLYGON (((180 1,179 1,179 -1,180 -1,180 1)),((-180 -1,-179 -1,-179 1,-180 1,-180 -1)))",
        ),
        ("null", "null"),
    ] {
        assert_eq!(wkt(geometry).as_deref(), Ok(expected), "{geometry}");
    }
}

#[test]
fn properties_become_columns_of_the_types_that_are_asked_for() {
    let text = collection(&[
        (
            r#"{"NAME":"a","Population 2024":12,"area":1.5,"coastal":true,"extra":{"x":[1]}}"#,
            "null",
        ),
        (r#"{"NAME":null,"area":2}"#, "null"),
    ]);
    let requests = [
        request("name", RequestedType::Text),
        request("population_2024", RequestedType::Integer),
        request("area", RequestedType::Number),
        request("coastal", RequestedType::Boolean),
    ];
    let rows = table(&text, &requests);
    assert_eq!(rows.column("name"), [Some("a"), None]);
    assert_eq!(rows.column("population_2024"), [Some("12"), None]);
    assert_eq!(rows.column("area"), [Some("1.5"), Some("2")]);
    assert_eq!(rows.column("coastal"), [Some("true"), None]);
}

#[test]
fn the_id_of_a_feature_is_a_column() {
    let text = r#"{"features":[{"id":"NZ-1","type":"Feature","geometry":null,"properties":null},
        {"type":"Feature","properties":{},"geometry":null,"id":7}],"type":"FeatureCollection"}"#;
    let rows = table(text, &[request("id", RequestedType::Text)]);
    assert_eq!(rows.column("id"), [Some("NZ-1"), Some("7")]);
}

#[test]
fn geojson_is_refused_with_its_path_contract_7() {
    for (geometry, expected) in [
        (r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1]]]}"#, "has a ring of 3 positions"),
        (
            r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]}"#,
            "does not end where it begins",
        ),
        (r#"{"type":"LineString","coordinates":[[0,0]]}"#, "has a line of one position"),
        (r#"{"type":"Point","coordinates":[[0,0]]}"#, "without longitude and latitude"),
        (r#"{"type":"Polygon","coordinates":[0,0]}"#, "not nested as its type wants"),
        (r#"{"type":"Point","coordinates":[0]}"#, "without longitude and latitude"),
        (r#"{"type":"Point","coordinates":[0,91]}"#, "has the latitude 91"),
        (r#"{"type":"Point","coordinates":[1758000,5900000]}"#, "has the latitude 5900000"),
        (r#"{"type":"Point","coordinates":[541,0]}"#, "has the longitude 541"),
        (r#"{"type":"Point","coordinates":[1e999,0]}"#, "is too large for a coordinate"),
        (r#"{"type":"Point","coordinates":["1",0]}"#, "is no coordinate"),
        (r#"{"type":"GeometryCollection","geometries":[]}"#, "is a GeometryCollection"),
        (r#"{"type":"Circle","coordinates":[]}"#, "has the type \"Circle\""),
        (r#"{"coordinates":[1,2]}"#, "has no type"),
    ] {
        let refused = wkt(geometry).unwrap_err();
        assert!(
            refused.starts_with("line 1, byte ") && refused.contains("$.features[0]"),
            "{refused}"
        );
        assert!(refused.contains(expected), "{refused}");
    }
    let features = collection(&[(r#"{"n":1}"#, "null"), (r#"{"n":"x"}"#, "null")]);
    let integer = [request("n", RequestedType::Integer)];
    let refused = |text: &str, requests: &[ColumnRequest]| {
        read::<GeoJsonReader>(text.as_bytes(), requests, &[]).unwrap_err().to_string()
    };
    assert!(
        refused(&features, &integer)
            .contains("$.features[1].properties.n: \"x\" is not an integer")
    );
    let missing = refused(&features, &[request("m", RequestedType::Text)]);
    assert!(
        missing.starts_with("m: the file has no column \"m\"") && missing.contains(": n, geometry"),
        "{missing}"
    );
    let nested = collection(&[(r#"{"n":[1]}"#, "null")]);
    assert!(refused(&nested, &integer).contains("is an array or an object"));
    assert!(refused(r#"{"type":"Feature"}"#, &[]).contains("is a FeatureCollection"));
    assert!(refused(r#"{"features":[]}"#, &[]).starts_with("$.type: is missing"));
    let projected = features.replace(
        "\"features\"",
        r#""crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::2193"}},"features""#,
    );
    assert!(refused(&projected, &integer).contains("transform the file to WGS 84"));
}

#[test]
fn nesting_has_a_bound() {
    let deep = format!(r#"{{"type":"Polygon","coordinates":{}}}"#, "[".repeat(100_000));
    assert!(wkt(&deep).unwrap_err().contains("deeper than 64"));
}
