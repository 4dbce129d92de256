//! A check of WKT (OGC Simple Features 1.2.1, 7.2): forms, numbers, ranges, closed rings, over the
//! reader that encoders use. Validity in the sense of Simple Features (self-intersections and the
//! like) is not asked for: real boundary files break it, and they are served as published.

use yearbook_scan::short_decimal;
use yearbook_wkt::{GeometryBounds, WktReader};

/// Points that a ring needs: a triangle and its first point again.
const RING_POINTS: usize = 4;

/// Points that a line needs.
const LINE_POINTS: usize = 2;

/// A fault of a geometry, with its place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum GeometryError {
    /// Not one of the three forms.
    #[error(
        "is not WKT of a MULTI form: it starts {0:?}; write MULTIPOINT, MULTILINESTRING or MULTIPOLYGON without Z, M or SRID"
    )]
    UnknownType(String),
    /// Something else was expected.
    #[error("is not well-formed WKT at byte {at}: expected {expected}")]
    Syntax {
        /// Offset from 0.
        at: usize,
        /// The text that belongs there.
        expected: &'static str,
    },
    /// A coordinate out of range.
    #[error("has longitude {0} outside -180..180{hint}", hint = hint(*.0, 180.0))]
    Longitude(f64),
    /// A coordinate out of range.
    #[error("has latitude {0} outside -90..90{hint}", hint = hint(*.0, 90.0))]
    Latitude(f64),
    /// A ring that does not return to its start.
    #[error("has a ring that does not end where it starts, at byte {0}")]
    UnclosedRing(usize),
    /// Too few points.
    #[error("has a {what} of {points} points at byte {at}; it needs at least {least}")]
    TooFewPoints {
        /// `ring` or `line`.
        what: &'static str,
        /// Number of points.
        points: usize,
        /// Least number of points.
        least: usize,
        /// Offset of its end.
        at: usize,
    },
}

/// Advice for a coordinate out of range; one that rounding put there is served as it is written, so
/// it is not taken either.
fn hint(coordinate: f64, bound: f64) -> &'static str {
    if coordinate.abs() < bound + NOISE {
        "; round it to eight decimals"
    } else {
        "; coordinates are degrees (EPSG:4326), longitude first"
    }
}

/// Degrees that rounding adds, at most.
const NOISE: f64 = 1e-9;

/// Kind of the members of a geometry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GeometryType {
    Point,
    Line,
    Polygon,
}

/// Checks one geometry and widens `bounds` by its points. Bounds are only of use when every
/// geometry was right.
pub(crate) fn check(text: &str, bounds: &mut GeometryBounds) -> Result<(), GeometryError> {
    let (form, rest) = [
        ("MULTIPOINT", GeometryType::Point),
        ("MULTILINESTRING", GeometryType::Line),
        ("MULTIPOLYGON", GeometryType::Polygon),
    ]
    .into_iter()
    .find_map(|(word, form)| {
        let rest = text.strip_prefix(word)?.trim_ascii();
        (rest.starts_with('(') || rest == EMPTY).then_some((form, rest))
    })
    .ok_or_else(|| GeometryError::UnknownType(text.chars().take(24).collect()))?;
    if rest == EMPTY {
        return Ok(());
    }
    let mut reader = WktReader::new(text);
    reader.kind().map_err(|error| expected(error.at, "the name of a geometry"))?;
    list(&mut reader, |reader| match form {
        GeometryType::Point => point_member(reader, bounds),
        GeometryType::Line => line(reader, bounds),
        GeometryType::Polygon => polygon(reader, bounds),
    })?;
    reader.end().map_err(|error| expected(error.at, "the end"))
}

const EMPTY: &str = "EMPTY";

fn expected(at: usize, expected: &'static str) -> GeometryError {
    GeometryError::Syntax { at, expected }
}

/// Offset of the next byte that is no white space.
fn next_byte(reader: &WktReader<'_>) -> usize {
    let rest = reader.rest();
    reader.at() + rest.len() - rest.trim_ascii_start().len()
}

/// Reads `EMPTY` (false), in capitals alone, or an opening parenthesis (true).
fn open_or_empty(reader: &mut WktReader<'_>) -> Result<bool, GeometryError> {
    let rest = reader.rest().trim_ascii_start();
    if !rest.starts_with('(') && !rest.starts_with(EMPTY) {
        return Err(expected(next_byte(reader), "`(`"));
    }
    reader.open_or_empty().map_err(|error| expected(error.at, "`(`"))
}

