//! Members of features that are there twice, and ids that features have in two places.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_read_geojson::GeoJsonReader;
use yearbook_sdk::reader::{ColumnRequest, RequestedType};
use yearbook_sdk::testing::reading::{ReadTable, read, request};

/// The table of features with these members beside their type.
fn features(features: &[&str], requests: &[ColumnRequest]) -> Result<ReadTable, String> {
    let features: Vec<String> =
        features.iter().map(|members| format!(r#"{{"type":"Feature",{members}}}"#)).collect();
    table(&format!(r#""type":"FeatureCollection","features":[{}]"#, features.join(",")), requests)
}

fn table(members: &str, requests: &[ColumnRequest]) -> Result<ReadTable, String> {
    let text = format!("{{{members}}}");
    read::<GeoJsonReader>(text.as_bytes(), requests, &[]).map_err(|refusal| refusal.to_string())
}

fn from(name: &str, source: &str) -> ColumnRequest {
    let mut requested = request(name, RequestedType::Text);
    requested.source = Some(source.to_owned());
    requested
}

#[test]
fn a_member_that_is_there_twice_is_refused_with_its_place_contract_7() {
    let plain = r#""properties":{"v":1},"geometry":null"#;
    let asked = [request("v", RequestedType::Integer)];
    for (members, place) in [
        (r#""properties":{"v":1,"v":2},"geometry":null"#, ".properties.v"),
        (r#""properties":{"v":null,"w":3,"v":2},"geometry":null"#, ".properties.v"),
        (r#""id":1,"id":2,"properties":{"v":1},"geometry":null"#, ".id"),
        (r#""id":null,"properties":{"v":1},"id":2"#, ".id"),
        (r#""properties":{"v":1},"geometry":null,"properties":{"w":1}"#, ".properties"),
        (r#""properties":null,"properties":{"v":1}"#, ".properties"),
        (r#""properties":{"v":1},"type":"Feature""#, ".type"),
        (
            r#""properties":{"v":1},"geometry":null,"geometry":{"type":"Point","coordinates":[1,2]}"#,
            ".geometry",
        ),
        (
            r#""properties":{"v":1},"geometry":{"type":"LineString","coordinates":[1,2],"type":"Point"}"#,
            ".geometry.type",
        ),
        (
            r#""properties":{"v":1},"geometry":{"type":"Point","coordinates":[],"coordinates":[]}"#,
            ".geometry.coordinates",
        ),
    ] {
        for requests in [&asked[..], &[]] {
            for (all, at) in [([members, plain], 0), ([plain, members], 1)] {
                let refused = features(&all, requests).unwrap_err();
                let expected = format!("$.features[{at}]{place}: is there twice");
                assert!(refused.contains(&expected), "{refused}\n{expected}");
            }
        }
    }
    let feature = format!(r#"{{"type":"Feature",{plain}}}"#);
    for (members, place) in [
        (format!(r#""type":"FeatureCollection","features":[],"features":[{feature}]"#), "features"),
        (
            format!(
                r#""type":"FeatureCollection","features":[{feature}],"type":"FeatureCollection""#
            ),
            "type",
        ),
    ] {
        let refused = table(&members, &asked).unwrap_err();
        assert!(refused.contains(&format!("$.{place}: is there twice")), "{refused}");
    }
}

#[test]
fn names_that_features_and_their_values_share_are_not_twice_contract_7() {
    let members = r#""id":1,"properties":{"v":1,"type":"a","id":2,"features":3,"geometry":{"type":1},"o":{"v":2,"v":3}},
        "geometry":{"type":"Point","coordinates":[1,2]}"#;
    let requests = [from("v", "v"), from("again", "properties.v"), from("type", "type")];
    let read = features(&[members, members], &requests).unwrap();
    assert_eq!(read.column("v"), [Some("1"), Some("1")]);
    assert_eq!(read.column("again"), [Some("1"), Some("1")]);
    assert_eq!(read.column("type"), [Some("a"), Some("a")]);
}

#[test]
fn an_id_means_one_thing_in_all_features_contract_7() {
    let own = r#""id":"f1","properties":{"v":1}"#;
    let property = r#""properties":{"v":1,"id":"p2"}"#;
    let both = r#""id":"f3","properties":{"id":"p3"}"#;
    let neither = r#""properties":{"v":1}"#;
    let advice = "write properties.id or feature.id in `yearbook.source_columns`";
    let id = [request("id", RequestedType::Text)];
    for (all, expected) in [
        ([own, property], "$.features[1].properties.id: is a second meaning of the column id"),
        ([own, both], "$.features[1].properties.id: is a second meaning of the column id"),
        ([property, own], "$.features[1]: has an id and no property id for the column id"),
        ([both, own], "$.features[1]: has an id and no property id for the column id"),
    ] {
        for requests in [&id[..], &[]] {
            let refused = features(&all, requests).unwrap_err();
            assert!(refused.contains(expected) && refused.contains(advice), "{refused}");
        }
        let named = [from("a", "feature.id"), from("b", "properties.id")];
        let read = features(&all, &named).unwrap();
        let value = |members, which| match (members, which) {
            (members, "f") if members == own => Some("f1"),
            (members, "f") if members == both => Some("f3"),
            (members, "p") if members == property => Some("p2"),
            (members, "p") if members == both => Some("p3"),
            _ => None,
        };
        assert_eq!(read.column("a"), all.map(|members| value(members, "f")));
        assert_eq!(read.column("b"), all.map(|members| value(members, "p")));
    }
    for (all, expected) in [
        ([own, neither], [Some("f1"), None]),
        ([neither, own], [None, Some("f1")]),
        ([property, both], [Some("p2"), Some("p3")]),
        ([both, property], [Some("p3"), Some("p2")]),
        ([neither, property], [None, Some("p2")]),
        ([both, r#""id":"f4","properties":{"id":null}"#], [Some("p3"), None]),
    ] {
        assert_eq!(features(&all, &id).unwrap().column("id"), expected, "{all:?}");
    }
}
