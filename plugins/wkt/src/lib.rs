//! A reader of well-known text (OGC 06-103r4, section 7) of two dimensions, piece by piece: the
//! caller asks for what may come next, so no geometry is ever held. Copies nothing: numbers are
//! slices of the text. Encoders write what they read; the host checks what is published. The box
//! and the centroid of a geometry are found here for both, and so are lines with fewer vertices.

use std::fmt;

pub use bounds::GeometryBounds;
pub use centroid::centroid;
pub use parts::{GeometryPart, for_each_part};

use plain_number::PlainNumber;

pub mod arcs;
mod bounds;
mod centroid;
mod parts;
mod plain_number;

/// Kind of a geometry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the standard's own names")]
pub enum GeometryKind {
    Point,
    LineString,
    Polygon,
    MultiPoint,
    MultiLineString,
    MultiPolygon,
    GeometryCollection,
}

impl GeometryKind {
    /// All, in the order of their numbers in WKB, which begin at 1.
    pub const ALL: [Self; 7] = [
        Self::Point,
        Self::LineString,
        Self::Polygon,
        Self::MultiPoint,
        Self::MultiLineString,
        Self::MultiPolygon,
        Self::GeometryCollection,
    ];

    /// As GeoJSON and GeoParquet spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Point => "Point",
            Self::LineString => "LineString",
            Self::Polygon => "Polygon",
            Self::MultiPoint => "MultiPoint",
            Self::MultiLineString => "MultiLineString",
            Self::MultiPolygon => "MultiPolygon",
            Self::GeometryCollection => "GeometryCollection",
        }
    }

    /// Kind of the members of a multi-part geometry.
    #[must_use]
    pub fn member(self) -> Option<Self> {
        match self {
            Self::MultiPoint => Some(Self::Point),
            Self::MultiLineString => Some(Self::LineString),
            Self::MultiPolygon => Some(Self::Polygon),
            _ => None,
        }
    }

    /// Its number in WKB.
    #[must_use]
    pub fn number(self) -> u32 {
        self as u32 + 1
    }
}

/// Text that is not WKT of two dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MalformedWkt {
    /// At which byte.
    pub at: usize,
}

impl fmt::Display for MalformedWkt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a geometry is not WKT of two dimensions from byte {} on", self.at)
    }
}

impl std::error::Error for MalformedWkt {}

/// A position's two numbers, as they are written.
pub type CoordinateText<'a> = [&'a str; 2];

/// Greatest depth of collections in collections.
pub const MAX_DEPTH: usize = 32;

