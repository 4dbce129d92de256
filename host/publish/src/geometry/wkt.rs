//! A streaming reader of WKT (OGC Simple Features 1.2.1, 7.2): parentheses, numbers, ranges, closed
//! rings. Validity in the sense of Simple Features (self-intersections and the like) is not asked
//! for: real boundary files break it, and they are served as published.

use super::bounds::GeometryBounds;

/// Points that a ring needs: a triangle and its first point again.
const RING_POINTS: usize = 4;

/// Points that a line needs.
const LINE_POINTS: usize = 2;

/// What is wrong with a geometry and where.
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
        /// What belongs there.
        expected: &'static str,
    },
    /// A coordinate out of range.
    #[error("has longitude {0} outside -180..180{hint}", hint = HINT)]
    Longitude(f64),
    /// A coordinate out of range.
    #[error("has latitude {0} outside -90..90{hint}", hint = HINT)]
    Latitude(f64),
    /// A ring that does not return to its start.
    #[error("has a ring that does not end where it starts, at byte {0}")]
    UnclosedRing(usize),
    /// Too few points.
    #[error("has a {what} of {points} points at byte {at}; it needs at least {least}")]
    TooFewPoints {
        /// `ring` or `line`.
        what: &'static str,
        /// How many there are.
        points: usize,
        /// How many there must be.
        least: usize,
        /// Offset of its end.
        at: usize,
    },
}

const HINT: &str = "; coordinates are degrees (EPSG:4326), longitude first";

/// What the lists of coordinates are.
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
    .find_map(|(word, form)| text.strip_prefix(word).map(|rest| (form, rest)))
    .filter(|(_, rest)| {
        matches!(rest.trim_ascii_start().as_bytes(), [b'(', ..]) || rest.trim_ascii() == EMPTY
    })
    .ok_or_else(|| GeometryError::UnknownType(text.chars().take(24).collect()))?;
    let mut reader = Reader { text: text.as_bytes(), at: text.len() - rest.len() };
    if !reader.empty() {
        reader.list(|reader| match form {
            GeometryType::Point => reader.point_member(bounds),
            GeometryType::Line => reader.line(bounds),
            GeometryType::Polygon => reader.polygon(bounds),
        })?;
    }
    reader.skip_space();
    if reader.peek().is_some() { reader.expected("the end") } else { Ok(()) }
}

const EMPTY: &str = "EMPTY";

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    /// `( member, member, … )`.
    fn list(
        &mut self,
        mut member: impl FnMut(&mut Self) -> Result<(), GeometryError>,
    ) -> Result<(), GeometryError> {
        self.symbol(b'(', "`(`")?;
        loop {
            member(self)?;
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b')') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return self.expected("`,` or `)`"),
            }
        }
    }

    /// A point with its own parentheses, as the standard has it, or without, as many programs write
    /// it.
    fn point_member(&mut self, bounds: &mut GeometryBounds) -> Result<(), GeometryError> {
        if self.empty() {
            return Ok(());
        }
        self.skip_space();
        let parenthesised = self.peek() == Some(b'(');
        if parenthesised {
            self.at += 1;
        }
        let (x, y) = self.point()?;
        if parenthesised {
            self.symbol(b')', "`)`")?;
        }
        bounds.add(x, x, y, y);
        Ok(())
    }

    fn line(&mut self, bounds: &mut GeometryBounds) -> Result<(), GeometryError> {
        if self.empty() {
            return Ok(());
        }
        let path = self.path()?;
        if path.points < LINE_POINTS {
            return Err(GeometryError::TooFewPoints {
                what: "line",
                points: path.points,
                least: LINE_POINTS,
                at: self.at,
            });
        }
        path.widen(bounds);
        Ok(())
    }

    fn polygon(&mut self, bounds: &mut GeometryBounds) -> Result<(), GeometryError> {
        if self.empty() {
            return Ok(());
        }
        self.list(|reader| {
            let ring = reader.path()?;
            if ring.points < RING_POINTS {
                return Err(GeometryError::TooFewPoints {
                    what: "ring",
                    points: ring.points,
                    least: RING_POINTS,
                    at: reader.at,
                });
            }
            if ring.first != ring.last {
                return Err(GeometryError::UnclosedRing(reader.at));
            }
            // Inner rings lie within the outer one; adding them does no harm.
            ring.widen(bounds);
            Ok(())
        })
    }

    fn path(&mut self) -> Result<PathBounds, GeometryError> {
        let mut path: Option<PathBounds> = None;
        self.list(|reader| {
            let point = reader.point()?;
            path = Some(path.map_or_else(|| PathBounds::new(point), |path| path.and(point)));
            Ok(())
        })?;
        path.map_or_else(|| self.expected("a point"), Ok)
    }

    fn point(&mut self) -> Result<(f64, f64), GeometryError> {
        let x = self.number("a longitude")?;
        if !self.skip_space() {
            return self.expected("a space and a latitude");
        }
        let y = self.number("a latitude")?;
        if !(-180.0..=180.0).contains(&x) {
            return Err(GeometryError::Longitude(x));
        }
        if !(-90.0..=90.0).contains(&y) {
            return Err(GeometryError::Latitude(y));
        }
        Ok((x, y))
    }

    fn number(&mut self, expected: &'static str) -> Result<f64, GeometryError> {
        self.skip_space();
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest
            .iter()
            .position(|b| !matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
            .unwrap_or(rest.len());
        let number = rest
            .get(..length)
            .and_then(|number| std::str::from_utf8(number).ok())
            .and_then(|number| number.parse().ok());
        let Some(number) = number else { return self.expected(expected) };
        self.at += length;
        Ok(number)
    }

    /// Whether `EMPTY` stands here; passes it.
    fn empty(&mut self) -> bool {
        let before = self.at;
        self.skip_space();
        let found = self.text.get(self.at..).is_some_and(|rest| rest.starts_with(EMPTY.as_bytes()));
        self.at = if found { self.at + EMPTY.len() } else { before };
        found
    }

    fn symbol(&mut self, symbol: u8, expected: &'static str) -> Result<(), GeometryError> {
        self.skip_space();
        if self.peek() != Some(symbol) {
            return self.expected(expected);
        }
        self.at += 1;
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Passes white space; whether there was any.
    fn skip_space(&mut self) -> bool {
        let before = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
        self.at > before
    }

    fn expected<T>(&self, expected: &'static str) -> Result<T, GeometryError> {
        Err(GeometryError::Syntax { at: self.at, expected })
    }
}

/// What is kept of a line or ring.
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
