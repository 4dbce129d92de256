//! The rules of simplified geometry.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;

use proptest::prelude::*;
use yearbook_sdk::testing::{Table, batches, transforming};
use yearbook_sdk::transform::TransformError;
use yearbook_sdk::{Options, Transform as _, Value};
use yearbook_simplify::Simplify;

fn table(geometries: &[&str]) -> Table {
    let cells: Vec<Option<&str>> =
        geometries.iter().map(|text| Some(*text).filter(|text| *text != "-")).collect();
    Table::new().text("geometry_wkt", &cells).about("geometry_wkt", "yearbook.role", "geometry")
}

fn simplified(geometries: &[&str], tolerance: f64) -> Vec<String> {
    let options = [("tolerance", Value::Number(tolerance))];
    let answer = transforming::transform::<Simplify>(&table(geometries), &options).unwrap();
    let mut rows = answer.rows.into_iter();
    let cell = |row: Vec<Option<String>>| row.into_iter().next().flatten();
    let cells = rows.by_ref().map(|row| cell(row).unwrap_or_else(|| "-".to_owned()));
    cells.collect()
}

#[test]
fn conforms() {
    transforming::check::<Simplify>(&[]);
}

#[test]
fn a_border_that_two_areas_share_stays_shared_whatever_its_direction_contract_16() {
    let west = "POLYGON ((0 0, 2 0, 2.1 1, 1.95 2, 2.04 3, 2 4, 0 4, 0 0))";
    let east = "POLYGON ((4 4, 2 4, 2.04 3, 1.95 2, 2.1 1, 2 0, 4 0, 4 4))";
    assert_eq!(
        simplified(&[west, east], 0.08),
        [
            "POLYGON ((2 0,2.1 1,1.95 2,2 4,0 4,0 0,2 0))",
            "POLYGON ((2 4,1.95 2,2.1 1,2 0,4 0,4 4,2 4))",
        ]
    );
    assert_eq!(
        simplified(&[west, east], 0.5),
        ["POLYGON ((2 0,2 4,0 4,0 0,2 0))", "POLYGON ((2 4,2 0,4 0,4 4,2 4))"]
    );
}

#[test]
fn an_area_within_another_keeps_the_border_of_its_hole_contract_16() {
    let around = "POLYGON ((0 0, 9 0, 9 9, 0 9, 0 0), (3 3, 3 5, 3.1 6, 6 6, 6 3, 4 2.9, 3 3))";
    let within = "POLYGON ((6 6, 3.1 6, 3 5, 3 3, 4 2.9, 6 3, 6 6))";
    let [around, within] = simplified(&[around, within], 0.5).try_into().unwrap();
    let hole = around.rsplit_once("),(").unwrap().1.trim_end_matches("))").to_owned();
    let ring = within.trim_start_matches("POLYGON ((").trim_end_matches("))").to_owned();
    let sorted = |ring: &str| {
        let mut positions: Vec<String> = ring.split(',').skip(1).map(str::to_owned).collect();
        positions.sort();
        positions
    };
    assert_eq!(sorted(&hole), sorted(&ring));
    assert!(sorted(&ring).len() < 6, "{ring}");
}

#[test]
fn points_where_three_borders_meet_stay_and_no_geometry_vanishes_contract_16() {
    let three = [
        "POLYGON ((0 0, 1 0, 1.01 1, 0 1, 0 0))",
        "POLYGON ((1 0, 2 0, 2 1, 1.01 1, 1 0))",
        "POLYGON ((0 1, 1.01 1, 2 1, 2 2, 0 2, 0 1))",
    ];
    for text in simplified(&three, 0.3) {
        assert!(text.contains("1.01 1"), "{text}");
    }
    // A tolerance beyond all: islands are triangles, lines have two ends, slivers stay as they are.
    let island = "POLYGON ((0 0, 1 0, 1 1, 0 1, 0 0))";
    let line = "LINESTRING (5 5, 6 5.5, 7 5)";
    assert_eq!(
        simplified(&[island, line], 90.0),
        ["POLYGON ((0 0,1 1,0 1,0 0))", "LINESTRING (5 5,7 5)"]
    );
    let slivers = [
        "POLYGON ((0 0, 1 0.01, 2 0, 1 0, 0 0))",
        "POLYGON ((0 0, 0 5, 2 5, 2 0, 1 0.01, 0 0))",
        "POLYGON ((0 0, 1 0, 2 0, 2 -5, 0 -5, 0 0))",
    ];
    assert_eq!(simplified(&slivers, 0.5)[0], slivers[0]);
}

