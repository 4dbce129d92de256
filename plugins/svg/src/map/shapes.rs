//! Lines and areas in bounded memory: their vertices on a grid that becomes coarser when they are
//! too many. Neighbours have the same grid, so a border that they share stays shared.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use yearbook_wkt::{GeometryBounds, GeometryPart, MalformedWkt, for_each_part};

use super::dots::FINEST;
use crate::number::whole;

/// Vertices at most: some for each of a hundred thousand areas. A picture has fewer.
const MOST_VERTICES: usize = 900_000;

/// Cells of a degree below which the grid becomes no coarser.
const COARSEST: f64 = 1.0 / 16.0;

/// Longitudes that a geometry may have: once more around the world either way.
const FARTHEST: f64 = 540.0;

/// A cell of the grid.
pub(super) type Cell = [i32; 2];

/// Columns of a row beside its geometry.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RowFigures {
    /// Value that chooses the colour; finite.
    pub(super) value: Option<f64>,
    /// Place of its date on an axis of dates.
    pub(super) date: Option<f64>,
    /// Its name, on one line.
    pub(super) name: Option<Box<str>>,
}

/// A row's geometry.
#[derive(Debug, Clone)]
pub(super) struct Feature {
    pub(super) figures: RowFigures,
    /// Set where another row has the same geometry and date.
    pub(super) is_ambiguous: bool,
    /// Digest of its text.
    digest: u64,
    parts_end: usize,
}

/// A part of a feature.
#[derive(Debug, Clone, Copy)]
struct StoredPart {
    kind: GeometryPart,
    end: usize,
}

/// Outcome for a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placed {
    /// It is drawn, or another row with its geometry is.
    Taken,
    /// It has no position.
    Empty,
    /// It has one beyond the poles.
    Beyond,
}

/// Features, their parts and the vertices of these, one after the other.
#[derive(Debug, Clone)]
pub(super) struct ShapeStore {
    features: Vec<Feature>,
    parts: Vec<StoredPart>,
    vertices: Vec<Cell>,
    /// Most of them.
    most: usize,
    per_degree: f64,
    pub(super) bounds: GeometryBounds,
    /// Degrees of latitude of the parts that each whole degree of longitude cuts, from 180° on.
    cut: [f64; 360],
    /// Features by the digest of their text.
    known: HashMap<u64, usize>,
    /// Rows whose geometry another row has with a newer date.
    pub(super) older: u64,
    /// Features that lie in the place of another and are as small as a cell.
    pub(super) hidden: u64,
}

impl Default for ShapeStore {
    fn default() -> Self {
        Self {
            features: Vec::new(),
            parts: Vec::new(),
            vertices: Vec::new(),
            most: MOST_VERTICES,
            per_degree: FINEST,
            bounds: GeometryBounds::default(),
            cut: [0.0; 360],
            known: HashMap::new(),
            older: 0,
            hidden: 0,
        }
    }
}

impl ShapeStore {
    /// Adds a row. Of rows with the same geometry the one with the newest date stays, of several
    /// the first one.
    pub(super) fn push(&mut self, text: &str, figures: RowFigures) -> Result<Placed, MalformedWkt> {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let digest = hasher.finish();
        if let Some(known) = self.known.get(&digest) {
            let known = &mut self.features[*known];
            if figures.date == known.figures.date {
                known.is_ambiguous = true;
            } else {
                self.older += 1;
                if figures.date > known.figures.date {
                    (known.figures, known.is_ambiguous) = (figures, false);
                }
            }
            return Ok(Placed::Taken);
        }
        let (parts, vertices) = (self.parts.len(), self.vertices.len());
        let mut boxes = Vec::new();
        for_each_part(text, |kind, positions| {
            boxes.push(extent(positions));
            let cells = positions.iter().map(|position| cell(*position, self.per_degree));
            self.vertices.extend(cells);
            self.end_part(kind);
        })?;
        let is_beyond = |[west, south, east, north]: &[f64; 4]| {
            *south < -90.0 || *north > 90.0 || *west < -FARTHEST || *east > FARTHEST
        };
        if boxes.iter().any(is_beyond) {
            self.parts.truncate(parts);
            self.vertices.truncate(vertices);
            return Ok(Placed::Beyond);
        }
        if boxes.is_empty() {
            return Ok(Placed::Empty);
        }
        for [west, south, east, north] in boxes {
            self.bounds.add(west, east, south, north);
            self.count_cuts(west, east, north - south);
        }
        let parts_end = self.parts.len();
        self.known.insert(digest, self.features.len());
        self.features.push(Feature { figures, is_ambiguous: false, digest, parts_end });
        while self.vertices.len() > self.most && self.per_degree > COARSEST {
            self.coarsen();
        }
        if self.vertices.len() > self.most {
            self.hide_last();
        }
        Ok(Placed::Taken)
    }

