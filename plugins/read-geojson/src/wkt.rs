//! Geometries of the three MULTI forms as well-known text (OGC 06-103r4, section 7).

use std::fmt::Write as _;

use crate::antimeridian;
use crate::position::Position;

/// A geometry of a MULTI form.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum MultiGeometry {
    Points(Vec<Position>),
    Lines(Vec<Vec<Position>>),
    /// Polygons of rings, the outer one first.
    Polygons(Vec<Vec<Vec<Position>>>),
}

impl MultiGeometry {
    /// The same without parts that have no position.
    pub(crate) fn without_empty(mut self) -> Self {
        match &mut self {
            Self::Points(_) => {}
            Self::Lines(lines) => lines.retain(|line| !line.is_empty()),
            Self::Polygons(polygons) => {
                for polygon in &mut *polygons {
                    polygon.retain(|ring| !ring.is_empty());
                }
                polygons.retain(|polygon| !polygon.is_empty());
            }
        }
        self
    }

    /// The same with every longitude from -180 to 180: what goes beyond is cut and moved.
    /// `short_way`: an edge of more than 180 degrees goes the other way around.
    ///
    /// # Errors
    /// Fails where a polygon cannot be cut, with the reason.
    pub(crate) fn within_180(self, short_way: bool) -> Result<Self, String> {
        Ok(match self {
            Self::Points(points) => {
                Self::Points(points.into_iter().map(antimeridian::wrap_position).collect())
            }
            Self::Lines(lines) => Self::Lines(
                lines
                    .into_iter()
                    .flat_map(|line| antimeridian::cut_line(line, short_way))
                    .collect(),
            ),
            Self::Polygons(polygons) => {
                let mut parts = Vec::with_capacity(polygons.len());
                for polygon in polygons {
                    parts.extend(antimeridian::cut_polygon(polygon, short_way)?);
                }
                Self::Polygons(parts)
            }
        })
    }

    /// The text.
    pub(crate) fn to_wkt(&self) -> String {
        let mut text = String::new();
        let name = match self {
            Self::Points(_) => "MULTIPOINT",
            Self::Lines(_) => "MULTILINESTRING",
            Self::Polygons(_) => "MULTIPOLYGON",
        };
        text.push_str(name);
        match self {
            Self::Points(points) => list(&mut text, points, |text, point| {
                list(text, std::slice::from_ref(point), position);
            }),
            Self::Lines(lines) => list(&mut text, lines, |text, line| list(text, line, position)),
            Self::Polygons(polygons) => list(&mut text, polygons, |text, polygon| {
                list(text, polygon, |text, ring| list(text, ring, position));
            }),
        }
        text
    }
}

/// Items in parentheses, or `EMPTY`.
fn list<T>(text: &mut String, items: &[T], write: impl Fn(&mut String, &T)) {
    if items.is_empty() {
        text.push_str(" EMPTY");
        return;
    }
    // A space stands between the name and the outermost parenthesis alone.
    if text.ends_with(|last: char| last.is_ascii_alphabetic()) {
        text.push(' ');
    }
    for (at, item) in items.iter().enumerate() {
        text.push(if at == 0 { '(' } else { ',' });
        write(text, item);
    }
    text.push(')');
}

fn position(text: &mut String, [longitude, latitude]: &Position) {
    // Writing to text never fails. Adding zero makes -0 plain.
    let _ = write!(text, "{} {}", longitude + 0.0, latitude + 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_written_as_well_known_text() {
        let ring = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.5], [0.0, -0.0]];
        for (geometry, expected) in [
            (MultiGeometry::Points(vec![[1.0, 2.0], [-3.5, 4.0]]), "MULTIPOINT ((1 2),(-3.5 4))"),
            (
                MultiGeometry::Lines(vec![vec![[0.0, 0.0], [1.0, 1.0]]]),
                "MULTILINESTRING ((0 0,1 1))",
            ),
            (MultiGeometry::Polygons(vec![vec![ring]]), "MULTIPOLYGON (((0 0,1 0,1 1.5,0 0)))"),
            (MultiGeometry::Polygons(vec![]), "MULTIPOLYGON EMPTY"),
        ] {
            assert_eq!(geometry.to_wkt(), expected);
        }
    }
}