#[test]
fn points_nulls_and_empty_geometry_pass_and_parts_keep_their_kind_contract_16() {
    let same = ["POINT (1.50 2)", "MULTIPOINT ((1 2), (3 4))", "POLYGON EMPTY", "-"];
    assert_eq!(simplified(&same, 1.0), same);
    assert_eq!(
        simplified(
            &[
                "MULTILINESTRING ((0 0, 1 0.1, 2 0), (7 7, 8 8))",
                "MULTIPOLYGON (((0 3, 4 3, 4 7, 2 7.1, 0 7, 0 3)))",
                "GEOMETRYCOLLECTION (POINT (1 1), LINESTRING (20 0, 21 0.1, 22 0))",
            ],
            0.5
        ),
        [
            "MULTILINESTRING ((0 0,2 0),(7 7,8 8))",
            "MULTIPOLYGON (((0 3,4 3,4 7,0 7,0 3)))",
            "GEOMETRYCOLLECTION (POINT (1 1),LINESTRING (20 0,22 0))",
        ]
    );
}

#[test]
fn what_cannot_be_is_refused_with_what_to_do_contract_16() {
    let schema = batches(&table(&["POINT (1 1)"]), false).unwrap().remove(0).schema().clone();
    for tolerance in [0.0, -1.0, 90.5, f64::NAN] {
        let options = Options(vec![("tolerance".to_owned(), Value::Number(tolerance))]);
        let refused = Simplify::plan(&schema, &options);
        assert!(matches!(refused, Err(TransformError::InvalidOption { option: "tolerance", .. })));
    }
    let no_geometry = Table::new().text("region", &[Some("a")]);
    let refused = transforming::transform::<Simplify>(&no_geometry, &[]).unwrap_err();
    assert!(matches!(refused, TransformError::UnsupportedSchema(_)));
}

/// Edges of the areas in a text, each without its direction, with the number of areas that have it.
fn edges(areas: &[String]) -> HashMap<[String; 2], usize> {
    let mut edges = HashMap::new();
    for area in areas {
        let ring = area.trim_start_matches("POLYGON ((").trim_end_matches("))");
        let positions: Vec<&str> = ring.split(',').map(str::trim).collect();
        for pair in positions.windows(2) {
            let mut edge = [pair[0].to_owned(), pair[1].to_owned()];
            edge.sort();
            *edges.entry(edge).or_default() += 1;
        }
    }
    edges
}

proptest! {
    /// Squares beside each other, their borders broken anywhere: inside, every edge has two sides.
    #[test]
    fn squares_that_fill_a_place_go_on_filling_it_contract_16(
        shifts in prop::collection::vec(-0.2_f64..0.2, 400),
        tolerance in 0.01_f64..0.3,
        turned in prop::collection::vec(any::<bool>(), 9),
    ) {
        const STEPS: usize = 5;
        // The vertices of the border from one corner of the grid to the next one.
        let side = |x: usize, y: usize, upright: bool| -> Vec<(f64, f64)> {
            let number = (y * 4 + x) * 2 + usize::from(upright);
            (0..=STEPS).map(|step| {
                let along = step as f64 / STEPS as f64;
                let is_edge = if upright { x.is_multiple_of(3) } else { y.is_multiple_of(3) };
                let is_inner = !step.is_multiple_of(STEPS) && !is_edge;
                let shift = if is_inner { shifts[number * STEPS + step] } else { 0.0 };
                let (x, y) = (x as f64, y as f64);
                if upright { (x + shift, y + along) } else { (x + along, y + shift) }
            }).collect()
        };
        let mut areas = Vec::new();
        for (number, is_turned) in turned.iter().enumerate() {
            let (x, y) = (number % 3, number / 3);
            let back = |mut side: Vec<(f64, f64)>| { side.reverse(); side };
            let ring = [
                side(x, y, false), side(x + 1, y, true), back(side(x, y + 1, false)), back(side(x, y, true)),
            ];
            let mut ring: Vec<String> = ring
                .iter()
                .flat_map(|side| &side[..STEPS])
                .map(|(x, y)| format!("{x} {y}"))
                .collect();
            ring.push(ring[0].clone());
            if *is_turned { ring.reverse(); }
            areas.push(format!("POLYGON (({}))", ring.join(", ")));
        }
        let texts: Vec<&str> = areas.iter().map(String::as_str).collect();
        let found = simplified(&texts, tolerance);
        let on_edge = |position: &str| {
            let (x, y) = position.split_once(' ').unwrap();
            [x == "0", x == "3", y == "0", y == "3"]
        };
        for (edge, sides) in edges(&found) {
            let [one, other] = edge.each_ref().map(|position| on_edge(position));
            let is_outer = one.iter().zip(other).any(|(one, other)| *one && other);
            prop_assert_eq!(sides, if is_outer { 1 } else { 2 }, "{:?}", edge);
        }
        let vertices = |areas: &[String]| areas.iter().map(|area| area.matches(',').count()).sum::<usize>();
        prop_assert!(vertices(&found) < vertices(&areas));
    }
}
