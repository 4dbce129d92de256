//! Parts of a geometry one after the other, in whatever collections they stand: for those that look
//! at positions and need no text.

use crate::{GeometryKind, MAX_DEPTH, MalformedWkt, WktReader};

/// A part of a geometry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeometryPart {
    /// One position.
    Point,
    /// A line.
    Line,
    /// The first ring of a polygon.
    Outer,
    /// A further ring of it.
    Hole,
}

/// Calls `see` with each part that has positions. A ring ends where it begins.
///
/// # Errors
/// [`MalformedWkt`]; `see` may have been called then.
pub fn for_each_part(
    text: &str,
    see: impl FnMut(GeometryPart, &[[f64; 2]]),
) -> Result<(), MalformedWkt> {
    let mut reader = WktReader::new(text);
    let mut parts = Parts { see, positions: Vec::new() };
    let kind = reader.kind()?;
    parts.read(&mut reader, kind, MAX_DEPTH)?;
    reader.end()
}

struct Parts<F> {
    see: F,
    /// Positions of the part at hand.
    positions: Vec<[f64; 2]>,
}

impl<F: FnMut(GeometryPart, &[[f64; 2]])> Parts<F> {
    fn read(
        &mut self,
        reader: &mut WktReader<'_>,
        kind: GeometryKind,
        depth: usize,
    ) -> Result<(), MalformedWkt> {
        match kind {
            GeometryKind::Point => self.part(GeometryPart::Point, reader),
            GeometryKind::LineString => self.part(GeometryPart::Line, reader),
            GeometryKind::Polygon => {
                let mut part = GeometryPart::Outer;
                reader.members(|reader| {
                    self.part(std::mem::replace(&mut part, GeometryPart::Hole), reader)
                })
            }
            GeometryKind::MultiPoint => reader.members(|reader| {
                if !reader.peek_number() {
                    return self.part(GeometryPart::Point, reader);
                }
                self.positions.clear();
                self.position(reader)?;
                (self.see)(GeometryPart::Point, &self.positions);
                Ok(())
            }),
            kind => {
                let deeper = depth.checked_sub(1).ok_or(MalformedWkt { at: reader.at() })?;
                reader.members(|reader| {
                    let member = match kind.member() {
                        Some(member) => member,
                        None => reader.kind()?,
                    };
                    self.read(reader, member, deeper)
                })
            }
        }
    }

    /// Reads positions in parentheses.
    fn part(&mut self, part: GeometryPart, reader: &mut WktReader<'_>) -> Result<(), MalformedWkt> {
        self.positions.clear();
        reader.members(|reader| self.position(reader))?;
        if part == GeometryPart::Point && self.positions.len() > 1 {
            return Err(MalformedWkt { at: reader.at() });
        }
        if !self.positions.is_empty() {
            (self.see)(part, &self.positions);
        }
        Ok(())
    }

    fn position(&mut self, reader: &mut WktReader<'_>) -> Result<(), MalformedWkt> {
        self.positions.push(reader.coordinates()?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Result<Vec<(GeometryPart, usize)>, MalformedWkt> {
        let mut parts = Vec::new();
        for_each_part(text, |part, positions| parts.push((part, positions.len())))?;
        Ok(parts)
    }

    #[test]
    fn parts_come_in_their_order_out_of_every_collection() {
        use GeometryPart::{Hole, Line, Outer, Point};
        for (text, expected) in [
            ("POINT (1 2)", vec![(Point, 1)]),
            ("MULTIPOINT (1 2, (3 4), EMPTY)", vec![(Point, 1), (Point, 1)]),
            ("MULTILINESTRING ((1 2, 3 4), EMPTY)", vec![(Line, 2)]),
            (
                "GEOMETRYCOLLECTION (MULTIPOLYGON (((0 0, 9 0, 9 9, 0 0), (5 1, 6 1, 6 2, 5 1)), \
                 ((0 0, 1 0, 1 1, 0 0))), POINT EMPTY, LINESTRING (1 2, 3 4))",
                vec![(Outer, 4), (Hole, 4), (Outer, 4), (Line, 2)],
            ),
            ("POLYGON EMPTY", vec![]),
        ] {
            assert_eq!(parts(text), Ok(expected), "{text}");
        }
        for text in ["POINT (1 2, 3 4)", "POINT (1)", "LINESTRING (1 2) x", "POINT (1e999 2)"] {
            assert!(parts(text).is_err(), "{text}");
        }
    }
}
