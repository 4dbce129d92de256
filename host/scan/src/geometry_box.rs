//! An exact test of geometry against a box (contract-15-box): well-known text of degrees meets a
//! closed box or does not, by the stored doubles alone. Reads the text once, holds no geometry.

use arrow::array::{Array as _, BooleanBufferBuilder, StringArray};
use arrow::buffer::BooleanBuffer;
use num_bigint::{BigInt, Sign};
use robust::{Coord, orient2d};
use yearbook_domain::BoundingBox;
use yearbook_wkt::{GeometryKind, MalformedWkt, WktReader};

/// Longitudes at which the plane of degrees ends.
const WEST_END: f64 = -180.0;
const EAST_END: f64 = 180.0;

/// Coordinates from here on are multiples of 2^-537, so that nothing underflows in the products of
/// `orient2d`, which is not exact where something does.
const LEAST_ROBUST: f64 = 1e-145;

type Position = Coord<f64>;

/// Relation of what lies within some bounds to a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overlap {
    /// No point of it lies in the box.
    None,
    /// All of it does.
    Inside,
    /// Only the geometry tells.
    Unknown,
}

impl Overlap {
    /// Relation to a box of two parts, of the relations to each.
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Inside, _) | (_, Self::Inside) => Self::Inside,
            (Self::None, Self::None) => Self::None,
            _ => Self::Unknown,
        }
    }
}

/// A test of geometry for one box of degrees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GeometryBox {
    first: Rectangle,
    /// The part east of 180°, where the box crosses it.
    second: Option<Rectangle>,
}

impl GeometryBox {
    /// The test for `bbox`: of two boxes where its west lies east of its east.
    pub(crate) fn new(bbox: BoundingBox) -> Self {
        let [west, south, east, north] = bbox.0;
        if west <= east {
            return Self { first: Rectangle { west, south, east, north }, second: None };
        }
        Self {
            first: Rectangle { west, south, east: EAST_END, north },
            second: Some(Rectangle { west: WEST_END, south, east, north }),
        }
    }

    /// Compares it with a geometry that lies within `bounds` (west, south, east and north).
    pub(crate) fn compare(&self, bounds: [f64; 4]) -> Overlap {
        self.rectangles()
            .map(|rectangle| rectangle.compare(bounds))
            .fold(Overlap::None, Overlap::or)
    }

    /// The boxes that it is made of, west of their east: one or two.
    pub(crate) fn rectangles(&self) -> impl Iterator<Item = Rectangle> {
        std::iter::once(self.first).chain(self.second)
    }

    /// The texts that meet the box; null never does.
    ///
    /// # Errors
    /// Those of [`Self::meets`].
    pub(crate) fn hits(&self, texts: &StringArray) -> Result<BooleanBuffer, MalformedWkt> {
        let mut hits = BooleanBufferBuilder::new(texts.len());
        for text in texts {
            hits.append(text.map_or(Ok(false), |text| self.meets(text))?);
        }
        Ok(hits.finish())
    }

    /// Returns true where a point of the geometry `text` lies in the box or on its border.
    ///
    /// # Errors
    /// [`MalformedWkt`] for text that is none of the forms that publishing takes; it may be found
    /// no longer behind a member that meets the box.
    fn meets(&self, text: &str) -> Result<bool, MalformedWkt> {
        let second = |rectangle: &Rectangle| rectangle.meets(text);
        Ok(self.first.meets(text)? || self.second.as_ref().map_or(Ok(false), second)?)
    }
}

/// A closed box, west <= east; a line or a point where its sides are equal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rectangle {
    pub(crate) west: f64,
    pub(crate) south: f64,
    pub(crate) east: f64,
    pub(crate) north: f64,
}

impl Rectangle {
    fn compare(&self, [west, south, east, north]: [f64; 4]) -> Overlap {
        if west > self.east || east < self.west || south > self.north || north < self.south {
            return Overlap::None;
        }
        let is_inside =
            self.west <= west && east <= self.east && self.south <= south && north <= self.north;
        if is_inside { Overlap::Inside } else { Overlap::Unknown }
    }

    fn meets(&self, text: &str) -> Result<bool, MalformedWkt> {
        let mut reader = WktReader::new(text);
        match reader.kind()? {
            GeometryKind::MultiPoint => any_member(&mut reader, |reader| self.point(reader)),
            GeometryKind::MultiLineString => {
                any_member(&mut reader, |reader| self.path(reader, |_, _| {}))
            }
            GeometryKind::MultiPolygon => any_member(&mut reader, |reader| self.polygon(reader)),
            _ => Err(MalformedWkt { at: 0 }),
        }
    }

