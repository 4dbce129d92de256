//! Areas on the grid of a tile beside those of `geo`: what clipping leaves, borders, seams.

use std::collections::HashMap;
use std::f64::consts::PI;

use super::decoder::{features, twice_area};
use geo::{
    Area as _, BooleanOps as _, Coord, LineString, MultiPolygon, Polygon, Rect, Validation as _,
};
use proptest::prelude::*;
use yearbook_mvt::MvtEncoder;
use yearbook_sdk::Value;
use yearbook_sdk::testing::{Table, encode};

type Rings = Vec<Vec<[i64; 2]>>;

/// Rings of a geometry in a tile.
fn drawn(wkt: &str, [z, x, y]: [u32; 3]) -> Rings {
    let table =
        Table::new().text("shape", &[Some(wkt)]).about("shape", "yearbook.role", "geometry");
    let number = |number: u32| Value::Integer(number.into());
    let options = [("z", number(z)), ("x", number(x)), ("y", number(y))];
    let found = features(&encode::<MvtEncoder>(&table, &options).unwrap());
    found.into_iter().flat_map(|feature| feature.parts).collect()
}

/// A ring around a centre, by the distances of its vertices; `turn` is a share of a whole one.
fn star(centre: [f64; 2], distances: &[f64], size: f64) -> Vec<[f64; 2]> {
    let step = 2.0 * PI / distances.len() as f64;
    let vertex = |(at, distance): (usize, &f64)| {
        let (sine, cosine) = (at as f64 * step).sin_cos();
        [centre[0] + cosine * distance * size, centre[1] + sine * distance * size]
    };
    distances.iter().enumerate().map(vertex).collect()
}

fn ring_text(ring: &[[f64; 2]]) -> String {
    let positions = ring.iter().chain(ring.first()).map(|[x, y]| format!("{x} {y}"));
    format!("({})", positions.collect::<Vec<_>>().join(", "))
}

fn polygon_text(rings: &[Vec<[f64; 2]>]) -> String {
    let rings: Vec<_> = rings.iter().map(|ring| ring_text(ring)).collect();
    format!("POLYGON ({})", rings.join(", "))
}

/// The same ring in units of a tile, its edges in many pieces, since they are straight in degrees.
fn projected(ring: &[[f64; 2]], [z, x, y]: [u32; 3]) -> LineString {
    let tiles = f64::from(1_u32 << z);
    let unit = |[longitude, latitude]: [f64; 2]| {
        let radians = latitude.to_radians();
        let north = (radians.tan() + 1.0 / radians.cos()).ln() / PI;
        let place = [(longitude + 180.0) / 360.0, (1.0 - north) / 2.0];
        let corner = [x, y].map(f64::from);
        let [x, y] = [0, 1].map(|axis| (place[axis] * tiles - corner[axis]) * 4096.0);
        Coord { x, y }
    };
    let pairs = ring.iter().zip(ring.iter().cycle().skip(1));
    let pieces = pairs.flat_map(|(from, to)| {
        (0..64).map(move |piece| {
            let part = f64::from(piece) / 64.0;
            [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * part)
        })
    });
    pieces.map(unit).collect()
}

fn rectangle(west: f64, east: f64) -> MultiPolygon {
    let corners = (Coord { x: west, y: -64.0 }, Coord { x: east, y: 4160.0 });
    MultiPolygon::new(vec![Rect::new(corners.0, corners.1).to_polygon()])
}

/// Rings of a tile as polygons, moved to the east.
fn polygons(rings: &Rings, east: i64) -> MultiPolygon {
    let ring = |ring: &[[i64; 2]]| -> LineString {
        ring.iter().map(|at| Coord { x: (at[0] + east) as f64, y: at[1] as f64 }).collect()
    };
    let mut polygons: Vec<Polygon> = Vec::new();
    for found in rings {
        match polygons.last_mut() {
            Some(last) if twice_area(found) < 0 => last.interiors_push(ring(found)),
            _ => polygons.push(Polygon::new(ring(found), Vec::new())),
        }
    }
    MultiPolygon::new(polygons)
}

fn length(rings: &Rings) -> f64 {
    let steps = rings.iter().flat_map(|ring| ring.iter().zip(ring.iter().cycle().skip(1)));
    steps.map(|(from, to)| ((to[0] - from[0]) as f64).hypot((to[1] - from[1]) as f64)).sum()
}