    /// Features in the order of rows.
    pub(super) fn features(&self) -> &[Feature] {
        &self.features
    }

    /// Parts of each feature with their cells, in the same order.
    pub(super) fn parts(&self) -> impl Iterator<Item = Vec<(GeometryPart, &[Cell])>> {
        let (mut part, mut vertex) = (0, 0);
        self.features.iter().map(move |feature| {
            let parts = &self.parts[part..feature.parts_end];
            part = feature.parts_end;
            let cells = parts.iter().map(|part| {
                let start = std::mem::replace(&mut vertex, part.end);
                (part.kind, &self.vertices[start..part.end])
            });
            cells.collect()
        })
    }

    /// Returns whether there is an area among the features.
    pub(super) fn has_areas(&self) -> bool {
        self.parts.iter().any(|part| part.kind == GeometryPart::Outer)
    }

    /// Cells of a degree.
    pub(super) fn per_degree(&self) -> f64 {
        self.per_degree
    }

    /// Longitude at which a map of the whole world is best cut: the one of the least land, and 180°
    /// unless another one has less.
    pub(super) fn best_cut(&self) -> f64 {
        let mut best = 0;
        for at in (0..180).flat_map(|away| [away, (360 - away) % 360]) {
            if self.cut[at] < self.cut[best] {
                best = at;
            }
        }
        f64::from(u16::try_from(best).unwrap_or(0)) - 180.0
    }

    fn count_cuts(&mut self, west: f64, east: f64, height: f64) {
        // A part that ends at 180° goes on at the other side of it.
        let (first, last) = (whole(west.floor()) + 1, whole(east.ceil()) - 1);
        let ends = [west <= -180.0, east >= 180.0].into_iter().any(|ends| ends);
        let inside = (first..=last).filter(|at| at.rem_euclid(360) != 180);
        for at in inside.chain(ends.then_some(-180)) {
            let at = usize::try_from((at + 180).rem_euclid(360)).unwrap_or(0);
            // A part along a parallel is cut too.
            self.cut[at] += height.max(0.01);
        }
    }

    /// Ends the part that the vertices at the end are: those that follow each other in one cell are
    /// one. A ring within one cell or on both sides of a line is a point, a hole nothing.
    fn end_part(&mut self, kind: GeometryPart) {
        let start = self.parts.last().map_or(0, |part| part.end);
        let mut end = start;
        for at in start..self.vertices.len() {
            if end == start || self.vertices[end - 1] != self.vertices[at] {
                self.vertices[end] = self.vertices[at];
                end += 1;
            }
        }
        if matches!(kind, GeometryPart::Outer | GeometryPart::Hole) {
            while end > start + 1 && self.vertices[end - 1] == self.vertices[start] {
                end -= 1;
            }
            end = match (end - start < 3, kind) {
                (true, GeometryPart::Hole) => start,
                (true, _) => start + 1,
                (false, _) => end,
            };
        }
        self.vertices.truncate(end);
        if end > start {
            self.parts.push(StoredPart { kind, end });
        }
    }

    /// Takes the last feature away again.
    fn hide_last(&mut self) {
        let Some(last) = self.features.pop() else { return };
        self.known.remove(&last.digest);
        self.parts.truncate(self.features.last().map_or(0, |feature| feature.parts_end));
        self.vertices.truncate(self.parts.last().map_or(0, |part| part.end));
        self.hidden += 1;
    }

    /// Makes cells twice as wide. Points share one; a feature that has none left is hidden.
    fn coarsen(&mut self) {
        let finer = std::mem::take(self);
        *self = Self {
            most: finer.most,
            per_degree: finer.per_degree / 2.0,
            bounds: finer.bounds.clone(),
            cut: finer.cut,
            older: finer.older,
            hidden: finer.hidden,
            ..Self::default()
        };
        let mut taken = HashSet::new();
        for (feature, parts) in finer.features.iter().zip(finer.parts()) {
            let before = self.parts.len();
            for (kind, cells) in parts {
                let start = self.vertices.len();
                self.vertices.extend(cells.iter().map(|cell| cell.map(|at| at >> 1)));
                self.end_part(kind);
                if self.vertices.len() == start + 1 && !taken.insert(self.vertices[start]) {
                    self.vertices.truncate(start);
                    self.parts.pop();
                }
            }
            if self.parts.len() == before {
                self.hidden += 1;
                continue;
            }
            self.known.insert(feature.digest, self.features.len());
            self.features.push(Feature { parts_end: self.parts.len(), ..feature.clone() });
        }
    }
}

