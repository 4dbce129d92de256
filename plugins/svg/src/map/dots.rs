//! Positions of dots in bounded memory: where there are very many, those that lie close together
//! share one.

use std::collections::{BTreeMap, BTreeSet};

use yearbook_wkt::GeometryBounds;

use super::view::{MapBounds, MapView};
use crate::number::whole;

/// Dots at most; each is some 12 bytes of the picture, twice.
pub const MOST_DOTS: usize = 20_000;

/// Cells of a degree at the beginning: a tenth of a metre.
pub(super) const FINEST: f64 = 1_048_576.0;

/// Positions, one for each cell of a grid that becomes coarser when they are too many.
#[derive(Debug, Clone)]
pub struct DotStore {
    /// By row and column of the grid.
    cells: BTreeMap<(i64, i64), [f64; 2]>,
    per_degree: f64,
}

impl Default for DotStore {
    fn default() -> Self {
        Self { cells: BTreeMap::new(), per_degree: FINEST }
    }
}

impl DotStore {
    /// Adds a position: longitude from -180 to 180, and latitude.
    pub fn push(&mut self, position: [f64; 2]) {
        self.cells.entry(cell(position, self.per_degree)).or_insert(position);
        while self.cells.len() > MOST_DOTS {
            self.per_degree /= 2.0;
            let per_degree = self.per_degree;
            let finer = std::mem::take(&mut self.cells);
            for position in finer.into_values() {
                self.cells.entry(cell(position, per_degree)).or_insert(position);
            }
        }
    }

    /// The smallest bounds of all dots and of further places: beyond 180 degrees in the east where
    /// that is shorter.
    #[must_use]
    pub fn bounds_with(&self, mut bounds: GeometryBounds) -> Option<MapBounds> {
        self.cells.values().for_each(|[x, y]| bounds.add(*x, *x, *y, *y));
        let [west, south, east, north] = bounds.finish()?;
        let east = if west > east { east + 360.0 } else { east };
        Some(MapBounds { west, south, east, north })
    }

    /// Pixels of the dots, from top to bottom, those within the same pixel once.
    #[must_use]
    pub fn pixels(&self, view: &MapView) -> Vec<[f64; 2]> {
        let pixel = |position: &[f64; 2]| {
            let [x, y] = view.pixel(*position);
            (whole(y), whole(x), whole(x * 10.0), whole(y * 10.0))
        };
        let mut taken = BTreeSet::new();
        let mut pixels: Vec<_> = self.cells.values().map(pixel).collect();
        pixels.sort_unstable();
        pixels.retain(|(row, column, ..)| taken.insert((*row, *column)));
        pixels.into_iter().map(|(_, _, x, y)| [tenths(x), tenths(y)]).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "pixels are small numbers")]
fn tenths(tenths: i64) -> f64 {
    tenths as f64 / 10.0
}

fn cell([x, y]: [f64; 2], per_degree: f64) -> (i64, i64) {
    (whole((y * per_degree).floor()), whole((x * per_degree).floor()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn store(positions: &[[f64; 2]]) -> DotStore {
        let mut store = DotStore::default();
        positions.iter().for_each(|position| store.push(*position));
        store
    }

    #[test]
    fn bounds_go_on_beyond_180_degrees_where_that_is_shorter() {
        let bounds = |store: DotStore| store.bounds_with(GeometryBounds::default());
        let new_zealand = store(&[[166.4, -47.3], [178.5, -37.7], [-176.5, -44.0]]);
        let new_zealand = bounds(new_zealand).unwrap();
        assert_eq!((new_zealand.west, new_zealand.east), (166.4, 183.5));
        let around_zero = bounds(store(&[[-5.0, 50.0], [7.0, 52.0]])).unwrap();
        assert_eq!((around_zero.west, around_zero.east), (-5.0, 7.0));
        let one = bounds(store(&[[-180.0, 0.0]])).unwrap();
        assert_eq!((one.west, one.east), (-180.0, -180.0));
        assert_eq!(bounds(store(&[])), None);
    }

    #[test]
    fn a_million_positions_are_few_dots_and_the_same_in_any_order_of_size() {
        let position = |index: u32| {
            let index = f64::from(index);
            [
                (index * 0.618_034).rem_euclid(360.0) - 180.0,
                (index * 0.414_214).rem_euclid(170.0) - 85.0,
            ]
        };
        let mut store = DotStore::default();
        (0..1_000_000).for_each(|index| store.push(position(index)));
        assert!(store.cells.len() <= MOST_DOTS && store.cells.len() > MOST_DOTS / 8);
    }
}
