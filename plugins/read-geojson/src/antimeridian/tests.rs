//! Cuts of known polygons, and of random ones as an independent library checks them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod random;

use geo::Area as _;
use geo::Validation as _;

use super::*;

type Polygon = Vec<Vec<Position>>;

fn square(west: f64, south: f64, east: f64, north: f64) -> Vec<Position> {
    vec![[west, south], [east, south], [east, north], [west, north], [west, south]]
}

fn geo_polygon(polygon: &Polygon) -> geo::Polygon {
    let mut rings =
        polygon.iter().map(|ring| ring.iter().map(|[x, y]| (*x, *y)).collect::<geo::LineString>());
    geo::Polygon::new(rings.next().unwrap(), rings.collect())
}

fn geo_parts(parts: &[Polygon]) -> geo::MultiPolygon {
    parts.iter().map(geo_polygon).collect()
}

/// Checks parts by themselves and returns their area.
fn checked_area(parts: &[Polygon]) -> f64 {
    let all = geo_parts(parts);
    all.check_validation().unwrap_or_else(|why| panic!("{why}: {parts:?}"));
    for [longitude, _] in parts.iter().flatten().flatten() {
        assert!(longitude.abs() <= HALF, "{parts:?}");
    }
    all.unsigned_area()
}

fn check(polygon: Polygon, short_way: bool, expected: usize, expected_area: f64) -> Vec<Polygon> {
    let parts = cut_polygon(polygon, short_way).unwrap();
    assert_eq!(parts.len(), expected, "{parts:?}");
    let area = checked_area(&parts);
    assert!((area - expected_area).abs() < 1e-9, "{area}: {parts:?}");
    parts
}

