//! Texts that are geometry that may be published (spec-2.2-geometry), and the fault that is named
//! for others.

use proptest::prelude::*;

use super::*;

fn fault(text: &str) -> String {
    check(text, &mut GeometryBounds::default())
        .map_or_else(|why| why.to_string(), |()| "none".to_owned())
}

fn bbox(text: &str) -> Option<[f64; 4]> {
    let mut bounds = GeometryBounds::default();
    assert_eq!(check(text, &mut bounds), Ok(()), "{text}");
    bounds.finish()
}

#[test]
fn multi_forms_are_taken_spec_2_2() {
    assert_eq!(bbox("MULTIPOINT ((1 2), (3.5 -4e0))"), Some([1.0, -4.0, 3.5, 2.0]));
    assert_eq!(bbox("MULTIPOINT(1 2,3 4)"), Some([1.0, 2.0, 3.0, 4.0]));
    assert_eq!(bbox("MULTILINESTRING ((0 0, 1 1), (5 5 , 6 6))"), Some([0.0, 0.0, 6.0, 6.0]));
    assert_eq!(
        bbox(
            "MULTIPOLYGON (((0 0, 4 0, 4 4, 0 0), (1 1, 2 1, 2 2, 1 1)), ((-9 0, -8 0, -8 1, -9 0)))"
        ),
        Some([-9.0, 0.0, 4.0, 4.0])
    );
    assert_eq!(bbox("MULTIPOLYGON EMPTY"), None);
    assert_eq!(bbox("MULTIPOINT (EMPTY, (1 2))"), Some([1.0, 2.0, 1.0, 2.0]));
    assert_eq!(bbox("MULTIPOLYGON (EMPTY, ((0 0, 4 0, 4 4, 0 0)))"), Some([0.0, 0.0, 4.0, 4.0]));
    assert_eq!(
        bbox("MULTIPOINT ((-180 -90), (-179 90))"),
        Some([-180.0, -90.0, -179.0, 90.0]),
        "the ends of the range belong to it"
    );
    assert_eq!(bbox("MULTIPOINT ((180 -90), (179 90))"), Some([179.0, -90.0, 180.0, 90.0]));
}

#[test]
fn a_ring_that_crosses_itself_is_served_as_published() {
    assert!(bbox("MULTIPOLYGON (((0 0, 1 1, 1 0, 0 1, 0 0)))").is_some());
}

#[test]
fn other_forms_are_refused_with_advice() {
    for text in [
        "",
        "POINT (1 2)",
        "POLYGON ((0 0, 1 0, 1 1, 0 0))",
        "multipoint ((1 2))",
        "MULTIPOINT Z ((1 2 3))",
        "MULTIPOINTS ((1 2))",
        "SRID=4326;MULTIPOINT ((1 2))",
        "GEOMETRYCOLLECTION EMPTY",
        " MULTIPOINT ((1 2))",
        "MULTIPOINT",
        "MULTIPOINT EMPTY EMPTY",
    ] {
        assert!(
            fault(text).contains("write MULTIPOINT, MULTILINESTRING or MULTIPOLYGON"),
            "{text}: {}",
            fault(text)
        );
    }
}

#[test]
fn what_is_malformed_is_named_with_its_place() {
    for (text, expected) in [
        ("MULTIPOINT ((1 2)", "at byte 17: expected `,` or `)`"),
        ("MULTIPOINT ((1 2)) x", "at byte 19: expected the end"),
        ("MULTIPOINT ((1))", "at byte 14: expected a space and a latitude"),
        ("MULTIPOINT ((1,2))", "expected a space and a latitude"),
        ("MULTIPOINT ((1 2 3))", "expected `)`"),
        ("MULTIPOINT ((a 2))", "expected a longitude"),
        ("MULTIPOINT ((1 nan))", "expected a latitude"),
        ("MULTIPOINT ((inf 2))", "expected a longitude"),
        ("MULTIPOINT ((1 --2))", "expected a latitude"),
        ("MULTIPOINT ()", "expected a longitude"),
        ("MULTIPOLYGON ((0 0, 1 0, 1 1, 0 0))", "expected `(`"),
        ("MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0))) )", "expected the end"),
        ("MULTIPOLYGON ((((0 0, 1 0, 1 1, 0 0))))", "expected a longitude"),
        ("MULTIPOINT ((181 2))", "longitude 181 outside -180..180"),
        (
            "MULTIPOINT ((-41.3 174.8))",
            "latitude 174.8 outside -90..90; coordinates are degrees (EPSG:4326), longitude first",
        ),
        (
            "MULTIPOINT ((0 -90.00000000000001))",
            "latitude -90.00000000000001 outside -90..90; round it to eight decimals",
        ),
        ("MULTIPOINT ((180.00000000000003 2))", "-180..180; round it to eight decimals"),
        ("MULTIPOINT ((1e999 2))", "longitude inf outside"),
        (
            "MULTIPOLYGON (((0 0, 1 0, 0 0)))",
            "has a ring of 3 points at byte 30; it needs at least 4",
        ),
        ("MULTIPOLYGON (((0 0, 1 0, 1 1, 0 1)))", "does not end where it starts"),
        ("MULTILINESTRING ((0 0))", "has a line of 1 points"),
    ] {
        let found = fault(text);
        assert!(found.contains(expected), "{text}\n  found    {found}\n  expected {expected}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(MULTIPOINT|MULTIPOLYGON|MULTILINESTRING)( ?EMPTY|[(), 0-9.eE+é-]{0,40})") {
        let mut bounds = GeometryBounds::default();
        let read = check(&text, &mut bounds).is_ok();
        if let Some(bbox) = bounds.finish().filter(|_| read) {
            prop_assert!(bbox.iter().all(|side| side.is_finite()), "{}", text);
        }
    }
}
