//! Coordinates of one geometry as they come, and what they are once its type is known: the type may
//! stand behind the coordinates.

use crate::position::{NOISE, Position};
use crate::wkt::MultiGeometry;

/// Numbers and brackets of a geometry at most: 64 MiB while they are held.
const MAX_TOKENS: usize = 4 << 20;

/// Farthest longitude that is taken, degrees: once around.
const FARTHEST: f64 = 540.0;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token {
    Open,
    Close,
    Number(f64),
}

/// A geometry while it is parsed.
#[derive(Debug, Default)]
pub(crate) struct Coordinates {
    pub(crate) kind: Option<String>,
    tokens: Vec<Token>,
}

impl Coordinates {
    pub(crate) fn open(&mut self) -> Result<(), String> {
        self.push(Token::Open)
    }

    pub(crate) fn close(&mut self) -> Result<(), String> {
        self.push(Token::Close)
    }

    pub(crate) fn number(&mut self, text: &str) -> Result<(), String> {
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        self.push(Token::Number(number.ok_or("is too large for a coordinate")?))
    }

    fn push(&mut self, token: Token) -> Result<(), String> {
        if self.tokens.len() == MAX_TOKENS {
            return Err(format!("has more than {MAX_TOKENS} numbers and brackets; simplify it"));
        }
        self.tokens.push(token);
        Ok(())
    }

    /// The geometry; `None` of a type without coordinates.
    ///
    /// # Errors
    /// Fails with the fault of the geometry.
    pub(crate) fn read(self) -> Result<MultiGeometry, String> {
        let Self { kind, tokens } = self;
        let kind = kind.ok_or("has no type")?;
        let mut reader = TokenReader { tokens: &tokens, at: 0 };
        let geometry = match kind.as_str() {
            "Point" => MultiGeometry::Points(reader.point()?.into_iter().collect()),
            "MultiPoint" => MultiGeometry::Points(reader.positions()?),
            "LineString" => MultiGeometry::Lines(vec![reader.line()?]),
            "MultiLineString" => MultiGeometry::Lines(reader.list(TokenReader::line)?),
            "Polygon" => MultiGeometry::Polygons(vec![reader.polygon()?]),
            "MultiPolygon" => MultiGeometry::Polygons(reader.list(TokenReader::polygon)?),
            "GeometryCollection" => {
                return Err(
                    "is a GeometryCollection; split it into features of one type".to_owned()
                );
            }
            other => {
                let other: String = other.chars().take(40).collect();
                return Err(format!("has the type {other:?}, which GeoJSON does not know"));
            }
        };
        if reader.at != tokens.len() {
            return Err(format!("has more coordinates than a {kind} has"));
        }
        Ok(geometry.without_empty())
    }
}

/// Coordinates as nested lists.
struct TokenReader<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl TokenReader<'_> {
    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).copied();
        self.at += 1;
        token
    }

    /// A list of what `read` reads.
    fn list<T>(&mut self, read: impl Fn(&mut Self) -> Result<T, String>) -> Result<Vec<T>, String> {
        if self.next() != Some(Token::Open) {
            return Err("has coordinates that are not nested as its type wants".to_owned());
        }
        let mut items = Vec::new();
        while self.tokens.get(self.at) == Some(&Token::Open) {
            items.push(read(self)?);
        }
        if self.next() != Some(Token::Close) {
            return Err("has coordinates that are not nested as its type wants".to_owned());
        }
        Ok(items)
    }

    /// A point, which may be empty.
    fn point(&mut self) -> Result<Option<Position>, String> {
        if self.tokens == [Token::Open, Token::Close] {
            self.at = 2;
            return Ok(None);
        }
        self.position().map(Some)
    }

    /// Longitude and latitude; an altitude is left out.
    fn position(&mut self) -> Result<Position, String> {
        if self.next() != Some(Token::Open) {
            return Err("has coordinates that are not nested as its type wants".to_owned());
        }
        let (Some(Token::Number(longitude)), Some(Token::Number(latitude))) =
            (self.next(), self.next())
        else {
            return Err("has a position without longitude and latitude".to_owned());
        };
        while let Some(Token::Number(_)) = self.tokens.get(self.at) {
            self.at += 1;
        }
        if self.next() != Some(Token::Close) {
            return Err("has a position that is no list of numbers".to_owned());
        }
        if latitude.abs() > 90.0 + NOISE {
            return Err(format!(
                "has the latitude {latitude}; GeoJSON has longitude first, in degrees (WGS 84)"
            ));
        }
        if !(-FARTHEST..=FARTHEST).contains(&longitude) {
            return Err(format!("has the longitude {longitude}; GeoJSON has degrees (WGS 84)"));
        }
        Ok([longitude, latitude.clamp(-90.0, 90.0)])
    }

    fn positions(&mut self) -> Result<Vec<Position>, String> {
        self.list(Self::position)
    }

    fn line(&mut self) -> Result<Vec<Position>, String> {
        let line = self.positions()?;
        if line.len() == 1 {
            return Err("has a line of one position; a line has at least two".to_owned());
        }
        Ok(line)
    }

    fn polygon(&mut self) -> Result<Vec<Vec<Position>>, String> {
        let rings = self.list(Self::ring)?;
        if rings.len() > 1 && rings[0].is_empty() {
            return Err("has a polygon with holes and no outer ring".to_owned());
        }
        Ok(rings)
    }

    fn ring(&mut self) -> Result<Vec<Position>, String> {
        let ring = self.positions()?;
        if !ring.is_empty() && ring.len() < 4 {
            return Err(format!(
                "has a ring of {} positions; a ring has at least four",
                ring.len()
            ));
        }
        if ring.first() != ring.last() {
            return Err("has a ring that does not end where it begins".to_owned());
        }
        Ok(ring)
    }
}
