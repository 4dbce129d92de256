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
            "MULTIPOLYGON (((179 -1,180 -1,180 1,179 1,179 -1)),((-180 -1,-179 -1,-179 1,-180 1,-180 -1)))",
        ),
        ("null", "null"),
    ] {
        assert_eq!(wkt(geometry).as_deref(), Ok(expected), "{geometry}");
    }
}

#[test]
fn polygons_of_one_geometry_are_cut_one_by_one_contract_7() {
    let ring = "[[[179,-1],[181,-1],[181,1],[179,1],[179,-1]]]";
    let parts = "((179 -1,180 -1,180 1,179 1,179 -1)),((-180 -1,-179 -1,-179 1,-180 1,-180 -1))";
    let twice = format!(r#"{{"type":"MultiPolygon","coordinates":[{ring},{ring}]}}"#);
    assert_eq!(wkt(&twice), Ok(format!("MULTIPOLYGON ({parts},{parts})")));
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
        (
            r#"{"type":"Polygon","coordinates":[[],[[0,0],[1,0],[1,1],[0,0]]]}"#,
            "has a polygon with holes and no outer ring",
        ),
        (r#"{"type":"LineString","coordinates":[[0,0]]}"#, "has a line of one position"),
        (r#"{"type":"Point","coordinates":[[0,0]]}"#, "without longitude and latitude"),
        (r#"{"type":"Polygon","coordinates":[0,0]}"#, "not nested as its type wants"),
        (r#"{"type":"Point","coordinates":[0]}"#, "without longitude and latitude"),
        (r#"{"type":"Point","coordinates":[0,91]}"#, "has the latitude 91"),
        (r#"{"type":"Point","coordinates":[0,90.000001]}"#, "has the latitude 90.000001"),
        (
            r#"{"type":"Polygon","coordinates":[[[170,0],[190,9],[190,0],[170,9],[170,0]]]}"#,
            "the geometry goes beyond 180 degrees and crosses itself",
        ),
        (r#"{"type":"Point","coordinates":[1758000,5900000]}"#, "has the latitude 5900000"),
        (r#"{"type":"Point","coordinates":[541,0]}"#, "has the longitude 541"),
        (r#"{"type":"Point","coordinates":[1e999,0]}"#, "is too large for a coordinate"),
        (r#"{"type":"Point","coordinates":["1",0]}"#, "is no coordinate"),
        (r#"{"type":"GeometryCollection","geometries":[]}"#, "is a GeometryCollection"),
        (r#"{"type":"Circle","coordinates":[]}"#, "has the type \"Circle\""),
        (r#"{"coordinates":[1,2]}"#, "has no type"),
        (r#""POINT (174 -41)""#, "$.features[0].geometry: is no object"),
        ("[174,-41]", "$.features[0].geometry: is no object"),
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
    let worded = collection(&[(r#""x""#, "null")]);
    assert!(refused(&worded, &integer).contains("$.features[0].properties: is no object"));
    assert!(refused(r#"{"type":"Feature"}"#, &[]).contains("is a FeatureCollection"));
    assert!(refused(r#"{"features":[]}"#, &[]).starts_with("$.type: is missing"));
    let utf_16: Vec<u8> = features.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let refusal = read::<GeoJsonReader>(&utf_16, &integer, &[]).unwrap_err().to_string();
    assert!(refusal.contains("is UTF-16, not UTF-8"), "{refusal}");
    let projected = features.replace(
        "\"features\"",
        r#""crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::2193"}},"features""#,
    );
    assert!(refused(&projected, &integer).contains("transform the file to WGS 84"));
}

#[test]
fn a_pole_missed_by_rounding_is_the_pole_contract_7() {
    for (geometry, expected) in [
        (r#"{"type":"Point","coordinates":[0,-90.00000000000001]}"#, "MULTIPOINT ((0 -90))"),
        (
            r#"{"type":"Point","coordinates":[180.00000000000003,90.0000000001]}"#,
            "MULTIPOINT ((180 90))",
        ),
        (
            r#"{"type":"Polygon","coordinates":[[[0,0],[3e-15,0],[3e-15,1],[0,0]]]}"#,
            "MULTIPOLYGON (((0 0,0.000000000000003 0,0.000000000000003 1,0 0)))",
        ),
    ] {
        assert_eq!(wkt(geometry).as_deref(), Ok(expected), "{geometry}");
    }
}

/// A collection with members of its own before and behind its features.
fn with_members(before: &str, features: &str, behind: &str) -> Result<ReadTable, String> {
    let text = format!(r#"{{{before}"type":"FeatureCollection","features":[{features}]{behind}}}"#);
    let requests = [request("geometry_wkt", RequestedType::Text)];
    read::<GeoJsonReader>(text.as_bytes(), &requests, &[]).map_err(|refusal| refusal.to_string())
}

const POINT: &str =
    r#"{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[1,2]}}"#;

#[test]
fn a_reference_system_other_than_wgs_84_is_refused_in_every_form_contract_7() {
    let foreign = "transform the file to WGS 84";
    for (system, expected) in [
        (r#"{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}}"#, None),
        (
            r#"{"properties":{"name":"http://www.opengis.net/def/crs/OGC/1.3/CRS84"},"type":"name"}"#,
            None,
        ),
        (r#"{"type":"EPSG","properties":{"code":4326}}"#, None),
        (r#"{"type":"OGC","properties":{"urn":"urn:ogc:def:crs:OGC:1.3:CRS84"}}"#, None),
        (r#""EPSG:4326""#, None),
        ("null", None),
        (r#"{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::2193"}}"#, Some(foreign)),
        (
            r#"{"type":"EPSG","properties":{"code":4272}}"#,
            Some("$.crs.properties.code: is \"4272\""),
        ),
        (r#"{"type":"EPSG","properties":{"code":"4272"}}"#, Some(foreign)),
        (
            r#"{"type":"link","properties":{"href":"http://example.com/crs/42","type":"proj4"}}"#,
            Some("$.crs.properties.href"),
        ),
        (r#"{"type":"link","properties":{}}"#, Some("$.crs: names no reference system")),
        (r#"{"type":"name","properties":{"name":null}}"#, Some("names no reference system")),
        ("{}", Some("names no reference system")),
        (r#""EPSG:2193""#, Some(foreign)),
        ("[]", Some("$.crs: is no reference system; where the file is WGS 84")),
        (r#"["EPSG:2193"]"#, Some("$.crs: is no reference system")),
        (r#"[{"type":"name","properties":{"name":"EPSG:4326"}}]"#, Some("is no reference system")),
        ("true", Some("$.crs: is no reference system")),
        ("false", Some("$.crs: is no reference system")),
        ("4326", Some("$.crs: is no reference system")),
        (r#""urn:ogc:def:crs,crs:EPSG::2193,crs:EPSG::4326""#, Some(foreign)),
        (r#"{"type":"name","properties":{"name":"NZGD2000 CRS84"}}"#, Some(foreign)),
    ] {
        let crs = format!(r#""crs":{system}"#);
        let geometry = r#""geometry":{"#;
        for (read, place) in [
            (with_members(&format!("{crs},"), POINT, ""), "$.crs"),
            (with_members("", POINT, &format!(",{crs}")), "$.crs"),
            (
                with_members("", &POINT.replacen('{', &format!("{{{crs},"), 1), ""),
                "$.features[0].crs",
            ),
            (
                with_members("", &POINT.replace(geometry, &format!("{geometry}{crs},")), ""),
                "$.features[0].geometry.crs",
            ),
        ] {
            match expected {
                None => assert_eq!(read.unwrap().rows.len(), 1, "{system}"),
                Some(expected) => {
                    let refused = read.unwrap_err();
                    let expected = expected.replace("$.crs", place);
                    assert!(refused.contains(&expected), "{refused}");
                }
            }
        }
    }
    let property = POINT.replace(r#""properties":{"#, r#""properties":{"crs":"EPSG:2193""#);
    assert_eq!(with_members("", &property, "").unwrap().rows.len(), 1, "a property");
}

#[test]
fn a_page_of_a_service_is_refused_contract_7() {
    for member in [
        r#""exceededTransferLimit":true"#,
        r#""properties":{"exceededTransferLimit":true}"#,
        r#""numberMatched":2,"numberReturned":1"#,
        r#""numberMatched":2"#,
        r#""totalFeatures":2"#,
        r#""context":{"matched":2,"returned":1}"#,
        r#""links":[{"rel":"self","href":"a"},{"href":"b","rel":"next"}]"#,
        r#""links":[{"rel":"prev","href":"a"}]"#,
        r#""count":1,"next":null,"previous":"http://example.com/?page=1""#,
        r#""numberMatched":"2""#,
        r#""totalFeatures":"2","numberMatched":"unknown""#,
        r#""context":{"matched":"2"}"#,
        r#""exceededTransferLimit":"true""#,
        r#""properties":{"exceededTransferLimit":"True"}"#,
        r#""links":{"self":"a","next":"b"}"#,
        r#""links":{"next":{"href":"b"}}"#,
        r#""_links":{"next":{"href":"b"}}"#,
        r#""_links":{"prev":"b"}"#,
        r#""_links":{"next":[{"href":"b"}]}"#,
        r#""links":[{"href":"b","rel":["last","next"]}]"#,
        r#""links":[{"href":"b","rel":"last next"}]"#,
        r#""next":{"href":"b"}"#,
    ] {
        for read in [
            with_members(&format!("{member},"), POINT, ""),
            with_members("", POINT, &format!(",{member}")),
        ] {
            let refused = read.unwrap_err();
            assert!(refused.contains("is one page of a service's answer; join"), "{refused}");
        }
    }
    for member in [
        r#""exceededTransferLimit":false"#,
        r#""properties":{"exceededTransferLimit":false}"#,
        r#""numberMatched":1,"numberReturned":1,"totalFeatures":"unknown""#,
        r#""links":[{"rel":"self","href":"a"},{"rel":"collection","href":"b"}]"#,
        r#""count":1,"next":null,"previous":null"#,
        r#""numberMatched":"1","exceededTransferLimit":"false""#,
        r#""links":{"self":"a","next":null,"prev":[]},"_links":{"self":{"href":"a","title":"next"}}"#,
        r#""links":[{"rel":["self","collection"],"href":"next"}]"#,
    ] {
        assert_eq!(
            with_members(&format!("{member},"), POINT, "").unwrap().rows.len(),
            1,
            "{member}"
        );
    }
    let properties = r#""properties":{"next":"b","numberMatched":9,"exceededTransferLimit":true"#;
    let own = POINT.replace(r#""properties":{"#, properties);
    assert_eq!(with_members("", &own, "").unwrap().rows.len(), 1, "properties of a feature");
}

#[test]
fn a_property_is_found_behind_any_number_of_others_contract_7() {
    let others: Vec<String> = (0..1_500).map(|at| format!(r#""p{at}":{at}"#)).collect();
    let properties = format!(r#"{{{},"name":"a","NAME":"b"}}"#, others.join(","));
    let text = collection(&[(&properties, "null"), (&properties, "null")]);
    let mut requested = request("name", RequestedType::Text);
    let refused = read::<GeoJsonReader>(text.as_bytes(), &[requested.clone()], &[]).unwrap_err();
    assert!(
        refused.to_string().contains("is a second property for the column name, which has name")
    );
    requested.source = Some("NAME".to_owned());
    assert_eq!(table(&text, &[requested]).column("name"), [Some("b"), Some("b")]);
    let only = text.replace(r#","NAME":"b""#, "");
    let rows = table(&only, &[request("name", RequestedType::Text)]);
    assert_eq!(rows.column("name"), [Some("a"), Some("a")]);
}

#[test]
fn a_property_called_as_a_member_of_the_feature_has_a_name_of_its_own_contract_7() {
    let text = r#"{"type":"FeatureCollection","features":[{"type":"Feature","id":7,
        "properties":{"geometry":"rough","geometry_wkt":"text","id":"own"},
        "geometry":{"type":"Point","coordinates":[1,2]}}]}"#;
    let requests = [
        ("shape", "properties.geometry"),
        ("text", "properties.geometry_wkt"),
        ("own_id", "properties.id"),
        ("feature_id", "feature.id"),
        ("id", "id"),
        ("geometry_wkt", "geometry"),
        ("place", "feature.geometry"),
    ]
    .map(|(name, source)| {
        let mut requested = request(name, RequestedType::Text);
        requested.source = Some(source.to_owned());
        requested
    });
    let point = Some("MULTIPOINT ((1 2))");
    let expected = [Some("rough"), Some("text"), Some("own"), Some("7"), Some("own"), point, point];
    let read = table(text, &requests);
    for (request, expected) in requests.iter().zip(expected) {
        assert_eq!(read.column(&request.name), [expected], "{request:?}");
    }
    // What is missing is listed under names that can be asked for.
    let refused =
        self::read::<GeoJsonReader>(text.as_bytes(), &[request("x", RequestedType::Text)], &[]);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.ends_with(
        "properties.geometry, properties.geometry_wkt, id, feature.geometry_wkt, feature.geometry"
    ), "{refused}");
    // Without requests, each column has a name of its own.
    let text = text.replace(r#""geometry_wkt":"text","#, "");
    let all = table(&text, &[]);
    assert_eq!(all.column("geometry"), [Some("rough")]);
    assert_eq!(all.column("geometry_wkt"), [point]);
}

#[test]
fn nesting_has_a_bound() {
    let deep = format!(r#"{{"type":"Polygon","coordinates":{}}}"#, "[".repeat(100_000));
    assert!(wkt(&deep).unwrap_err().contains("deeper than 64"));
}
