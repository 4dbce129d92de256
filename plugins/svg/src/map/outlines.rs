//! Shapes as paths of a picture: simplified to what its pixels can show, and more where it would
//! have too many bytes. Borders in common stay so, for only arcs between their ends are simplified.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use yearbook_wkt::GeometryPart;
use yearbook_wkt::arcs::{Junctions, simplified_line, simplified_ring};

use super::shapes::{Cell, ShapeStore};
use super::view::MapView;
use crate::number::whole;

/// Units of a pixel: paths stand in a group that is scaled by a tenth.
const PER_PIXEL: f64 = 10.0;

/// Extent of a part below which it is no shape, in these units: at first, at last, and the factor
/// from one to the next.
const FINEST: f64 = 8.0;
const COARSEST: f64 = 400.0;
const COARSER: f64 = 1.4;

/// Distance that a line may move at least, and as a part of that extent.
const NEAREST: f64 = 4.0;
const TOLERANCE: f64 = 0.3;

/// Bytes of all paths at most: a picture has a megabyte, and words besides.
const MOST_BYTES: usize = 850_000;

/// Features at most that have an element each: with more, those of a class share one.
const MOST_ELEMENTS: usize = 250;

/// Radius of a feature that would not be seen otherwise, where features have elements, and side of
/// one where they have none.
const SPOT: i32 = 17;
const SPECK: i32 = 18;

/// Bytes of a run of such squares, and of a shape at least.
const SPECK_BYTES: usize = 26;
const SHAPE_BYTES: usize = 16;

/// Overlap of areas that are cut, as sources cut them at 180°: no gap may shine through.
const OVERLAP: i32 = 3;

/// Paths of one feature, or of all in a class.
#[derive(Debug, Default)]
pub(super) struct Ink {
    /// The feature; `None` for all in a class.
    pub(super) feature: Option<usize>,
    pub(super) shade: Option<usize>,
    /// Areas with their borders.
    pub(super) areas: String,
    /// Areas without borders: halves that meet at 180°, and squares for the smallest.
    pub(super) halves: String,
    /// Borders of halves, where these do not meet.
    pub(super) borders: String,
    pub(super) lines: String,
    /// Extent, for what is small lies above what is large.
    extent: i32,
}

/// Paths of all shapes.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) inks: Vec<Ink>,
    /// Parts of features that are drawn, and all.
    pub(super) parts: usize,
    pub(super) of: usize,
    /// Mean extent of the areas, pixels.
    pub(super) grain: f64,
}

/// A part in units of the picture.
struct Outline {
    feature: usize,
    kind: GeometryPart,
    line: Vec<Cell>,
    extent: i32,
    middle: Cell,
    /// Places of -180° and of 180°.
    seams: [i32; 2],
}

/// Draws the shapes, each in the shade that `shades` has for its feature; of too many parts the
/// first `most`.
pub(super) fn draw(
    store: &ShapeStore,
    view: &MapView,
    shades: &[Option<usize>],
    most: usize,
) -> Drawn {
    let mut outlines = outlines(store, view);
    let of = outlines.len();
    outlines.truncate(most);
    let mut junctions = Junctions::default();
    for Outline { kind, line, .. } in &outlines {
        junctions.add(line, is_ring(*kind));
    }
    let areas = outlines.iter().filter(|outline| outline.kind == GeometryPart::Outer);
    let extents = areas.map(|outline| f64::from(outline.extent) / PER_PIXEL);
    let (count, sum) = extents.fold((0.0, 0.0), |(count, sum), one| (count + 1.0, sum + one));
    let sheet = Sheet { outlines: &outlines, junctions: &junctions, shades };
    let mut least = FINEST;
    let shapes = |least| outlines.iter().filter(|one| f64::from(one.extent) >= least).count();
    while least < COARSEST && shapes(least) * SHAPE_BYTES > MOST_BYTES {
        least *= COARSER;
    }
    loop {
        let (inks, parts) = sheet.inks(least);
        if parts == outlines.len() || least >= COARSEST {
            return Drawn { inks, parts, of, grain: if count > 0.0 { sum / count } else { 0.0 } };
        }
        least *= COARSER;
    }
}