/// `( member, member, … )` or `EMPTY`; returns false for the latter.
fn list(
    reader: &mut WktReader<'_>,
    mut member: impl FnMut(&mut WktReader<'_>) -> Result<(), GeometryError>,
) -> Result<bool, GeometryError> {
    if !open_or_empty(reader)? {
        return Ok(false);
    }
    loop {
        member(reader)?;
        if !reader.next_member().map_err(|error| expected(error.at, "`,` or `)`"))? {
            return Ok(true);
        }
    }
}

/// A point with its own parentheses, as the standard has it, or without, as many programs write it.
fn point_member(
    reader: &mut WktReader<'_>,
    bounds: &mut GeometryBounds,
) -> Result<(), GeometryError> {
    let rest = reader.rest().trim_ascii_start();
    let parenthesised = rest.starts_with('(');
    if (parenthesised || rest.starts_with(EMPTY)) && !open_or_empty(reader)? {
        return Ok(());
    }
    let (x, y) = point(reader)?;
    if parenthesised {
        let at = next_byte(reader);
        if !matches!(reader.next_member(), Ok(false)) {
            return Err(expected(at, "`)`"));
        }
    }
    bounds.add(x, x, y, y);
    Ok(())
}

fn line(reader: &mut WktReader<'_>, bounds: &mut GeometryBounds) -> Result<(), GeometryError> {
    let Some(path) = path(reader)? else { return Ok(()) };
    if path.points < LINE_POINTS {
        return Err(GeometryError::TooFewPoints {
            what: "line",
            points: path.points,
            least: LINE_POINTS,
            at: reader.at(),
        });
    }
    path.widen(bounds);
    Ok(())
}

fn polygon(reader: &mut WktReader<'_>, bounds: &mut GeometryBounds) -> Result<(), GeometryError> {
    list(reader, |reader| {
        if !reader.rest().trim_ascii_start().starts_with('(') {
            return Err(expected(next_byte(reader), "`(`"));
        }
        let Some(ring) = path(reader)? else { return Ok(()) };
        if ring.points < RING_POINTS {
            return Err(GeometryError::TooFewPoints {
                what: "ring",
                points: ring.points,
                least: RING_POINTS,
                at: reader.at(),
            });
        }
        if ring.first != ring.last {
            return Err(GeometryError::UnclosedRing(reader.at()));
        }
        // Inner rings lie within the outer one; adding them does no harm.
        ring.widen(bounds);
        Ok(())
    })
    .map(drop)
}

/// The points of a line or ring; `None` where it is `EMPTY`.
fn path(reader: &mut WktReader<'_>) -> Result<Option<PathBounds>, GeometryError> {
    let mut path: Option<PathBounds> = None;
    list(reader, |reader| {
        let point = point(reader)?;
        path = Some(path.map_or_else(|| PathBounds::new(point), |path| path.and(point)));
        Ok(())
    })?;
    Ok(path)
}

fn point(reader: &mut WktReader<'_>) -> Result<(f64, f64), GeometryError> {
    let x = number(reader, "a longitude")?;
    if !reader.rest().starts_with(|next: char| next.is_ascii_whitespace()) {
        return Err(expected(reader.at(), "a space and a latitude"));
    }
    let y = number(reader, "a latitude")?;
    if !(-180.0..=180.0).contains(&x) {
        return Err(GeometryError::Longitude(x));
    }
    if !(-90.0..=90.0).contains(&y) {
        return Err(GeometryError::Latitude(y));
    }
    Ok((x, y))
}

fn number(reader: &mut WktReader<'_>, what: &'static str) -> Result<f64, GeometryError> {
    let at = next_byte(reader);
    let number = reader.number().ok().and_then(|number| {
        // Most numbers are short, and publishing waits for each of them.
        let short = short_decimal(number.as_bytes()).filter(|(_, length)| *length == number.len());
        short.map_or_else(|| number.parse().ok(), |(number, _)| Some(number))
    });
    number.ok_or_else(|| expected(at, what))
}

/// Ends, extent and size of a line or ring.
#[derive(Clone, Copy)]
struct PathBounds {
    first: (f64, f64),
    last: (f64, f64),
    points: usize,
    west: f64,
    east: f64,
    south: f64,
    north: f64,
}

impl PathBounds {
    fn new(point @ (x, y): (f64, f64)) -> Self {
        Self { first: point, last: point, points: 1, west: x, east: x, south: y, north: y }
    }

    fn and(self, point @ (x, y): (f64, f64)) -> Self {
        Self {
            last: point,
            points: self.points + 1,
            west: self.west.min(x),
            east: self.east.max(x),
            south: self.south.min(y),
            north: self.north.max(y),
            ..self
        }
    }

    fn widen(&self, bounds: &mut GeometryBounds) {
        bounds.add(self.west, self.east, self.south, self.north);
    }
}

#[cfg(test)]
mod tests;