/// Sign of the area of a triangle.
fn side(from: [i64; 2], to: [i64; 2], at: [i64; 2]) -> i64 {
    let [[ax, ay], [bx, by]] = [to, at].map(|end| [end[0] - from[0], end[1] - from[1]]);
    (ax * by - ay * bx).signum()
}

/// Panics where edges cross or lie on each other, or where a ring has a position twice.
fn assert_valid(rings: &Rings) {
    let edges: Vec<_> = rings
        .iter()
        .flat_map(|ring| ring.iter().copied().zip(ring.iter().copied().cycle().skip(1)))
        .collect();
    for (at, (a, b)) in edges.iter().enumerate() {
        for (c, d) in &edges[..at] {
            let sides = [side(*a, *b, *c), side(*a, *b, *d), side(*c, *d, *a), side(*c, *d, *b)];
            assert!(
                sides[0] * sides[1] >= 0 || sides[2] * sides[3] >= 0,
                "{a:?} {b:?} {c:?} {d:?}"
            );
            if sides == [0; 4] {
                let axis = usize::from(a[0] == b[0]);
                let ends = |one: i64, other: i64| (one.min(other), one.max(other));
                let (one, other) = (ends(a[axis], b[axis]), ends(c[axis], d[axis]));
                let is_shared = one.0 < other.1 && other.0 < one.1;
                assert!(!is_shared, "{a:?} {b:?} on {c:?} {d:?}");
            }
        }
    }
    let polygons = polygons(rings, 0);
    assert!(polygons.is_valid(), "{:?}", polygons.validation_errors());
    assert_connected(rings);
    let mut before = None;
    for ring in rings {
        let mut sorted = ring.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), ring.len(), "a position twice in {ring:?}");
        let twice = twice_area(ring);
        assert!(twice > 0 || before.is_some() && twice < 0, "{twice}");
        before = Some(twice);
    }
}

/// Panics where rings of a polygon touch in a circle, which cuts off a part of its inside.
fn assert_connected(rings: &Rings) {
    let mut polygon = 0;
    let mut groups: HashMap<usize, usize> = HashMap::new();
    let mut touching: HashMap<(usize, [i64; 2]), Vec<usize>> = HashMap::new();
    for (number, ring) in rings.iter().enumerate() {
        polygon = if twice_area(ring) > 0 { number } else { polygon };
        groups.insert(number, number);
        ring.iter().for_each(|at| touching.entry((polygon, *at)).or_default().push(number));
    }
    for ((polygon, at), numbers) in touching.into_iter().filter(|(_, rings)| rings.len() > 1) {
        let met: Vec<usize> = numbers.iter().map(|number| groups[number]).collect();
        for (index, group) in met.iter().enumerate() {
            assert!(!met[..index].contains(group), "polygon {polygon} is cut at {at:?}");
        }
        groups.values_mut().filter(|group| met.contains(group)).for_each(|group| *group = met[0]);
    }
}

fn distances() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.05..1.0_f64, 4..60)
}