#[test]
fn a_polygon_within_range_comes_back_as_it_was() {
    let mut clockwise = square(-180.0, -90.0, 180.0, 90.0);
    clockwise.reverse();
    let polygon = vec![clockwise, square(0.0, 0.0, 1.0, 1.0)];
    assert_eq!(cut_polygon(polygon.clone(), false), Ok(vec![polygon.clone()]));
    assert_eq!(cut_polygon(polygon.clone(), true), Ok(vec![polygon]));
    // Not valid, and not repaired.
    let bow = vec![vec![[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]];
    assert_eq!(cut_polygon(bow.clone(), false), Ok(vec![bow]));
}

#[test]
fn a_polygon_beyond_180_degrees_is_cut_and_keeps_its_area() {
    check(vec![square(170.0, -10.0, 190.0, 10.0)], false, 2, 400.0);
    check(vec![square(-190.0, -10.0, -170.0, 10.0)], false, 2, 400.0);
    check(vec![square(185.0, 0.0, 190.0, 10.0)], false, 1, 50.0);
    check(vec![square(180.0, 0.0, 540.0, 10.0)], false, 1, 3_600.0);
    check(vec![square(-540.0, 0.0, -530.0, 10.0)], false, 1, 100.0);
    let mut clockwise = square(170.0, -10.0, 190.0, 10.0);
    clockwise.reverse();
    check(vec![clockwise], false, 2, 400.0);
}

#[test]
fn holes_are_cut_with_their_polygon_or_go_to_the_part_around_them() {
    let outer = square(170.0, -10.0, 190.0, 10.0);
    // Across the cut, to its left, to its right.
    check(vec![outer.clone(), square(178.0, -2.0, 182.0, 2.0)], false, 2, 384.0);
    let holes = [square(172.0, 0.0, 174.0, 2.0), square(185.0, 0.0, 187.0, 2.0)];
    let parts = check([vec![outer.clone()], holes.to_vec()].concat(), false, 2, 392.0);
    assert!(parts.iter().all(|part| part.len() == 2), "{parts:?}");
    // A hole that is written on the other turn.
    check(vec![outer, square(-178.0, 0.0, -176.0, 2.0)], false, 2, 396.0);
}

#[test]
fn holes_that_touch_the_cut_keep_their_area_contract_7() {
    let outer = square(170.0, -10.0, 190.0, 10.0);
    let triangle = |x: f64| vec![[180.0, -5.0], [180.0, 5.0], [x, 10.0 / 2.0], [180.0, -5.0]];
    for (hole, parts, area) in [
        (vec![[180.0, -5.0], [180.0, 5.0], [175.0, 10.0], [180.0, -5.0]], 3, 375.0),
        (triangle(175.0), 2, 375.0),
        (triangle(185.0), 2, 375.0),
        // One corner at the cut.
        (vec![[180.0, 0.0], [175.0, 1.0], [175.0, -1.0], [180.0, 0.0]], 2, 395.0),
        // From side to side of the polygon: the parts fall apart.
        (vec![[170.0, 0.0], [180.0, -1.0], [190.0, 0.0], [180.0, 1.0], [170.0, 0.0]], 4, 380.0),
        // A side on the side of the polygon.
        (square(175.0, -10.0, 185.0, 0.0), 2, 300.0),
    ] {
        check(vec![outer.clone(), hole.clone()], false, parts, area);
        let reversed = hole.into_iter().rev().collect();
        check(vec![outer.clone(), reversed], false, parts, area);
    }
}

#[test]
fn a_polygon_like_a_comb_falls_into_several_parts() {
    let comb = vec![
        [175.0, 0.0],
        [185.0, 0.0],
        [185.0, 1.0],
        [177.0, 1.0],
        [177.0, 2.0],
        [185.0, 2.0],
        [185.0, 3.0],
        [175.0, 3.0],
        [175.0, 0.0],
    ];
    check(vec![comb], false, 3, 22.0);
}

#[test]
fn the_short_way_is_taken_where_it_is_asked_for() {
    let fiji = vec![square(177.0, -19.0, -179.0, -16.0)];
    check(fiji.clone(), true, 2, 12.0);
    assert_eq!(cut_polygon(fiji.clone(), false), Ok(vec![fiji]), "an edge is meant as it stands");
    check(vec![square(-180.0, -90.0, 180.0, -60.0)], true, 1, 10_800.0);
    let hole = square(-179.9, -18.0, -179.5, -17.0);
    check(vec![square(177.0, -19.0, -179.0, -16.0), hole], true, 2, 11.6);
    // The antimeridian has two longitudes.
    let along = vec![[170.0, 0.0], [180.0, 0.0], [-180.0, 10.0], [170.0, 10.0], [170.0, 0.0]];
    check(vec![along], true, 1, 100.0);
    // An edge along a pole goes the way that closes the ring.
    check(vec![square(160.0, 48.0, -167.0, 90.0)], true, 2, 33.0 * 42.0);
    // Decimals that have no exact sum with 360 come back as they are written.
    let far = vec![[177.3, 0.1], [-100.1, 0.1], [-99.7, 7.3], [177.3, 0.1]];
    let parts = cut_polygon(vec![far], true).unwrap();
    for position in [[177.3, 0.1], [-100.1, 0.1], [-99.7, 7.3]] {
        assert!(parts.iter().flatten().flatten().any(|own| *own == position), "{parts:?}");
    }
}

#[test]
fn a_ring_that_is_wide_along_the_poles_alone_stays_as_it_is_contract_7() {
    let mut band = square(-170.0, -90.0, 170.0, 90.0);
    assert_eq!(cut_polygon(vec![band.clone()], true), Ok(vec![vec![band.clone()]]));
    band.reverse();
    assert_eq!(cut_polygon(vec![band.clone()], true), Ok(vec![vec![band]]));
    // Written beyond 180 degrees, it is narrow.
    for short_way in [false, true] {
        check(vec![square(170.0, -90.0, 190.0, 90.0)], short_way, 2, 3_600.0);
    }
}

#[test]
fn rings_around_a_pole_are_cut_or_refused_contract_7() {
    let coast = [[0.0, -70.0], [90.0, -65.0], [180.0, -70.0], [270.0, -65.0], [360.0, -70.0]];
    let closed = [&coast[..], &[[360.0, -90.0], [0.0, -90.0], [0.0, -70.0]]].concat();
    let parts = check(vec![closed], false, 1, 360.0 * 22.5);
    let seam = |edge: &[Position]| edge.iter().all(|[longitude, _]| *longitude == 0.0);
    assert!(!parts[0][0].windows(2).any(seam), "no edge along 0 or 360 degrees: {parts:?}");
    let natural_earth = [
        [-180.0, -90.0],
        [-180.0, -70.0],
        [0.0, -65.0],
        [180.0, -70.0],
        [180.0, -90.0],
        [-180.0, -90.0],
    ];
    for short_way in [false, true] {
        check(vec![natural_earth.to_vec()], short_way, 1, 360.0 * 22.5);
    }
    let open = [[0.0, -70.0], [120.0, -65.0], [-120.0, -70.0], [0.0, -70.0]];
    let seam = [[-180.0, -70.0], [0.0, -65.0], [180.0, -70.0], [-180.0, -70.0]];
    for ring in [open.to_vec(), seam.to_vec()] {
        let refused = cut_polygon(vec![ring], true).unwrap_err();
        assert!(refused.contains("around a pole; close it along the pole"), "{refused}");
    }
}

#[test]
fn what_has_no_valid_parts_is_refused_contract_7() {
    let bow = vec![[170.0, 0.0], [190.0, 10.0], [190.0, 0.0], [170.0, 10.0], [170.0, 0.0]];
    let outer = square(170.0, -10.0, 190.0, 10.0);
    for (polygon, expected) in [
        (vec![bow], "crosses itself on the edge from"),
        (vec![square(-190.0, 0.0, 190.0, 10.0)], "overlaps itself"),
        (vec![outer.clone(), square(150.0, 0.0, 160.0, 1.0)], "overlaps itself"),
        (
            vec![outer.clone(), square(171.0, 0.0, 179.0, 9.0), square(172.0, 1.0, 173.0, 2.0)],
            "overlaps itself",
        ),
        (vec![outer.clone(), square(165.0, 0.0, 175.0, 1.0)], "crosses itself"),
        (vec![outer.clone(), outer], "no area"),
        (vec![vec![[170.0, 0.0], [190.0, 0.0], [180.0, 0.0], [170.0, 0.0]]], "no area"),
    ] {
        let refused = cut_polygon(polygon.clone(), false).unwrap_err();
        assert!(refused.contains(expected), "{refused}: {polygon:?}");
    }
}

#[test]
fn rounding_noise_does_not_cross_180_degrees_contract_7() {
    let beyond = 180.000_000_000_000_03;
    let parts = check(vec![square(170.0, 0.0, beyond, 10.0)], false, 1, 100.0);
    assert_eq!(parts, [[square(170.0, 0.0, 180.0, 10.0)]]);
    let parts = check(vec![square(179.999_999_999_999_97, 0.0, 190.0, 10.0)], false, 1, 100.0);
    assert_eq!(parts, [[square(-180.0, 0.0, -170.0, 10.0)]]);
    assert_eq!(wrap_position([beyond, 1.0]), [180.0, 1.0]);
    // Thinner than the differences of coordinates.
    let sliver = vec![[170.0, 0.0], [190.0, 0.0], [190.0, 3e-15], [170.0, 3e-15], [170.0, 0.0]];
    let area = checked_area(&cut_polygon(vec![sliver], false).unwrap());
    assert!((area - 20.0 * 3e-15).abs() < 1e-20, "{area}");
}

#[test]
fn lines_and_points_are_cut_and_moved() {
    for (line, short_way, expected) in [
        (
            vec![[170.0, 0.0], [190.0, 10.0]],
            false,
            vec![vec![[170.0, 0.0], [180.0, 5.0]], vec![[-180.0, 5.0], [-170.0, 10.0]]],
        ),
        (
            vec![[170.0, 0.0], [180.0, 1.0], [190.0, 0.0]],
            false,
            vec![vec![[170.0, 0.0], [180.0, 1.0]], vec![[-180.0, 1.0], [-170.0, 0.0]]],
        ),
        // Along the antimeridian on the way, and back.
        (
            vec![[170.0, 0.0], [180.0, 0.0], [180.0, 5.0], [190.0, 5.0]],
            false,
            vec![
                vec![[170.0, 0.0], [180.0, 0.0], [180.0, 5.0]],
                vec![[-180.0, 5.0], [-170.0, 5.0]],
            ],
        ),
        (
            vec![[190.0, 0.0], [180.0, 0.0], [180.0, 5.0], [190.0, 5.0]],
            false,
            vec![vec![[-170.0, 0.0], [-180.0, 0.0], [-180.0, 5.0], [-170.0, 5.0]]],
        ),
        (
            vec![[170.1, 0.0], [-100.1, 0.0]],
            true,
            vec![vec![[170.1, 0.0], [180.0, 0.0]], vec![[-180.0, 0.0], [-100.1, 0.0]]],
        ),
        (vec![[-170.0, 0.0], [170.0, 0.0]], false, vec![vec![[-170.0, 0.0], [170.0, 0.0]]]),
        (
            vec![[-200.0, 0.0], [200.0, 0.0]],
            false,
            vec![
                vec![[160.0, 0.0], [180.0, 0.0]],
                vec![[-180.0, 0.0], [180.0, 0.0]],
                vec![[-180.0, 0.0], [-160.0, 0.0]],
            ],
        ),
    ] {
        assert_eq!(cut_line(line, short_way), expected);
    }
    assert_eq!(wrap_position([190.0, 1.0]), [-170.0, 1.0]);
    assert_eq!(wrap_position([-180.0, 1.0]), [-180.0, 1.0]);
    assert_eq!(wrap_position([539.999_999_999_999_9, 1.0]), [179.999_999_999_999_9, 1.0]);
}
