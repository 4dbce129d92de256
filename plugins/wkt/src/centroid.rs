//! Centroids of geometries (contract-9-centroid): weighted by area where there are polygons, else
//! by length where there are lines, else the mean of the points. Planar, in degrees: an edge is
//! straight however long it is. Parts on both sides of 180 degrees are laid side by side first, as
//! the bounding box has them.

use crate::{GeometryBounds, GeometryPart, MalformedWkt, for_each_part};

/// Decimals that are kept, as a factor: a millionth of a degree is 11 cm.
const PRECISION: f64 = 1e6;

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

/// Sums over a geometry, one for each dimension, and the box around it.
#[derive(Debug, Clone)]
struct GeometrySums {
    /// Longitudes west of it are counted on from 180 degrees.
    west: f64,
    /// The first position; all sums are relative to it, for digits would be lost otherwise.
    origin: Option<[f64; 2]>,
    points: Moment,
    lines: Moment,
    areas: Moment,
    bounds: GeometryBounds,
}

/// Returns the centroid of a text, longitude from -180 to 180 and latitude in degrees, rounded to
/// six digits after the point; `None` for an empty geometry.
///
/// # Errors
/// [`MalformedWkt`].
pub fn centroid(text: &str) -> Result<Option<[f64; 2]>, MalformedWkt> {
    let mut sums = GeometrySums::read(text, f64::NEG_INFINITY)?;
    if let Some([west, _, east, _]) = std::mem::take(&mut sums.bounds).finish()
        && west > east
    {
        sums = GeometrySums::read(text, west)?;
    }
    let found = sums.centroid().map(|[longitude, latitude]| {
        let longitude = if longitude > 180.0 { longitude - 360.0 } else { longitude };
        // Adding zero makes one of both zeros.
        [longitude, latitude].map(|degrees| (degrees * PRECISION).round() / PRECISION + 0.0)
    });
    Ok(found.filter(|degrees| degrees.iter().all(|degrees| degrees.is_finite())))
}

impl GeometrySums {
    fn read(text: &str, west: f64) -> Result<Self, MalformedWkt> {
        let mut sums = Self {
            west,
            origin: None,
            points: Moment::default(),
            lines: Moment::default(),
            areas: Moment::default(),
            bounds: GeometryBounds::default(),
        };
        for_each_part(text, |part, positions| sums.add(part, positions))?;
        Ok(sums)
    }

    fn centroid(&self) -> Option<[f64; 2]> {
        let [x, y] = self.origin?;
        let all = [&self.areas, &self.lines, &self.points];
        // A polygon without area is a line, a line without length a point.
        let heaviest = all.into_iter().find(|moment| moment.weight > 0.0)?;
        Some([x + heaviest.x / heaviest.weight, y + heaviest.y / heaviest.weight])
    }

    fn add(&mut self, part: GeometryPart, positions: &[[f64; 2]]) {
        let area = self.path(positions);
        // Rings may run either way.
        let turn = match part {
            GeometryPart::Outer => area.weight.signum(),
            GeometryPart::Hole => -area.weight.signum(),
            GeometryPart::Point | GeometryPart::Line => return,
        };
        self.areas.weight += turn * area.weight;
        self.areas.x += turn * area.x;
        self.areas.y += turn * area.y;
    }

    /// Adds the points and the length of a path, and returns the area that it encloses, negative
    /// where it runs clockwise.
    fn path(&mut self, positions: &[[f64; 2]]) -> Moment {
        let mut area = Moment::default();
        let (mut start, mut last) = ([0.0; 2], None::<[f64; 2]>);
        let (mut least, mut most) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for [x, y] in positions {
            // At `west` or to the east of it.
            let at = [if *x < self.west { x + 360.0 } else { *x }, *y];
            least = [least[0].min(at[0]), least[1].min(at[1])];
            most = [most[0].max(at[0]), most[1].max(at[1])];
            let at = self.relative(at);
            match last {
                None => start = at,
                Some(last) => {
                    let [dx, dy] = [at[0] - last[0], at[1] - last[1]];
                    self.lines.add(dx.hypot(dy), [0, 1].map(|axis| (at[axis] + last[axis]) / 2.0));
                    // Triangles from the first position, so that digits are not lost to the
                    // distance from it.
                    let [a, b] = [last, at].map(|[x, y]| [x - start[0], y - start[1]]);
                    let middle = [0, 1].map(|axis| (last[axis] + at[axis] + start[axis]) / 3.0);
                    area.add((a[0] * b[1] - b[0] * a[1]) / 2.0, middle);
                }
            }
            self.points.add(1.0, at);
            last = Some(at);
        }
        self.bounds.add(least[0], most[0], least[1], most[1]);
        area
    }

    fn relative(&mut self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [origin_x, origin_y] = *self.origin.get_or_insert([x, y]);
        [x - origin_x, y - origin_y]
    }
}

#[cfg(test)]
mod tests;