/// Parts within the map, in the order of features: one that the edge of a map of the world cuts
/// stands there twice.
fn outlines(store: &ShapeStore, view: &MapView) -> Vec<Outline> {
    let degrees = |cell: i32| (f64::from(cell) + 0.5) / store.per_degree();
    let unit = |pixel: f64| i32::try_from(whole(pixel * PER_PIXEL)).unwrap_or_default();
    let [west, east] = [-180.0, 180.0].map(|at: f64| degrees(cell_of(at, store.per_degree())));
    let mut outlines = Vec::new();
    for (feature, parts) in store.parts().enumerate() {
        for (kind, cells) in parts {
            let longitudes = || cells.iter().map(|[x, _]| degrees(*x));
            let first = longitudes().fold(f64::INFINITY, f64::min);
            let last = longitudes().fold(f64::NEG_INFINITY, f64::max);
            for turn in [-720.0, -360.0, 0.0, 360.0, 720.0] {
                if first + turn >= view.bounds.east || last + turn < view.bounds.west {
                    continue;
                }
                let place =
                    |[x, y]: &Cell| view.pixel_at(degrees(*x) + turn, degrees(*y)).map(unit);
                let mut line: Vec<Cell> = cells.iter().map(place).collect();
                line.dedup();
                let mut least = [i32::MAX; 2];
                let mut greatest = [i32::MIN; 2];
                for at in &line {
                    least = [least[0].min(at[0]), least[1].min(at[1])];
                    greatest = [greatest[0].max(at[0]), greatest[1].max(at[1])];
                }
                if is_ring(kind) && line.first() != line.last() {
                    line.extend(line.first().copied());
                }
                let extent = (greatest[0] - least[0]).max(greatest[1] - least[1]);
                let middle = [0, 1].map(|axis| i32::midpoint(least[axis], greatest[axis]));
                let seams = [west, east].map(|at| unit(view.pixel_at(at + turn, 0.0)[0]));
                outlines.push(Outline { feature, kind, line, extent, middle, seams });
            }
        }
    }
    outlines
}

#[expect(clippy::cast_possible_truncation, reason = "cells of 180° are far fewer")]
fn cell_of(degrees: f64, per_degree: f64) -> i32 {
    (degrees * per_degree).floor() as i32
}

fn is_ring(kind: GeometryPart) -> bool {
    matches!(kind, GeometryPart::Outer | GeometryPart::Hole)
}

struct Sheet<'a> {
    outlines: &'a [Outline],
    junctions: &'a Junctions,
    shades: &'a [Option<usize>],
}

impl Sheet<'_> {
    /// Paths with shapes of an extent of `least` or more, and the number of parts that they have:
    /// fewer than there are where bytes are used up.
    fn inks(&self, least: f64) -> (Vec<Ink>, usize) {
        let (least, tolerance) = (unit_of(least), (least * TOLERANCE).max(NEAREST));
        let has_elements = self.shades.len() <= MOST_ELEMENTS;
        let mut inks: Vec<Ink> = Vec::new();
        if !has_elements {
            let shades = std::iter::once(None).chain((0..crate::palette::SHADES).map(Some));
            inks.extend(shades.map(|shade| Ink { shade, ..Ink::default() }));
        }
        let (mut parts, mut bytes) = (0, 0);
        let mut specks = Specks::new(least.max(SPECK));
        for outlines in self.outlines.chunk_by(|one, other| one.feature == other.feature) {
            let feature = outlines[0].feature;
            let shade = self.shades[feature];
            let ink = if has_elements {
                inks.push(Ink { feature: Some(feature), shade, ..Ink::default() });
                inks.len() - 1
            } else {
                shade.map_or(0, |shade| shade + 1)
            };
            let ink = &mut inks[ink];
            let before = ink.bytes();
            let largest = outlines.iter().map(|outline| outline.extent).max().unwrap_or(0);
            ink.extent = largest;
            // Of what is too small for a shape the largest part stands for the feature.
            let largest_part = outlines.iter().position(|outline| outline.extent == largest);
            for (at, outline) in outlines.iter().enumerate() {
                let is_point = outline.kind == GeometryPart::Point;
                if !is_point && outline.extent >= least {
                    self.push(outline, tolerance, ink);
                } else if is_point || Some(at) == largest_part {
                    if has_elements {
                        push_spot(outline, ink);
                    } else if specks.insert(outline, shade) {
                        bytes += SPECK_BYTES;
                    }
                }
            }
            parts += outlines.len();
            bytes += ink.bytes() - before;
            if bytes > MOST_BYTES {
                parts -= outlines.len();
                break;
            }
        }
        specks.draw(&mut inks);
        (sorted(inks), parts)
    }

    fn push(&self, outline: &Outline, tolerance: f64, ink: &mut Ink) {
        if outline.kind == GeometryPart::Line {
            let line = simplified_line(&outline.line, self.junctions, tolerance);
            push_path(&line, &mut ink.lines);
            return;
        }
        let Some(mut ring) = simplified_ring(&outline.line, self.junctions, tolerance) else {
            return;
        };
        // All outer rings turn one way and all holes the other, so that areas which overlap in one
        // path do not cancel each other.
        if (turn(&ring) > 0) != (outline.kind == GeometryPart::Outer) {
            ring.reverse();
        }
        let [west, east] = outline.seams;
        let is_seam =
            |pair: &[Cell]| pair[0][0] == pair[1][0] && [west, east].contains(&pair[0][0]);
        if !ring.windows(2).any(is_seam) {
            push_path(&ring[..ring.len() - 1], &mut ink.areas);
            ink.areas.push('z');
            return;
        }
        // From the end of a seam on, so that no other border is cut.
        let start = ring.windows(2).position(is_seam).unwrap_or(0) + 1;
        let open = &ring[..ring.len() - 1];
        let start = start % open.len();
        let mut turned = [&open[start..], &open[..=start]].concat();
        let mut begin = 0;
        for at in 1..turned.len() {
            if is_seam(&turned[at - 1..=at]) {
                push_border(&turned[begin..at], &mut ink.borders);
                begin = at;
            }
        }
        push_border(&turned[begin..], &mut ink.borders);
        for [x, _] in &mut turned {
            *x += if *x == east { OVERLAP } else { 0 } - if *x == west { OVERLAP } else { 0 };
        }
        push_path(&turned[..turned.len() - 1], &mut ink.halves);
        ink.halves.push('z');
    }
}

