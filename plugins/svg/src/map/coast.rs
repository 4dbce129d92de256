//! The coast: rings of land that `coast/cut_coast.py` cut from Natural Earth (public domain),
//! clipped to what a map shows.

use std::fmt::Write as _;

use super::view::{MapBounds, MapView};
use crate::picture::coordinate;

/// Rings one after the other: the number of points, the first one, then differences.
static COAST: &[u8] = include_bytes!("../../coast/coast.bin");

/// Numbers of a degree.
const PER_DEGREE: f64 = 100.0;

/// Pixels beyond the frame to which land is drawn, so that the line of a cut is not seen.
const BEYOND: f64 = 4.0;

/// Pixels that two points of a ring are apart at least.
const APART: f64 = 0.8;

/// Land within the view as the `d` of a path.
pub(super) fn path(view: &MapView) -> String {
    let room = BEYOND / (view.pixels_per_degree * view.shrink);
    let MapBounds { west, south, east, north } = view.bounds;
    let window = MapBounds {
        west: west - room,
        south: south - room,
        east: east + room,
        north: north + room,
    };
    let mut path = String::new();
    let mut numbers = Numbers { bytes: COAST };
    while let Some(ring) = numbers.ring() {
        let longitudes = || ring.iter().map(|[x, _]| *x);
        let first = longitudes().fold(f64::INFINITY, f64::min);
        let last = longitudes().fold(f64::NEG_INFINITY, f64::max);
        for turn in [-360.0, 0.0, 360.0] {
            if first + turn > window.east || last + turn < window.west {
                continue;
            }
            let shifted = ring.iter().map(|[x, y]| [x + turn, *y]).collect();
            push_ring(&clipped(shifted, &window), view, &mut path);
        }
    }
    path
}

fn push_ring(ring: &[[f64; 2]], view: &MapView, path: &mut String) {
    let mut shape = String::new();
    let mut before: Option<[f64; 2]> = None;
    let mut points = 0;
    for [longitude, latitude] in ring {
        let [x, y] = view.pixel_at(*longitude, *latitude);
        if before.is_some_and(|[a, b]| (a - x).abs() < APART && (b - y).abs() < APART) {
            continue;
        }
        let _ = write!(
            shape,
            "{}{} {}",
            if points == 0 { 'M' } else { 'L' },
            coordinate(x),
            coordinate(y)
        );
        before = Some([x, y]);
        points += 1;
    }
    // What is smaller than a pixel is a speck of its own.
    if points == 1 {
        shape.push_str("h1v1h-1z");
    }
    if points > 0 {
        path.push_str(&shape);
        path.push('z');
    }
}

/// The part of a ring within a window, one edge of the window after the other (Sutherland and
/// Hodgman, 1974).
fn clipped(ring: Vec<[f64; 2]>, window: &MapBounds) -> Vec<[f64; 2]> {
    let edges = [
        (0, window.west, 1.0),
        (0, window.east, -1.0),
        (1, window.south, 1.0),
        (1, window.north, -1.0),
    ];
    edges.into_iter().fold(ring, |ring, (axis, limit, sign)| {
        let depth = |point: &[f64; 2]| (point[axis] - limit) * sign;
        if ring.iter().all(|point| depth(point) >= 0.0) {
            return ring;
        }
        let mut kept = Vec::new();
        for (index, point) in ring.iter().enumerate() {
            let before = &ring[(index + ring.len() - 1) % ring.len()];
            let (from, to) = (depth(before), depth(point));
            if (from < 0.0) != (to < 0.0) {
                let share = from / (from - to);
                let mut crossing =
                    [0, 1].map(|axis| before[axis] + share * (point[axis] - before[axis]));
                crossing[axis] = limit;
                kept.push(crossing);
            }
            if to >= 0.0 {
                kept.push(*point);
            }
        }
        kept
    })
}

/// A reader of whole numbers of seven bits a byte, the sign in the lowest bit.
struct Numbers {
    bytes: &'static [u8],
}