/// West, south, east and north of positions.
fn extent(positions: &[[f64; 2]]) -> [f64; 4] {
    let start = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
    positions.iter().fold(start, |[west, south, east, north], [x, y]| {
        [west.min(*x), south.min(*y), east.max(*x), north.max(*y)]
    })
}

fn cell(position: [f64; 2], per_degree: f64) -> Cell {
    position.map(|degrees| {
        let cell = whole((degrees * per_degree).floor());
        i32::try_from(cell).unwrap_or(if cell < 0 { i32::MIN } else { i32::MAX })
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// A tenth of what a response has: the bound holds in the same way, and is reached sooner.
    const FEW: usize = MOST_VERTICES / 10;

    fn store(texts: &[String]) -> ShapeStore {
        let mut store = ShapeStore { most: FEW, ..ShapeStore::default() };
        for text in texts {
            store.push(text, RowFigures::default()).unwrap();
        }
        store
    }

    fn square(x: f64, y: f64, side: f64) -> String {
        let (east, north) = (x + side, y + side);
        format!("POLYGON (({x} {y}, {east} {y}, {east} {north}, {x} {north}, {x} {y}))")
    }

    #[test]
    fn the_world_is_cut_where_least_land_is() {
        // Russia and Fiji reach 180°, Greenland and the Antarctic do not give way to them.
        let russia = "POLYGON ((28 41, 180 65, 180 69, 28 70, 28 41))".to_owned();
        let chukotka = "POLYGON ((-180 65, -169.5 66, -180 69, -180 65))".to_owned();
        let greenland = square(-73.0, 60.0, 23.0);
        let antarctica = "POLYGON ((-180 -90, 180 -90, 180 -70, -180 -70, -180 -90))".to_owned();
        let alaska = square(-168.1, 60.0, 11.0);
        let world = [russia, chukotka, greenland, antarctica, alaska];
        assert_eq!(store(&world).best_cut(), -169.0);
        // Without anything at 180° the cut is there.
        assert_eq!(store(&world[2..]).best_cut(), -180.0);
        assert_eq!(store(&[]).best_cut(), -180.0);
    }

    #[test]
    fn many_areas_take_bounded_memory_and_keep_borders_in_common() {
        let side = 0.125;
        let squares: Vec<_> = (0..24_000u32)
            .map(|at| square(f64::from(at % 1_000) * side, f64::from(at / 1_000) * side, side))
            .collect();
        let store = store(&squares);
        assert!(store.vertices.len() <= FEW && store.features.len() > 100);
        assert!(store.per_degree < FINEST, "the bound was not reached");
        assert_eq!(store.features.len() as u64 + store.hidden, 24_000);
        let parts: Vec<_> = store.parts().collect();
        assert_eq!(parts.len(), store.features.len());
        // Each corner within is in one cell, whichever square has it.
        let corners: HashSet<_> =
            parts.iter().flatten().flat_map(|(_, cells)| cells.iter()).collect();
        assert!(corners.len() <= 1_001 * 25, "{}", corners.len());
    }

    #[test]
    fn of_rows_with_the_same_geometry_the_newest_stays() {
        let mut store = ShapeStore::default();
        let mut push = |date: f64, value: f64| {
            let figures = RowFigures { value: Some(value), date: Some(date), name: None };
            store.push("POLYGON ((0 0, 1 0, 1 1, 0 0))", figures).unwrap()
        };
        for (date, value) in [(1.0, 10.0), (3.0, 30.0), (2.0, 20.0)] {
            assert_eq!(push(date, value), Placed::Taken);
        }
        assert_eq!((store.features.len(), store.older), (1, 2));
        assert_eq!(store.features[0].figures.value, Some(30.0));
        assert!(!store.features[0].is_ambiguous);
        let figures = RowFigures { value: Some(4.0), date: Some(3.0), name: None };
        store.push("POLYGON ((0 0, 1 0, 1 1, 0 0))", figures).unwrap();
        assert!(store.features[0].is_ambiguous);
    }

    #[test]
    fn zigzags_that_no_grid_makes_shorter_are_bounded_too() {
        let zigzag = |row: usize| {
            let ends = (0..900).map(|at| if at % 2 == 0 { "-1 -1" } else { "1 1" });
            format!("LINESTRING ({}, 0 0.{row})", ends.collect::<Vec<_>>().join(","))
        };
        let store = store(&(0..110).map(zigzag).collect::<Vec<_>>());
        assert!(store.vertices.len() <= FEW && store.hidden > 0);
    }
}