/// A place near the corner of four tiles.
const TILE: [u32; 3] = [7, 64, 40];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn what_is_left_of_an_area_is_what_geo_leaves(
        distances in distances(),
        offset in [-1.5..1.5_f64, -1.5..1.5_f64],
        size in 0.02..4.0_f64,
        is_turned in any::<bool>(),
    ) {
        let centre = [1.4 + offset[0], 54.0 + offset[1]];
        let mut outer = star(centre, &distances, size);
        let hole = star(centre, &distances, size * 0.4);
        if is_turned {
            outer.reverse();
        }
        let found = drawn(&polygon_text(&[outer.clone(), hole.clone()]), TILE);
        assert_valid(&found);
        let wanted = MultiPolygon::new(vec![Polygon::new(projected(&outer, TILE), Vec::new())])
            .difference(&Polygon::new(projected(&hole, TILE), Vec::new()))
            .intersection(&rectangle(-64.0, 4160.0));
        let area = found.iter().map(|ring| twice_area(ring)).sum::<i64>() as f64 / 2.0;
        // No vertex moves by more than half a unit each way, and no edge by more than one beside.
        let most = 1.5 * length(&found) + 400.0;
        prop_assert!((area - wanted.unsigned_area()).abs() <= most, "{area}, {wanted:?}");
    }

    #[test]
    fn neighbours_leave_no_gap_and_do_not_overlap(
        border in prop::collection::vec([0.0..1.0_f64, -0.01..0.01_f64], 2..200),
        zoom in 2..8_u32,
    ) {
        // A border from south to north that winds on the way.
        let steps = border.len() as f64;
        let border: Vec<_> = border
            .iter()
            .enumerate()
            .map(|(at, [x, y])| [2.0 + x, 46.0 + 10.0 * at as f64 / steps + y])
            .collect();
        let west: Vec<_> = border.iter().copied().chain([[-3.0, 57.0], [-3.0, 45.0]]).collect();
        let back = border.iter().rev().copied();
        let east: Vec<_> = back.chain([[7.0, 45.0], [7.0, 57.0]]).collect();
        let both = [border[0], [7.0, 45.0], [7.0, 57.0], border[border.len() - 1], [-3.0, 57.0], [-3.0, 45.0]];
        let tile = [zoom, 1 << (zoom - 1), (40 << zoom) >> 7];
        let [west, east, both] = [&west[..], &east[..], &both[..]].map(|ring| {
            let rings = drawn(&polygon_text(&[ring.to_vec()]), tile);
            assert_valid(&rings);
            rings.iter().map(|ring| twice_area(ring)).sum::<i64>()
        });
        // Where rounded borders cross themselves, the crossing is rounded once more.
        prop_assert!((west + east - both).abs() <= 4, "{west} + {east}, not {both}");
    }

    #[test]
    fn tiles_show_the_same_where_they_overlap(
        distances in distances(),
        offset in [-0.5..0.5_f64, -1.5..1.5_f64],
        size in 0.5..4.0_f64,
    ) {
        let [z, x, y] = TILE;
        let text = polygon_text(&[star([2.8 + offset[0], 54.0 + offset[1]], &distances, size)]);
        let seam = rectangle(4032.0, 4160.0);
        let [left, right] = [(x, 0), (x + 1, 4096)].map(|(x, east)| {
            polygons(&drawn(&text, [z, x, y]), east).intersection(&seam)
        });
        let apart = left.xor(&right).unsigned_area();
        let edges = left.iter().map(|polygon| polygon.exterior().0.len()).sum::<usize>() as f64;
        // An edge is at most a unit away from its place on either tile, along the whole overlap.
        prop_assert!(apart <= 2.0 * 128.0 * (edges + 4.0), "{apart} of {}", left.unsigned_area());
    }

    #[test]
    fn whatever_rings_do_polygons_are_valid_mvt_4_3_3_3(
        polygons in prop::collection::vec(
            prop::collection::vec(prop::collection::vec([0..9_i32, 0..9_i32], 3..12), 1..4),
            1..4,
        ),
    ) {
        assert_valid_in_few_units(&polygons);
    }
}

/// Panics where polygons with vertices so few units apart that they cross and touch themselves and
/// each other, at vertices too, are drawn as invalid ones.
fn assert_valid_in_few_units(polygons: &[Vec<Vec<[i32; 2]>>]) {
    let unit = 360.0 / 4_096.0;
    let ring = |ring: &Vec<[i32; 2]>| -> Vec<[f64; 2]> {
        ring.iter().map(|at| at.map(|units| f64::from(units) * unit)).collect()
    };
    let polygons = polygons.iter().map(|rings| {
        let rings: Vec<_> = rings.iter().map(ring).collect();
        polygon_text(&rings).replace("POLYGON ", "")
    });
    let text = format!("MULTIPOLYGON ({})", polygons.collect::<Vec<_>>().join(", "));
    assert_valid(&drawn(&text, [0, 0, 0]));
}

/// A hole is told to be in an area by the middle of its first edge: once two edges of it were one,
/// that middle was where another area touches it.
#[test]
fn a_hole_is_in_the_area_around_it_and_not_in_one_that_touches_it_mvt_4_3_3_3() {
    let rings = |rings: &[&[[i32; 2]]]| rings.iter().map(|ring| ring.to_vec()).collect();
    assert_valid_in_few_units(&[
        rings(&[
            &[[2, 1], [7, 6], [4, 0]],
            &[[6, 2], [4, 7], [3, 3], [0, 0], [0, 6]],
            &[[8, 6], [0, 6], [4, 8], [1, 3], [8, 1], [0, 8]],
        ]),
        rings(&[&[[6, 2], [3, 5], [3, 6]]]),
        rings(&[
            &[[0, 5], [7, 3], [3, 0], [0, 5], [5, 5], [2, 6]],
            &[[3, 7], [0, 5], [4, 2], [1, 0], [3, 8], [4, 3], [4, 1]],
            &[[0, 1], [3, 0], [6, 4]],
        ]),
    ]);
}