impl Numbers {
    /// The next ring, in degrees; `None` at the end.
    fn ring(&mut self) -> Option<Vec<[f64; 2]>> {
        let points = usize::try_from(self.number()?).ok()?;
        let (mut x, mut y) = (0, 0);
        let mut ring = Vec::with_capacity(points);
        for _ in 0..points {
            x += self.number()?;
            y += self.number()?;
            ring.push([f64::from(x) / PER_DEGREE, f64::from(y) / PER_DEGREE]);
        }
        Some(ring)
    }

    fn number(&mut self) -> Option<i32> {
        let mut bits = 0u32;
        for shift in (0..32).step_by(7) {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            bits |= u32::from(byte & 127).checked_shl(shift)?;
            if *byte < 128 {
                break;
            }
        }
        Some((bits >> 1).cast_signed() ^ -((bits & 1).cast_signed()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::Area;

    fn rings() -> Vec<Vec<[f64; 2]>> {
        let mut numbers = Numbers { bytes: COAST };
        std::iter::from_fn(|| numbers.ring()).collect()
    }

    /// Returns whether a position is on land: how many edges lie to the east of it.
    fn is_land([x, y]: [f64; 2]) -> bool {
        let crossings = rings().into_iter().map(|ring| {
            let edges = (0..ring.len()).map(|index| (ring[index], ring[(index + 1) % ring.len()]));
            let crosses = |([ax, ay], [bx, by]): &([f64; 2], [f64; 2])| {
                (*ay > y) != (*by > y) && x < ax + (y - ay) / (by - ay) * (bx - ax)
            };
            edges.filter(crosses).count()
        });
        crossings.sum::<usize>() % 2 == 1
    }

    #[test]
    fn the_outline_is_small_and_every_ring_is_whole() {
        assert!(COAST.len() <= 60_000);
        let rings = rings();
        assert!(rings.len() > 1_000);
        assert!(rings.iter().all(|ring| ring.len() >= 3));
        let positions = || rings.iter().flatten();
        assert!(positions().all(|[x, y]| (-180.0..=540.0).contains(x) && y.abs() <= 90.0));
        // No edge runs around the world.
        for ring in &rings {
            for pair in ring.windows(2) {
                assert!((pair[0][0] - pair[1][0]).abs() < 180.0 || pair[0][1] < -89.0, "{pair:?}");
            }
        }
    }

    #[test]
    fn cities_are_on_land_and_the_chatham_islands_are_there() {
        for (name, position, expected) in [
            ("Hamilton, New Zealand", [175.28, -37.79], true),
            ("the Chatham Islands", [-176.5, -43.95], true),
            ("Kansas City", [-94.6, 39.1], true),
            ("Moscow", [37.6, 55.75], true),
            ("Chukotka, beyond 180 degrees", [-175.0 + 360.0, 66.5], true),
            ("the Tasman Sea", [160.0, -38.0], false),
            ("the Atlantic", [-40.0, 30.0], false),
            ("the Caspian Sea", [50.8, 41.8], false),
        ] {
            let found = is_land(position) || is_land([position[0] + 360.0, position[1]]);
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn land_is_clipped_to_the_view() {
        let room = Area { left: 0.0, top: 0.0, right: 600.0, bottom: 300.0 };
        let bounds = MapBounds { west: 166.0, south: -47.5, east: 184.0, north: -34.0 };
        let view = MapView::fit(&bounds, &room, -180.0);
        let path = path(&view);
        assert!(path.len() < 20_000 && path.matches('M').count() > 3, "{}", path.len());
        // In the middle of a continent all is land: one rectangle.
        let bounds = MapBounds { west: 20.0, south: 50.0, east: 24.0, north: 52.0 };
        let inland = MapView::fit(&bounds, &room, -180.0);
        assert_eq!(super::path(&inland).matches('M').count(), 1);
    }

    #[test]
    fn clipping_keeps_what_is_inside() {
        let window = MapBounds { west: 0.0, south: 0.0, east: 10.0, north: 10.0 };
        let square = |low: f64, high: f64| vec![[low, low], [high, low], [high, high], [low, high]];
        assert_eq!(clipped(square(2.0, 3.0), &window), square(2.0, 3.0));
        assert!(clipped(square(12.0, 13.0), &window).is_empty());
        let cut = clipped(square(5.0, 15.0), &window);
        assert!(cut.iter().all(|[x, y]| *x <= 10.0 && *y <= 10.0) && cut.len() == 4, "{cut:?}");
    }
}