    /// A point with its own parentheses, or without, as many programs write it.
    fn point(&self, reader: &mut WktReader<'_>) -> Result<bool, MalformedWkt> {
        let read = if reader.peek_number() {
            Some(reader.coordinates()?)
        } else {
            reader.point_coordinates()?
        };
        let Some([x, y]) = read else { return Ok(false) };
        let point = Coord { x, y };
        Ok(self.meets_edge(point, point))
    }

    /// A polygon. Where no edge of it meets the box, all of that lies on one side of every ring, so
    /// that one corner tells whether the polygon holds it.
    fn polygon(&self, reader: &mut WktReader<'_>) -> Result<bool, MalformedWkt> {
        let corner = Coord { x: self.west, y: self.south };
        let mut inside = false;
        let meets = any_member(reader, |reader| {
            self.path(reader, |from, to| inside ^= crosses_ray(corner, from, to))
        })?;
        Ok(meets || inside)
    }

    /// Returns true at the first edge that meets the box; hands every one before to `visit`.
    fn path(
        &self,
        reader: &mut WktReader<'_>,
        mut visit: impl FnMut(Position, Position),
    ) -> Result<bool, MalformedWkt> {
        let mut last = None;
        any_member(reader, |reader| {
            let [x, y] = reader.coordinates()?;
            let to = Coord { x, y };
            let from = last.replace(to).unwrap_or(to);
            let meets = self.meets_edge(from, to);
            if !meets {
                visit(from, to);
            }
            Ok(meets)
        })
    }

    /// Returns true unless an axis separates the two: a box and a straight edge are apart where
    /// their intervals of longitude or of latitude are, or where all corners lie on one side of the
    /// edge's line.
    fn meets_edge(&self, from: Position, to: Position) -> bool {
        if from.x.max(to.x) < self.west
            || from.x.min(to.x) > self.east
            || from.y.max(to.y) < self.south
            || from.y.min(to.y) > self.north
        {
            return false;
        }
        let inside = |point: Position| {
            (self.west..=self.east).contains(&point.x)
                && (self.south..=self.north).contains(&point.y)
        };
        if inside(from) || inside(to) {
            return true;
        }
        let (mut left, mut right) = (false, false);
        for (x, y) in [
            (self.west, self.south),
            (self.east, self.south),
            (self.east, self.north),
            (self.west, self.north),
        ] {
            let side = side(from, to, Coord { x, y });
            left |= side >= 0;
            right |= side <= 0;
        }
        left && right
    }
}

/// Reads members up to the first for which `meets` returns true.
fn any_member<'a>(
    reader: &mut WktReader<'a>,
    mut meets: impl FnMut(&mut WktReader<'a>) -> Result<bool, MalformedWkt>,
) -> Result<bool, MalformedWkt> {
    if !reader.open_or_empty()? {
        return Ok(false);
    }
    loop {
        if meets(reader)? {
            return Ok(true);
        }
        if !reader.next_member()? {
            return Ok(false);
        }
    }
}

/// Returns true where the ray from `point` to the east crosses an edge that `point` is not on. Of
/// its ends an edge has the lower one, so that a vertex on the ray counts once.
fn crosses_ray(point: Position, from: Position, to: Position) -> bool {
    if (from.y > point.y) == (to.y > point.y) || from.x.max(to.x) < point.x {
        return false;
    }
    let (low, high) = if from.y < to.y { (from, to) } else { (to, from) };
    from.x.min(to.x) > point.x || side(low, high, point) > 0
}

/// 1 where `point` lies left of the line through `from` and `to`, -1 where right, 0 on it.
fn side(from: Position, to: Position, point: Position) -> i8 {
    let is_robust = |number: f64| number == 0.0 || number.abs() >= LEAST_ROBUST;
    let mut numbers = [from, to, point].into_iter().flat_map(|at| [at.x, at.y]);
    if numbers.all(is_robust) {
        let turn = orient2d(from, to, point);
        return i8::from(turn > 0.0) - i8::from(turn < 0.0);
    }
    let [from, to, point] = [from, to, point].map(|at| [integer(at.x), integer(at.y)]);
    let along = (&to[0] - &from[0]) * (&point[1] - &from[1]);
    let turn = along - (&to[1] - &from[1]) * (&point[0] - &from[0]);
    i8::from(turn.sign() == Sign::Plus) - i8::from(turn.sign() == Sign::Minus)
}

/// A finite double as a multiple of its least bit.
fn integer(number: f64) -> BigInt {
    let bits = number.abs().to_bits();
    let (exponent, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    let significand = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    let magnitude = BigInt::from(significand) << exponent.saturating_sub(1);
    if number < 0.0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests;
