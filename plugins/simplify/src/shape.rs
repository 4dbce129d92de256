//! Geometry as lines of vertices, which keep the digits that were published.

use yearbook_sdk::transform::TransformError;
use yearbook_wkt::arcs::{Junctions, simplified_line, simplified_ring};
use yearbook_wkt::{CoordinateText, GeometryKind, MAX_DEPTH, MalformedWkt, WktReader, arcs, value};

/// A vertex.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vertex<'a> {
    text: CoordinateText<'a>,
    position: [f64; 2],
}

impl arcs::Vertex for Vertex<'_> {
    fn position(&self) -> [f64; 2] {
        self.position
    }
}

/// A geometry.
#[derive(Debug)]
pub(crate) enum Shape<'a> {
    /// Points, and whatever is empty.
    Unchanged(GeometryKind, &'a str),
    Line(Vec<Vertex<'a>>),
    Polygon(Vec<Vec<Vertex<'a>>>),
    Several(GeometryKind, Vec<Shape<'a>>),
}

impl<'a> Shape<'a> {
    /// Reads WKT.
    ///
    /// # Errors
    /// [`TransformError::UnsupportedRows`] for other text.
    pub(crate) fn parse(text: &'a str) -> Result<Self, TransformError> {
        let mut reader = WktReader::new(text);
        let kind = reader.kind();
        let shape = kind.and_then(|kind| Self::read(&mut reader, text, kind, MAX_DEPTH));
        let shape = shape.and_then(|shape| reader.end().map(|()| shape));
        shape.map_err(|malformed| TransformError::UnsupportedRows(malformed.to_string()))
    }

    fn read(
        reader: &mut WktReader<'a>,
        text: &'a str,
        kind: GeometryKind,
        depth: usize,
    ) -> Result<Self, MalformedWkt> {
        let start = reader.at();
        let here = MalformedWkt { at: start };
        let mut parts = Vec::new();
        match kind {
            GeometryKind::Point => {
                reader.point()?;
            }
            GeometryKind::MultiPoint => reader.members(|reader| {
                if reader.peek_number() {
                    reader.position().map(drop)
                } else {
                    reader.point().map(drop)
                }
            })?,
            GeometryKind::LineString => {
                let line = vertices(reader)?;
                if !line.is_empty() {
                    return Ok(Self::Line(line));
                }
            }
            GeometryKind::Polygon => {
                let mut rings = Vec::new();
                reader.members(|reader| {
                    let ring = vertices(reader)?;
                    rings.extend(Some(ring).filter(|ring| !ring.is_empty()));
                    Ok(())
                })?;
                if !rings.is_empty() {
                    return Ok(Self::Polygon(rings));
                }
            }
            GeometryKind::MultiLineString
            | GeometryKind::MultiPolygon
            | GeometryKind::GeometryCollection => {
                let depth = depth.checked_sub(1).ok_or(here)?;
                reader.members(|reader| {
                    let member = match kind.member() {
                        Some(member) => member,
                        None => reader.kind()?,
                    };
                    parts.push(Self::read(reader, text, member, depth)?);
                    Ok(())
                })?;
                if !parts.is_empty() {
                    return Ok(Self::Several(kind, parts));
                }
            }
        }
        let unchanged = text.get(start..reader.at()).ok_or(here)?;
        Ok(Self::Unchanged(kind, unchanged.trim()))
    }

    /// Calls `see` with every line, and whether it is a ring.
    pub(crate) fn for_each_line(&self, see: &mut impl FnMut(&[Vertex<'_>], bool)) {
        match self {
            Self::Unchanged(..) => {}
            Self::Line(line) => see(line, false),
            Self::Polygon(rings) => rings.iter().for_each(|ring| see(ring, true)),
            Self::Several(_, members) => {
                members.iter().for_each(|member| member.for_each_line(see))
            }
        }
    }

    /// Returns its text with the vertices that stay; `None` where nothing stays.
    pub(crate) fn simplified(&self, junctions: &Junctions, tolerance: f64) -> Option<String> {
        let mut text = self.kind().name().to_ascii_uppercase();
        text.push(' ');
        text.push_str(&self.body(junctions, tolerance)?);
        Some(text)
    }

    /// Returns what stands behind its name.
    fn body(&self, junctions: &Junctions, tolerance: f64) -> Option<String> {
        let parts: Vec<String> = match self {
            Self::Unchanged(_, text) => return Some((*text).to_owned()),
            Self::Line(line) => {
                return Some(positions(&simplified_line(line, junctions, tolerance)));
            }
            Self::Polygon(rings) => {
                let mut rings =
                    rings.iter().map(|ring| simplified_ring(ring, junctions, tolerance));
                // Without its outer ring a polygon has no holes.
                let outer = rings.next().flatten()?;
                std::iter::once(outer).chain(rings.flatten()).map(|ring| positions(&ring)).collect()
            }
            Self::Several(GeometryKind::GeometryCollection, members) => members
                .iter()
                .filter_map(|member| member.simplified(junctions, tolerance))
                .collect(),
            Self::Several(_, members) => {
                members.iter().filter_map(|member| member.body(junctions, tolerance)).collect()
            }
        };
        Some(format!("({})", parts.join(","))).filter(|_| !parts.is_empty())
    }

    fn kind(&self) -> GeometryKind {
        match self {
            Self::Unchanged(kind, _) | Self::Several(kind, _) => *kind,
            Self::Line(_) => GeometryKind::LineString,
            Self::Polygon(_) => GeometryKind::Polygon,
        }
    }
}

/// Reads positions in parentheses.
fn vertices<'a>(reader: &mut WktReader<'a>) -> Result<Vec<Vertex<'a>>, MalformedWkt> {
    let mut vertices = Vec::new();
    reader.members(|reader| {
        let text = reader.position()?;
        // Adding 0 makes 0 of -0.
        let position = [value(text[0])? + 0.0, value(text[1])? + 0.0];
        vertices.push(Vertex { text, position });
        Ok(())
    })?;
    Ok(vertices)
}

/// Positions in parentheses.
fn positions(line: &[Vertex<'_>]) -> String {
    let position = |vertex: &Vertex<'_>| vertex.text.join(" ");
    format!("({})", line.iter().map(position).collect::<Vec<_>>().join(","))
}
