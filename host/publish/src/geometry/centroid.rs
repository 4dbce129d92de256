//! The centroid of a geometry that [`super::check`] has passed: weighted by area for polygons, by
//! length for lines, the mean for points (contract-9-centroid). Planar, in degrees. Parts on both
//! sides of 180° are laid side by side first, as the bounding box has them.

use yearbook_domain::BoundingBox;
use yearbook_wkt::{GeometryKind, MalformedWkt, WktReader, value};

use super::GeometryBounds;

/// Decimals that are kept, as a factor: a millionth of a degree is 11 cm.
const PRECISION: f64 = 1e6;

/// Returns longitude and latitude of the centroid in degrees, rounded to six digits after the
/// point; none for an empty geometry.
pub(crate) fn centroid(text: &str) -> Option<[f64; 2]> {
    let mut bounds = GeometryBounds::default();
    super::check(text, &mut bounds).ok()?;
    let BoundingBox([west, _, east, _]) = bounds.finish()?;
    let mut sums =
        CentroidSums { crosses: west > east, west, origin: None, moments: [Moments::default(); 3] };
    sums.read(&mut WktReader::new(text)).ok()?;
    sums.finish()
}

/// Weighted sums of positions.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    weight: f64,
    x: f64,
    y: f64,
}

impl Moments {
    fn add(&mut self, weight: f64, x: f64, y: f64) {
        self.weight += weight;
        self.x += weight * x;
        self.y += weight * y;
    }
}

/// Dimensions by which positions are weighted: areas, lengths, points. The first that has any
/// weight counts, so that a polygon without area is a line, and a line without length a point.
const AREA: usize = 0;
const LENGTH: usize = 1;
const POINT: usize = 2;

struct CentroidSums {
    /// Set where the geometry lies on both sides of 180°.
    crosses: bool,
    west: f64,
    /// The first position: sums are of what differs from it, which keeps their digits.
    origin: Option<(f64, f64)>,
    moments: [Moments; 3],
}

impl CentroidSums {
    fn read(&mut self, reader: &mut WktReader<'_>) -> Result<(), MalformedWkt> {
        let kind = reader.kind()?;
        if !reader.open_or_empty()? {
            return Ok(());
        }
        loop {
            match kind {
                GeometryKind::MultiPoint => self.read_point(reader)?,
                GeometryKind::MultiLineString => {
                    let path = self.read_path(reader)?;
                    self.add_path(&path);
                }
                _ => self.read_polygon(reader)?,
            }
            if !reader.next_member()? {
                return Ok(());
            }
        }
    }

    fn read_point(&mut self, reader: &mut WktReader<'_>) -> Result<(), MalformedWkt> {
        let bare = reader.peek_number();
        if !bare && !reader.open_or_empty()? {
            return Ok(());
        }
        let (x, y) = self.read_position(reader)?;
        self.moments[POINT].add(1.0, x, y);
        if bare { Ok(()) } else { reader.next_member().map(drop) }
    }

    fn read_polygon(&mut self, reader: &mut WktReader<'_>) -> Result<(), MalformedWkt> {
        if !reader.open_or_empty()? {
            return Ok(());
        }
        let mut is_outer = true;
        loop {
            let ring = self.read_path(reader)?;
            self.add_path(&ring);
            self.add_ring(&ring, is_outer);
            is_outer = false;
            if !reader.next_member()? {
                return Ok(());
            }
        }
    }

    /// The positions of a line or ring, relative to the origin. Holds one of them at a time.
    fn read_path(&mut self, reader: &mut WktReader<'_>) -> Result<Vec<(f64, f64)>, MalformedWkt> {
        let mut path = Vec::new();
        if reader.open_or_empty()? {
            loop {
                path.push(self.read_position(reader)?);
                if !reader.next_member()? {
                    break;
                }
            }
        }
        Ok(path)
    }

    fn read_position(&mut self, reader: &mut WktReader<'_>) -> Result<(f64, f64), MalformedWkt> {
        let [x, y] = reader.position()?;
        let (x, y) = (value(x)?, value(y)?);
        let x = if self.crosses && x < self.west { x + 360.0 } else { x };
        let (origin_x, origin_y) = *self.origin.get_or_insert((x, y));
        Ok((x - origin_x, y - origin_y))
    }

    fn add_path(&mut self, path: &[(f64, f64)]) {
        for (&(x, y), &(next_x, next_y)) in path.iter().zip(path.iter().skip(1)) {
            let length = (next_x - x).hypot(next_y - y);
            self.moments[LENGTH].add(length, f64::midpoint(x, next_x), f64::midpoint(y, next_y));
        }
        for &(x, y) in path {
            self.moments[POINT].add(1.0, x, y);
        }
    }

    /// Adds an outer ring and takes an inner one away, whichever way they turn.
    fn add_ring(&mut self, ring: &[(f64, f64)], is_outer: bool) {
        let mut sums = Moments::default();
        for (&(x, y), &(next_x, next_y)) in ring.iter().zip(ring.iter().skip(1)) {
            let twice_area = x * next_y - next_x * y;
            sums.add(twice_area / 2.0, (x + next_x) / 3.0, (y + next_y) / 3.0);
        }
        let sign = if is_outer == (sums.weight >= 0.0) { 1.0 } else { -1.0 };
        let area = &mut self.moments[AREA];
        area.weight += sign * sums.weight;
        area.x += sign * sums.x;
        area.y += sign * sums.y;
    }

    fn finish(&self) -> Option<[f64; 2]> {
        let (origin_x, origin_y) = self.origin?;
        let Moments { weight, x, y } = self.moments.iter().find(|moments| moments.weight > 0.0)?;
        let x = origin_x + x / weight;
        let x = if x > 180.0 { x - 360.0 } else { x };
        let rounded = [x, origin_y + y / weight]
            .map(|degrees| (degrees * PRECISION).round() / PRECISION + 0.0);
        rounded.iter().all(|degrees| degrees.is_finite()).then_some(rounded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: [f64; 2]) {
        assert_eq!(centroid(text), Some(expected), "{text}");
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
            assert_eq!(centroid(empty), None, "{empty}");
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
}
