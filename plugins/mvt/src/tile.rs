//! The tile of a response: its place on the map, and positions on its grid. The map is that of the
//! tile matrix set `WebMercatorQuad` (OGC 17-083r4, annex D.1).

use std::f64::consts::{PI, TAU};

use i_overlay::i_float::int::point::IntPoint;
use yearbook_sdk::Error;

use crate::clip::{Bounds, Degrees};

/// Units of the grid along a side, and those beyond it that are drawn too, so that neither lines
/// nor symbols end where the next tile begins.
pub(crate) const EXTENT: u32 = 4_096;
const BUFFER: f64 = 64.0;
/// The largest zoom of the matrix set.
const MOST_ZOOM: i64 = 24;

/// A tile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tile {
    /// Units around the earth at its zoom.
    around: f64,
    /// Units of the map's corner in the north-west to that of the tile.
    corner: [f64; 2],
    /// Box that the tile shows, its buffer included.
    pub(crate) bounds: Bounds,
}

impl Tile {
    /// The tile of zoom, column and row, from the north-west.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] where there is none.
    pub(crate) fn new(zoom: i64, column: i64, row: i64) -> Result<Self, Error> {
        if !(0..=MOST_ZOOM).contains(&zoom) {
            return Err(Error::InvalidOption(format!(
                "mvt.z is {zoom}, and a zoom is from 0 to {MOST_ZOOM}"
            )));
        }
        let tiles = 1_i64 << zoom;
        for (name, at) in [("x", column), ("y", row)] {
            if !(0..tiles).contains(&at) {
                let last = tiles - 1;
                return Err(Error::InvalidOption(format!(
                    "mvt.{name} is {at}, and zoom {zoom} has tiles from 0 to {last}"
                )));
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "at most 2^24")]
        let [tiles, column, row] = [tiles, column, row].map(|number| number as f64);
        let side = f64::from(EXTENT);
        let around = side * tiles;
        let corner = [column * side, row * side];
        let longitude = |units: f64| (units / around - 0.5) * 360.0;
        let latitude = |units: f64| (PI - units / around * TAU).sinh().atan().to_degrees();
        let [left, top] = corner.map(|units| units - BUFFER);
        let [right, bottom] = corner.map(|units| units + side + BUFFER);
        let bounds = Bounds {
            least: [longitude(left), latitude(bottom)],
            most: [longitude(right), latitude(top)],
        };
        Ok(Self { around, corner, bounds })
    }

    /// A path within the bounds on the grid. Edges are straight in degrees, as they are for boxes,
    /// so a long one gets vertices until it is less than a unit away from its place on the map.
    pub(crate) fn grid(&self, path: &[Degrees], is_ring: bool) -> Vec<IntPoint> {
        let placed = |at: &Degrees| (*at, at[1].to_radians().sin());
        let mut before = path.last().filter(|_| is_ring).map(placed);
        let mut grid = Vec::with_capacity(path.len());
        for at in path {
            let (at, sine) = placed(at);
            if let Some((from, from_sine)) = before {
                let bend = |sine: f64| sine.abs() / (1.0 - sine * sine);
                self.curve(from, at, bend(sine).max(bend(from_sine)), &mut grid);
            }
            grid.push(self.unit(at[0], sine));
            before = Some((at, sine));
        }
        grid.dedup();
        grid
    }

    /// Vertices between two positions: where a straight line on the map would leave the edge by
    /// more than half a unit. `bend`: the second derivative of the map's latitude.
    fn curve(&self, from: Degrees, to: Degrees, bend: f64, grid: &mut Vec<IntPoint>) {
        let height = (to[1] - from[1]).to_radians();
        // A chord is away from its curve by an eighth of the bend at most.
        let away = self.around / TAU * bend * height * height / 8.0;
        if away <= 0.5 || from[0].to_bits() == to[0].to_bits() {
            return;
        }
        let pieces = (away / 0.5).sqrt().ceil();
        // From the same end whatever the direction: both sides of a border have the same vertices.
        let (least, most) = if from < to { (from, to) } else { (to, from) };
        let mut piece = 1.0;
        while piece < pieces {
            let part = if from < to { piece } else { pieces - piece } / pieces;
            let at = [0, 1].map(|axis| least[axis] + (most[axis] - least[axis]) * part);
            grid.push(self.unit(at[0], at[1].to_radians().sin()));
            piece += 1.0;
        }
    }

    /// The unit of a position, by its longitude and the sine of its latitude.
    fn unit(&self, longitude: f64, sine: f64) -> IntPoint {
        let x = (longitude / 360.0 + 0.5) * self.around - self.corner[0];
        let y = (0.5 - sine.atanh() / TAU) * self.around - self.corner[1];
        // Halves go one way on both sides of zero, so that neighbouring tiles round alike.
        #[expect(clippy::cast_possible_truncation, reason = "within the bounds of a tile")]
        let [x, y] = [x, y].map(|units| (units + 0.5).floor() as i32);
        IntPoint::new(x, y)
    }
}