/// A place in a text.
#[derive(Debug, Clone)]
pub struct WktReader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> WktReader<'a> {
    /// At the beginning.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Reads the name of a geometry.
    ///
    /// # Errors
    /// [`MalformedWkt`]; so are names with Z or M.
    pub fn kind(&mut self) -> Result<GeometryKind, MalformedWkt> {
        let start = self.at;
        let word = self.word();
        let found =
            GeometryKind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(word));
        found.ok_or(MalformedWkt { at: start })
    }

    /// Reads `EMPTY` (false) or an opening parenthesis (true).
    ///
    /// # Errors
    /// [`MalformedWkt`] where neither stands here.
    pub fn open_or_empty(&mut self) -> Result<bool, MalformedWkt> {
        if self.consume(b'(') {
            return Ok(true);
        }
        let start = self.at;
        if self.word().eq_ignore_ascii_case("EMPTY") {
            Ok(false)
        } else {
            Err(MalformedWkt { at: start })
        }
    }

    /// Returns whether a number stands here: a point of a MULTIPOINT without its own parentheses.
    pub fn peek_number(&mut self) -> bool {
        self.skip_whitespace();
        self.peek().is_some_and(|byte| is_number_byte(byte) && !byte.is_ascii_alphabetic())
    }

    /// Reads a comma (true: another item follows) or a closing parenthesis (false).
    ///
    /// # Errors
    /// [`MalformedWkt`] where neither stands here.
    pub fn next_member(&mut self) -> Result<bool, MalformedWkt> {
        if self.consume(b',') {
            return Ok(true);
        }
        if self.consume(b')') { Ok(false) } else { Err(MalformedWkt { at: self.at }) }
    }

    /// Reads what is in parentheses by `read`, item by item; nothing where the text says `EMPTY`.
    ///
    /// # Errors
    /// [`MalformedWkt`] for anything else, and those of `read`.
    pub fn members(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<(), MalformedWkt>,
    ) -> Result<(), MalformedWkt> {
        if self.open_or_empty()? {
            loop {
                read(self)?;
                if !self.next_member()? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Reads the one position in parentheses; `None` if the text says `EMPTY`.
    ///
    /// # Errors
    /// [`MalformedWkt`] for anything else.
    pub fn point(&mut self) -> Result<Option<CoordinateText<'a>>, MalformedWkt> {
        self.one(Self::position)
    }

    /// [`WktReader::point`] as values.
    ///
    /// # Errors
    /// As [`WktReader::coordinates`].
    pub fn point_coordinates(&mut self) -> Result<Option<[f64; 2]>, MalformedWkt> {
        self.one(Self::coordinates)
    }

    fn one<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, MalformedWkt>,
    ) -> Result<Option<T>, MalformedWkt> {
        if !self.open_or_empty()? {
            return Ok(None);
        }
        let position = read(self)?;
        if self.next_member()? { Err(MalformedWkt { at: self.at }) } else { Ok(Some(position)) }
    }

    /// Reads two numbers.
    ///
    /// # Errors
    /// [`MalformedWkt`] for anything else.
    pub fn position(&mut self) -> Result<CoordinateText<'a>, MalformedWkt> {
        Ok([self.number()?, self.number()?])
    }

    /// Reads the values of two numbers.
    ///
    /// # Errors
    /// [`MalformedWkt`] for anything else, and for numbers beyond all floats.
    #[inline(always)]
    pub fn coordinates(&mut self) -> Result<[f64; 2], MalformedWkt> {
        self.skip_whitespace();
        let Some((length, position)) = self.plain_position() else {
            let [x, y] = self.position()?;
            return Ok([value(x)?, value(y)?]);
        };
        self.at += length;
        Ok(position)
    }

    /// Two plain numbers with one space between them, and the bytes of all.
    #[inline(always)]
    fn plain_position(&self) -> Option<(usize, [f64; 2])> {
        let text = self.text.as_bytes().get(self.at..)?;
        let x = PlainNumber::read(text)?;
        let text = text.get(x.length..)?.strip_prefix(b" ")?;
        let y = PlainNumber::read(text)?;
        Some((x.length + 1 + y.length, [x.value, y.value]))
    }

    /// Reads a number of the commonest form and returns it with its value: digits, with a minus or
    /// a fraction or without, as JSON writes it too, and few enough for the quotient to be exact.
    /// `None` for anything else, of which nothing is read.
    pub fn plain_number(&mut self) -> Option<(&'a str, f64)> {
        self.skip_whitespace();
        let plain = PlainNumber::read(self.text.as_bytes().get(self.at..)?)?;
        let text = self.rest().get(..plain.length)?;
        self.at += plain.length;
        Some((text, plain.value))
    }

    /// Offset of the next byte.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// The text from here on.
    #[must_use]
    pub fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Makes sure that nothing follows.
    ///
    /// # Errors
    /// [`MalformedWkt`].
    pub fn end(mut self) -> Result<(), MalformedWkt> {
        self.skip_whitespace();
        if self.at == self.text.len() { Ok(()) } else { Err(MalformedWkt { at: self.at }) }
    }

    /// Reads one number, as it is written.
    ///
    /// # Errors
    /// [`MalformedWkt`] where none stands here.
    pub fn number(&mut self) -> Result<&'a str, MalformedWkt> {
        self.skip_whitespace();
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().position(|byte| !is_number_byte(*byte)).unwrap_or(rest.len());
        let number = &self.text[self.at..self.at + length];
        if !number.bytes().any(|byte| byte.is_ascii_digit()) {
            return Err(MalformedWkt { at: self.at });
        }
        self.at += length;
        Ok(number)
    }

    fn word(&mut self) -> &'a str {
        self.skip_whitespace();
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(rest.len());
        let word = &self.text[self.at..self.at + length];
        self.at += length;
        word
    }

    fn consume(&mut self, byte: u8) -> bool {
        self.skip_whitespace();
        let has = self.peek() == Some(byte);
        self.at += usize::from(has);
        has
    }

    fn skip_whitespace(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

fn is_number_byte(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E')
}

/// A number's value.
///
/// # Errors
/// [`MalformedWkt`] when the text is no number, or one beyond all floats.
pub fn value(number: &str) -> Result<f64, MalformedWkt> {
    number.parse().ok().filter(|value: &f64| value.is_finite()).ok_or(MalformedWkt { at: 0 })
}

#[cfg(test)]
mod tests;
