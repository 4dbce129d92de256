//! The box of a geometry by RFC 7946, against brute force.

use proptest::prelude::*;

use super::*;

fn finish(parts: &[(f64, f64)]) -> [f64; 4] {
    let mut bounds = GeometryBounds::default();
    for (west, east) in parts {
        bounds.add(*west, *east, -1.0, 1.0);
    }
    bounds.finish().unwrap_or([f64::NAN; 4])
}

#[test]
fn west_is_beyond_east_exactly_where_the_smallest_box_crosses_180_rfc_7946_5_2() {
    for (parts, west, east) in [
        (&[(166.0, 179.0)][..], 166.0, 179.0),
        (&[(166.0, 180.0), (-180.0, -176.0)], 166.0, -176.0),
        (&[(-177.0, -176.0), (166.0, 179.0)], 166.0, -176.0),
        (&[(-10.0, 30.0), (100.0, 120.0)], -10.0, 120.0),
        (&[(0.0, 0.0), (178.0, 178.0), (-172.0, -172.0)], 178.0, 0.0),
        (&[(-180.0, 180.0)], -180.0, 180.0),
        (&[(-180.0, 0.0), (0.0, 180.0)], -180.0, 180.0),
        (&[(-90.0, -90.0), (90.0, 90.0)], -90.0, 90.0),
        (&[(5.0, 6.0), (1.0, 2.0), (0.0, 10.0)], 0.0, 10.0),
    ] {
        assert_eq!(finish(parts), [west, -1.0, east, 1.0], "{parts:?}");
    }
}

#[test]
fn nothing_has_no_bounds() {
    assert_eq!(GeometryBounds::default().finish(), None);
}

#[test]
fn millions_of_points_take_bounded_memory_and_give_the_same_box() {
    let mut bounds = GeometryBounds::default();
    // A scatter without overlaps over 160°..180° and -180°..-170°, in no order.
    for step in 0..300_000_u32 {
        let degrees = 160.0 + f64::from(step.wrapping_mul(7_919) % 300_000) / 10_000.0;
        let longitude = if degrees > 180.0 { degrees - 360.0 } else { degrees };
        bounds.add(longitude, longitude, 0.0, 0.0);
        assert!(bounds.intervals.len() < MAX_INTERVALS);
    }
    let [west, _, east, _] = bounds.finish().unwrap_or([f64::NAN; 4]);
    assert!((west - 160.0).abs() < 1e-9 && (east + 170.0001).abs() < 1e-6, "{west} {east}");
}

/// Degrees eastwards from `west` to `x`.
fn eastwards(west: f64, x: f64) -> f64 {
    (x - west).rem_euclid(360.0)
}

proptest! {
    #[test]
    fn the_box_holds_every_point_and_none_is_smaller(points in prop::collection::vec(-180_i32..180, 1..20)) {
        let points: Vec<f64> = points.into_iter().map(f64::from).collect();
        let parts: Vec<(f64, f64)> = points.iter().map(|x| (*x, *x)).collect();
        let [west, _, east, _] = finish(&parts);
        let width = eastwards(west, east);
        for point in &points {
            prop_assert!(eastwards(west, *point) <= width, "{} outside {}..{}", point, west, east);
        }
        // The smallest arc starts at one of the points.
        for start in &points {
            let other = points.iter().map(|x| eastwards(*start, *x)).fold(0.0, f64::max);
            prop_assert!(width <= other, "{}..{} is wider than from {}", west, east, start);
        }
    }
}
