//! Whatever geometry is written as WKT comes back from the `geojson` crate as the `wkt` crate reads
//! it, rings turned at most.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use geojson::{GeometryValue, Position};
use proptest::collection::vec;
use proptest::prelude::*;
use wkt::Wkt;
use wkt::types::{Coord, LineString, Polygon};
use yearbook_geojson_writer::WktToGeoJson;

type Line = Vec<Vec<f64>>;

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        (-180_000_000..180_000_000_i32, 0_usize..13)
            .prop_map(|(digits, places)| format!("{:.places$}", f64::from(digits) / 1e6)),
        // serde_json reads floats exactly only where digits and exponent are few.
        (any::<i32>(), -20..20).prop_map(|(digits, exponent)| format!("{digits}e{exponent}")),
        any::<i8>().prop_map(|number| number.to_string()),
    ]
}

fn pair() -> impl Strategy<Value = String> {
    (number(), number()).prop_map(|(x, y)| format!("{x} {y}"))
}

fn coordinates(size: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    vec(pair(), size).prop_map(|all| format!("({})", all.join(", ")))
}

fn ring() -> impl Strategy<Value = String> {
    vec(pair(), 3..8).prop_map(|all| format!("({},{})", all.join(","), all[0]))
}

fn some(item: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    vec(item, 0..4).prop_map(|all| {
        if all.is_empty() { "EMPTY".to_owned() } else { format!("({})", all.join(" , ")) }
    })
}

fn named(name: &'static str, rest: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    rest.prop_map(move |rest| format!("{name} {rest}"))
}

fn geometry() -> impl Strategy<Value = String> {
    let polygon = || vec(ring(), 1..3).prop_map(|rings| format!("({})", rings.join(",")));
    let simple = prop_oneof![
        named("POINT", coordinates(1..2)),
        named("LINESTRING", coordinates(2..6)),
        named("POLYGON", some(ring())),
        named("MULTIPOINT", some(coordinates(1..2))),
        named("MULTILINESTRING", some(coordinates(2..6))),
        named("MULTIPOLYGON", some(polygon())),
    ];
    simple.prop_recursive(3, 12, 4, |inner| named("GEOMETRYCOLLECTION", some(inner)))
}

fn coord(coord: &Coord<f64>) -> Vec<f64> {
    vec![coord.x, coord.y]
}

fn line(line: &LineString<f64>) -> Line {
    line.coords().iter().map(coord).collect()
}

fn area(ring: &[Vec<f64>]) -> f64 {
    let [x, y] = [ring[0][0], ring[0][1]];
    ring.windows(2)
        .map(|pair| (pair[0][0] - x) * (pair[1][1] - y) - (pair[1][0] - x) * (pair[0][1] - y))
        .sum()
}

fn polygon(polygon: &Polygon<f64>) -> Vec<Line> {
    let turned = |(position, ring): (usize, &LineString<f64>)| {
        let mut ring = line(ring);
        let area = area(&ring);
        if area != 0.0 && (area < 0.0) == (position == 0) {
            ring.reverse();
        }
        ring
    };
    polygon.rings().iter().enumerate().map(turned).collect()
}

fn plain(position: &Position) -> Vec<f64> {
    position.as_slice().to_vec()
}

fn plains(positions: &[Position]) -> Line {
    positions.iter().map(plain).collect()
}

fn lines(lines: &[Vec<Position>]) -> Vec<Line> {
    lines.iter().map(|line| plains(line)).collect()
}

fn same(expected: &Wkt<f64>, found: &GeometryValue) {
    match (expected, found) {
        (Wkt::Point(point), GeometryValue::Point { coordinates }) => {
            assert_eq!(point.coord().map(coord), Some(plain(coordinates)))
        }
        (Wkt::LineString(expected), GeometryValue::LineString { coordinates }) => {
            assert_eq!(line(expected), plains(coordinates))
        }
        (Wkt::Polygon(expected), GeometryValue::Polygon { coordinates }) => {
            assert_eq!(polygon(expected), lines(coordinates))
        }
        (Wkt::MultiPoint(points), GeometryValue::MultiPoint { coordinates }) => {
            assert_eq!(
                points
                    .points()
                    .iter()
                    .map(|point| coord(point.coord().unwrap()))
                    .collect::<Vec<_>>(),
                plains(coordinates)
            );
        }
        (Wkt::MultiLineString(expected), GeometryValue::MultiLineString { coordinates }) => {
            assert_eq!(
                expected.line_strings().iter().map(line).collect::<Vec<_>>(),
                lines(coordinates)
            );
        }
        (Wkt::MultiPolygon(polygons), GeometryValue::MultiPolygon { coordinates }) => {
            let found: Vec<_> = coordinates.iter().map(|polygon| lines(polygon)).collect();
            assert_eq!(polygons.polygons().iter().map(polygon).collect::<Vec<_>>(), found);
        }
        (Wkt::GeometryCollection(all), GeometryValue::GeometryCollection { geometries }) => {
            assert_eq!(all.geometries().len(), geometries.len());
            all.geometries()
                .iter()
                .zip(geometries)
                .for_each(|(expected, found)| same(expected, &found.value));
        }
        (expected, found) => panic!("{expected:?} became {found:?}"),
    }
}

proptest! {
    #[test]
    fn a_geometry_is_the_same_to_other_readers(text in geometry()) {
        let mut bytes = Vec::new();
        WktToGeoJson::default().geometry(&text, &mut bytes).unwrap();
        let found: geojson::Geometry = serde_json::from_slice(&bytes).unwrap();
        same(&text.parse().unwrap(), &found.value);
    }

    #[test]
    fn no_text_makes_it_panic(text in "(POINT|POLYGON|MULTI|GEOMETRYCOLLECTION|EMPTY|[ (),.+e0-9-]){0,20}") {
        let _ = WktToGeoJson::default().geometry(&text, &mut Vec::new());
    }
}
