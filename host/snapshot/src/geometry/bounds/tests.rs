use super::*;

fn finish(parts: &[(f64, f64)]) -> [f64; 4] {
    let mut bounds = Bounds::default();
    for (west, east) in parts {
        bounds.add(*west, *east, -1.0, 1.0);
    }
    bounds.finish().map_or([f64::NAN; 4], |bbox| bbox.0)
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
    assert_eq!(Bounds::default().finish(), None);
}

#[test]
fn millions_of_points_take_bounded_memory_and_give_the_same_box() {
    let mut bounds = Bounds::default();
    // A scatter without overlaps over 160°..180° and -180°..-170°, in no order.
    for step in 0..300_000_u32 {
        let degrees = 160.0 + f64::from(step.wrapping_mul(7_919) % 300_000) / 10_000.0;
        let longitude = if degrees > 180.0 { degrees - 360.0 } else { degrees };
        bounds.add(longitude, longitude, 0.0, 0.0);
        assert!(bounds.intervals.len() < MAX_INTERVALS);
    }
    let [west, _, east, _] = bounds.finish().map_or([f64::NAN; 4], |bbox| bbox.0);
    assert!((west - 160.0).abs() < 1e-9 && (east + 170.0001).abs() < 1e-6, "{west} {east}");
}
