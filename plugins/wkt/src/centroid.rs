//! Centroids of geometries, read in one pass: weighted by area where there are polygons, else by
//! length where there are lines, else the mean of the points. Longitudes are unwrapped, so that
//! what lies on both sides of 180 degrees has its centroid there: along the way, or as a bounding
//! box that is known has them.

use crate::{CoordinateText, GeometryKind, MAX_DEPTH, MalformedWkt, WktReader, value};

/// Weighted sum of positions, relative to the geometry's first one.
#[derive(Debug, Clone, Copy, Default)]
struct Moment {
    weight: f64,
    x: f64,
    y: f64,
}

impl Moment {
    fn add(&mut self, weight: f64, [x, y]: [f64; 2]) {
        self.weight += weight;
        self.x += weight * x;
        self.y += weight * y;
    }
}

/// Side of 180 degrees on which a longitude is read.
#[derive(Debug, Clone, Copy)]
enum Unwrapping {
    /// The shorter way from the position before it.
    AlongTheWay,
    /// At this longitude or to the east of it.
    EastOf(f64),
}

/// Sums over a geometry, one for each dimension.
#[derive(Debug, Clone, Copy)]
struct Centroid {
    unwrapping: Unwrapping,
    /// The first position; all sums are relative to it, for digits would be lost otherwise.
    origin: Option<[f64; 2]>,
    points: Moment,
    lines: Moment,
    areas: Moment,
}

/// Returns the centroid of a text, longitude from -180 (included) to 180 and latitude in degrees;
/// none for an empty geometry.
///
/// # Errors
/// [`MalformedWkt`].
pub fn centroid(text: &str) -> Result<Option<[f64; 2]>, MalformedWkt> {
    let found = Centroid::read(text, Unwrapping::AlongTheWay)?;
    Ok(found.map(|[longitude, latitude]| [wrapped(longitude), latitude]))
}

/// Returns the centroid of a text whose bounding box crosses 180 degrees and begins at `west`;
/// negative infinity: it does not cross. Longitude from -180 to 180 (both included) and latitude in
/// degrees; none for an empty geometry.
///
/// # Errors
/// [`MalformedWkt`].
pub fn centroid_east_of(text: &str, west: f64) -> Result<Option<[f64; 2]>, MalformedWkt> {
    let found = Centroid::read(text, Unwrapping::EastOf(west))?;
    Ok(found.map(|[longitude, latitude]| {
        [if longitude > 180.0 { longitude - 360.0 } else { longitude }, latitude]
    }))
}

impl Centroid {
    fn read(text: &str, unwrapping: Unwrapping) -> Result<Option<[f64; 2]>, MalformedWkt> {
        let mut reader = WktReader::new(text);
        let mut sums = Self {
            unwrapping,
            origin: None,
            points: Moment::default(),
            lines: Moment::default(),
            areas: Moment::default(),
        };
        sums.geometry(&mut reader, MAX_DEPTH)?;
        reader.end()?;
        Ok(sums.result())
    }

    /// The centroid, its longitude where unwrapping has it.
    fn result(&self) -> Option<[f64; 2]> {
        let [x, y] = self.origin?;
        let all = [&self.areas, &self.lines, &self.points];
        // A polygon without area is a line, a line without length a point.
        let heaviest = all.into_iter().find(|moment| moment.weight > 0.0)?;
        let longitude = x + heaviest.x / heaviest.weight;
        Some([longitude, y + heaviest.y / heaviest.weight])
    }

    fn geometry(&mut self, reader: &mut WktReader<'_>, depth: usize) -> Result<(), MalformedWkt> {
        let deeper = depth.checked_sub(1).ok_or(MalformedWkt { at: reader.at() })?;
        match reader.kind()? {
            GeometryKind::GeometryCollection => {
                members(reader, |reader| self.geometry(reader, deeper))
            }
            kind => self.coordinates(kind, reader),
        }
    }