impl Ink {
    fn bytes(&self) -> usize {
        self.areas.len() + self.halves.len() + self.borders.len() + self.lines.len()
    }
}

/// Large ones first; those of classes in the order of these.
fn sorted(mut inks: Vec<Ink>) -> Vec<Ink> {
    inks.sort_by_key(|ink| std::cmp::Reverse(ink.feature.map_or(0, |_| ink.extent)));
    inks.retain(|ink| ink.bytes() > 0);
    inks
}

/// Appends a feature that would not be seen otherwise.
fn push_spot(outline: &Outline, ink: &mut Ink) {
    let [x, y] = outline.middle;
    let (left, width) = (x - SPOT, 2 * SPOT);
    let arc = format!("a{SPOT} {SPOT} 0 1 0");
    let _ = write!(ink.areas, "M{left} {y}{arc} {width} 0{arc}-{width} 0z");
}

/// Features that are too small for a shape, as squares of a grid: the first in each has its shade.
struct Specks {
    side: i32,
    /// By row and column.
    cells: BTreeMap<Cell, Option<usize>>,
}

impl Specks {
    fn new(side: i32) -> Self {
        Self { side, cells: BTreeMap::new() }
    }

    /// Adds a feature. Returns whether it begins a run of squares.
    fn insert(&mut self, outline: &Outline, shade: Option<usize>) -> bool {
        let [x, y] = outline.middle;
        let cell = [y, x].map(|at| at.div_euclid(self.side));
        let is_new = !self.cells.contains_key(&cell);
        if is_new {
            self.cells.insert(cell, shade);
        }
        let neighbour = |away: i32| self.cells.get(&[cell[0], cell[1] + away]) == Some(&shade);
        is_new && !neighbour(-1) && !neighbour(1)
    }

    /// Appends the squares, those of a shade that follow each other as one.
    fn draw(&self, inks: &mut [Ink]) {
        let side = self.side;
        let cells: Vec<_> = self.cells.iter().collect();
        let follows = |one: &(&Cell, &Option<usize>), next: &(&Cell, &Option<usize>)| {
            one.0[0] == next.0[0] && one.0[1] + 1 == next.0[1] && one.1 == next.1
        };
        for run in cells.chunk_by(follows) {
            let ([row, column], shade) = run[0];
            let ink = &mut inks[shade.map_or(0, |shade| shade + 1)];
            let width = i32::try_from(run.len()).unwrap_or(1) * side + OVERLAP;
            let (left, top, height) = (column * side, row * side, side + OVERLAP);
            let _ = write!(ink.halves, "M{left} {top}h{width}v{height}h-{width}z");
        }
    }
}

/// Appends a line, unless it is the corner between two seams.
fn push_border(line: &[Cell], path: &mut String) {
    if line.len() > 1 {
        push_path(line, path);
    }
}

/// Appends a line: a position, and differences.
fn push_path(line: &[Cell], path: &mut String) {
    let [first, rest @ ..] = line else { return };
    let _ = write!(path, "M{} {}", first[0], first[1]);
    let mut before = first;
    for (at, next) in rest.iter().enumerate() {
        for (axis, gap) in [(0, if at == 0 { "l" } else { " " }), (1, " ")] {
            let difference = next[axis] - before[axis];
            // A minus sign keeps numbers apart as well.
            path.push_str(if difference < 0 && gap == " " { "" } else { gap });
            let _ = write!(path, "{difference}");
        }
        before = next;
    }
}

/// Twice the area of a ring, positive where it turns clockwise on the screen.
fn turn(ring: &[Cell]) -> i64 {
    ring.windows(2)
        .map(|pair| {
            let [[ax, ay], [bx, by]] = [pair[0], pair[1]].map(|at| at.map(i64::from));
            ax * by - bx * ay
        })
        .sum()
}

#[expect(clippy::cast_possible_truncation, reason = "a tolerance has three digits")]
fn unit_of(units: f64) -> i32 {
    units as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_a_position_and_differences() {
        let mut path = String::new();
        push_path(&[[10, -5], [13, -9], [13, 2], [0, 2]], &mut path);
        assert_eq!(path, "M10 -5l3-4 0 11-13 0");
        assert!(turn(&[[0, 0], [9, 0], [9, 9], [0, 0]]) > 0);
    }
}
