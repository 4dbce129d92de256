//! Rules of centroids, as previews and pictures need them.

use super::*;

fn check(text: &str, expected: [f64; 2]) {
    assert_eq!(centroid(text), Ok(Some(expected)), "{text}");
}

#[test]
fn polygons_are_weighted_by_area_contract_9() {
    check("MULTIPOLYGON (((0 0, 4 0, 4 2, 0 2, 0 0)))", [2.0, 1.0]);
    // The other way round, and with a corner that is drawn with many points.
    check("MULTIPOLYGON (((0 0, 0 2, 4 2, 4 0, 3 0, 2 0, 1 0, 0 0)))", [2.0, 1.0]);
    // A part nine times as large pulls nine times as much.
    check(
        "MULTIPOLYGON (((0 0, 3 0, 3 3, 0 3, 0 0)), ((10 0, 11 0, 11 1, 10 1, 10 0)))",
        [2.4, 1.4],
    );
    // A hole in the east moves it to the west, however it turns.
    for hole in ["2 0, 4 0, 4 2, 2 2, 2 0", "2 0, 2 2, 4 2, 4 0, 2 0"] {
        check(&format!("MULTIPOLYGON (((0 0, 4 0, 4 2, 0 2, 0 0), ({hole})))"), [1.0, 1.0]);
    }
    // No area: a line.
    check("MULTIPOLYGON (((0 0, 2 0, 4 0, 0 0)))", [2.0, 0.0]);
}

#[test]
fn lines_are_weighted_by_length_and_points_are_averaged_contract_9() {
    check("MULTILINESTRING ((0 0, 8 0), (8 0, 8 2))", [4.8, 0.2]);
    check("MULTILINESTRING ((5 5, 5 5))", [5.0, 5.0]);
    check("MULTIPOINT ((0 0), (1 0), (5 3))", [2.0, 1.0]);
    check("MULTIPOINT (0 0, 1 0, 5 3)", [2.0, 1.0]);
    for empty in ["MULTIPOLYGON EMPTY", "MULTIPOINT EMPTY", "MULTILINESTRING (EMPTY)"] {
        assert_eq!(centroid(empty), Ok(None), "{empty}");
    }
    check("MULTIPOINT (EMPTY, (3 4))", [3.0, 4.0]);
}

#[test]
fn nothing_on_180_degrees_lands_in_africa_contract_9() {
    // New Zealand with the Chatham Islands, as one feature: east of the main islands' middle.
    let new_zealand = "MULTIPOLYGON (((166 -47, 178 -47, 178 -34, 166 -34, 166 -47)), \
        ((-177 -45, -176 -45, -176 -43, -177 -43, -177 -45)))";
    check(new_zealand, [172.145_570, -40.544_304]);
    // Fiji, cut at 180° as sources cut it.
    let fiji = "MULTIPOLYGON (((177 -19, 180 -19, 180 -16, 177 -16, 177 -19)), \
        ((-180 -17, -178 -17, -178 -16, -180 -16, -180 -17)))";
    check(fiji, [178.954_545, -17.318_182]);
    // Parts that are equally far from 180°, the smaller one in the east: on the other side.
    check(
        "MULTIPOLYGON (((179 0, 180 0, 180 1, 179 1, 179 0)), ((-180 0, -178 0, -178 1, -180 1, -180 0)))",
        [-179.5, 0.5],
    );
    // Russia with Chukotka: in Siberia.
    let russia = "MULTIPOLYGON (((30 50, 180 50, 180 70, 30 70, 30 50)), \
        ((-180 65, -170 65, -170 69, -180 69, -180 65)))";
    check(russia, [106.052_632, 60.092_105]);
    check("MULTIPOINT ((179 1), (-179 3))", [180.0, 2.0]);
    check("MULTILINESTRING ((178 0, 180 0), (-180 0, -176 0))", [-179.0, 0.0]);
    // Alone, the Chatham Islands stay where they are.
    check("MULTIPOINT ((-176.5 -44))", [-176.5, -44.0]);
}

#[test]
fn edges_are_straight_however_long_they_are_contract_9() {
    check("MULTILINESTRING ((-100 10, 100 10))", [0.0, 10.0]);
    check("MULTILINESTRING ((179 -44, -179 -44))", [0.0, -44.0]);
    // Antarctica, with an edge along the pole.
    check("MULTIPOLYGON (((-180 -90, 180 -90, 180 -70, -180 -70, -180 -90)))", [0.0, -80.0]);
    check("MULTIPOLYGON (((-180 -90, 180 -90, 180 90, -180 90, -180 -90)))", [0.0, 0.0]);
}

#[test]
fn numbers_beyond_all_degrees_have_no_centroid() {
    assert_eq!(centroid("LINESTRING (-1e308 0, 1e308 0)"), Ok(None));
}

#[test]
fn centroids_are_weighted_by_area_then_length_then_number() {
    for (text, expected) in [
        ("POINT (174.5 -36.8)", Some([174.5, -36.8])),
        ("POINT EMPTY", None),
        ("MULTIPOINT (0 0, (2 0), 4 3)", Some([2.0, 1.0])),
        ("LINESTRING (0 0, 4 0, 4 2)", Some([8.0 / 3.0, 1.0 / 3.0])),
        ("LINESTRING (3 3, 3 3)", Some([3.0, 3.0])),
        ("POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0))", Some([2.0, 2.0])),
        ("POLYGON ((0 0, 0 4, 4 4, 4 0, 0 0))", Some([2.0, 2.0])),
        // A hole in the right half moves it to the left.
        ("POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0), (2 0, 4 0, 4 4, 2 4, 2 0))", Some([1.0, 2.0])),
        (
            "MULTIPOLYGON (((0 0, 2 0, 2 2, 0 2, 0 0)), ((10 0, 16 0, 16 2, 10 2, 10 0)))",
            Some([10.0, 1.0]),
        ),
        ("POLYGON ((0 0, 4 0, 0 0))", Some([2.0, 0.0])),
        // Points beside an area weigh nothing.
        (
            "GEOMETRYCOLLECTION (POINT (50 50), POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0)))",
            Some([1.0, 1.0]),
        ),
        ("GEOMETRYCOLLECTION EMPTY", None),
    ] {
        let found = centroid(text);
        let near = match (found, expected) {
            (Ok(Some(found)), Some(expected)) => {
                (0..2).all(|axis| (found[axis] - expected[axis]).abs() < 1e-6)
            }
            (found, expected) => found == Ok(expected),
        };
        assert!(near, "{text}: {found:?}");
    }
}

#[test]
fn malformed_text_is_an_error() {
    for text in ["", "POINT (1 2", "POLYGON ((0 0, x 1))", "POINT (1 2) POINT (1 2)"] {
        assert!(centroid(text).is_err(), "{text}");
    }
}