    fn coordinates(
        &mut self,
        kind: GeometryKind,
        reader: &mut WktReader<'_>,
    ) -> Result<(), MalformedWkt> {
        match kind {
            GeometryKind::Point => members(reader, |reader| {
                let at = self.relative(reader.position()?, 0.0)?;
                self.points.add(1.0, at);
                Ok(())
            }),
            GeometryKind::MultiPoint => members(reader, |reader| {
                if reader.peek_number() {
                    let at = self.relative(reader.position()?, 0.0)?;
                    self.points.add(1.0, at);
                    return Ok(());
                }
                self.coordinates(GeometryKind::Point, reader)
            }),
            GeometryKind::LineString => self.path(reader).map(|_| ()),
            GeometryKind::Polygon => {
                let mut sign = 1.0;
                members(reader, |reader| {
                    let ring = self.path(reader)?;
                    // Rings may run either way: the first one is the outer.
                    let sign = std::mem::replace(&mut sign, -1.0);
                    let turn = sign * ring.weight.signum();
                    self.areas.weight += turn * ring.weight;
                    self.areas.x += turn * ring.x;
                    self.areas.y += turn * ring.y;
                    Ok(())
                })
            }
            GeometryKind::MultiLineString => {
                members(reader, |reader| self.coordinates(GeometryKind::LineString, reader))
            }
            GeometryKind::MultiPolygon => {
                members(reader, |reader| self.coordinates(GeometryKind::Polygon, reader))
            }
            GeometryKind::GeometryCollection => Err(MalformedWkt { at: reader.at() }),
        }
    }

    /// Adds the points and the length of a path, and returns the area that it encloses, negative
    /// where it runs clockwise.
    fn path(&mut self, reader: &mut WktReader<'_>) -> Result<Moment, MalformedWkt> {
        let mut area = Moment::default();
        let (mut start, mut last) = ([0.0; 2], None);
        members(reader, |reader| {
            let at = self.relative(reader.position()?, last.map_or(0.0, |[x, _]: [f64; 2]| x))?;
            match last {
                None => start = at,
                Some(last) => {
                    let length = (at[0] - last[0]).hypot(at[1] - last[1]);
                    self.lines.add(length, [0, 1].map(|axis| (at[axis] + last[axis]) / 2.0));
                    // Triangles from the first position, so that digits are not lost to the
                    // distance from it.
                    let [a, b] = [last, at].map(|[x, y]| [x - start[0], y - start[1]]);
                    let middle = [0, 1].map(|axis| (last[axis] + at[axis] + start[axis]) / 3.0);
                    area.add((a[0] * b[1] - b[0] * a[1]) / 2.0, middle);
                }
            }
            self.points.add(1.0, at);
            last = Some(at);
            Ok(())
        })?;
        Ok(area)
    }

    /// A position relative to the origin; `near` is the longitude before it, relative too.
    fn relative(
        &mut self,
        [x, y]: CoordinateText<'_>,
        near: f64,
    ) -> Result<[f64; 2], MalformedWkt> {
        let (x, y) = (value(x)?, value(y)?);
        let x = match self.unwrapping {
            Unwrapping::EastOf(west) if x < west => x + 360.0,
            _ => x,
        };
        let [origin_x, origin_y] = *self.origin.get_or_insert([x, y]);
        let x = match self.unwrapping {
            Unwrapping::AlongTheWay => near + wrapped(x - origin_x - near),
            Unwrapping::EastOf(_) => x - origin_x,
        };
        Ok([x, y - origin_y])
    }
}

/// A difference of longitudes as the shorter way around, from -180 (included) to 180.
fn wrapped(degrees: f64) -> f64 {
    if (-180.0..180.0).contains(&degrees) {
        return degrees;
    }
    (degrees + 180.0).rem_euclid(360.0) - 180.0
}

/// Items in parentheses; none where the text says EMPTY.
fn members(
    reader: &mut WktReader<'_>,
    mut item: impl FnMut(&mut WktReader<'_>) -> Result<(), MalformedWkt>,
) -> Result<(), MalformedWkt> {
    if reader.open_or_empty()? {
        loop {
            item(reader)?;
            if !reader.next_member()? {
                break;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
                    (0..2).all(|axis| (found[axis] - expected[axis]).abs() < 1e-9)
                }
                (found, expected) => found == Ok(expected),
            };
            assert!(near, "{text}: {found:?}");
        }
    }

    #[test]
    fn nothing_on_the_180th_meridian_lands_in_africa_contract_9() {
        for text in [
            "MULTIPOINT (179 -44, -179 -44)",
            "LINESTRING (179 -44, -179 -44)",
            "POLYGON ((179 -45, -179 -45, -179 -43, 179 -43, 179 -45))",
            "MULTIPOLYGON (((178 -45, 179 -45, 179 -43, 178 -43, 178 -45)), ((-179 -45, -178 -45, -178 -43, -179 -43, -179 -45)))",
        ] {
            let found = centroid(text);
            assert!(
                matches!(found, Ok(Some([x, y])) if (x.abs() - 180.0).abs() < 1e-9 && (y + 44.0).abs() < 1e-9),
                "{text}: {found:?}"
            );
        }
    }

    #[test]
    fn malformed_text_is_an_error() {
        for text in ["", "POINT (1 2", "POLYGON ((0 0, x 1))", "POINT (1 2) POINT (1 2)"] {
            assert!(centroid(text).is_err(), "{text}");
        }
    }
}
