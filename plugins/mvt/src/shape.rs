//! A geometry on the grid of a tile, and the commands that draw it (Vector Tile 2.1, section 4.3).

use i_overlay::core::fill_rule::FillRule;
use i_overlay::core::overlay::{IntOverlayOptions, Overlay};
use i_overlay::core::solver::Solver;
use i_overlay::i_float::int::point::IntPoint;
use yearbook_wkt::{GeometryKind, MAX_DEPTH, MalformedWkt, WktReader};

use crate::clip::{Bounds, Degrees};
use crate::rings::{self, Ring, step, straightened};
use crate::tile::{EXTENT, Tile};
use crate::wire::{number, zigzag};

/// Commands.
const MOVE_TO: u64 = 1;
const LINE_TO: u64 = 2;
const CLOSE_PATH: u64 = 7;

/// Types of geometry, by their numbers in a tile.
const POINT: u8 = 1;
const LINE: u8 = 2;
const POLYGON: u8 = 3;

/// A geometry of one type as a feature has it.
#[derive(Debug)]
pub(crate) struct Drawing {
    /// Number of its type.
    pub(crate) kind: u8,
    /// Area in units, or length; a point has 0.
    pub(crate) size: f64,
    pub(crate) commands: Vec<u8>,
}

/// The part of a geometry that a tile shows, on the tile's grid.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    points: Vec<IntPoint>,
    lines: Vec<Vec<IntPoint>>,
    /// Polygons as their rings.
    polygons: Vec<Vec<Ring>>,
}

/// A geometry that is read onto a tile.
struct Reading<'a> {
    tile: &'a Tile,
    shape: Shape,
}

impl Shape {
    /// Reads well-known text.
    ///
    /// # Errors
    /// [`MalformedWkt`].
    pub(crate) fn read(text: &str, tile: &Tile) -> Result<Self, MalformedWkt> {
        let mut reading = Reading { tile, shape: Self::default() };
        let mut reader = WktReader::new(text);
        let kind = reader.kind()?;
        reading.geometry(kind, &mut reader, MAX_DEPTH)?;
        reader.end()?;
        Ok(reading.shape)
    }

    /// Drawings of it, one for each type of geometry that it has, none with more bytes than this: a
    /// larger one is drawn on a coarser grid.
    pub(crate) fn draw(&self, most: usize, overlay: &mut Overlay) -> Vec<Drawing> {
        let coarser = (0..EXTENT.ilog2()).map(|bits| 1 << bits);
        let fits = |drawing: &Drawing| drawing.commands.len() <= most;
        let mut drawings = Vec::new();
        let mut add = |draw: &mut dyn FnMut(i32) -> Drawing| {
            let found = coarser.clone().map(draw).find(fits);
            drawings.extend(found.filter(|drawing| !drawing.commands.is_empty()));
        };
        add(&mut |grid| self.polygons(grid, overlay));
        add(&mut |grid| self.lines(grid));
        add(&mut |grid| self.points(grid));
        drawings
    }

    fn points(&self, grid: i32) -> Drawing {
        let points = snapped(&self.points, grid);
        let mut pen = Pen::default();
        if !points.is_empty() {
            pen.draw(MOVE_TO, &points);
        }
        Drawing { kind: POINT, size: 0.0, commands: pen.commands }
    }

    fn lines(&self, grid: i32) -> Drawing {
        let (mut pen, mut size) = (Pen::default(), 0.0);
        for line in &self.lines {
            let line = straightened(&snapped(line, grid));
            if let [first, rest @ ..] = &line[..]
                && !rest.is_empty()
            {
                pen.draw(MOVE_TO, &[*first]);
                pen.draw(LINE_TO, rest);
                let steps = line.iter().zip(rest).map(|(from, to)| step(*from, *to));
                size += steps.map(|[x, y]| x.hypot(y)).sum::<f64>();
            }
        }
        Drawing { kind: LINE, size, commands: pen.commands }
    }

    /// Polygons that are valid on the grid: rounding may make rings touch, cross and vanish. What
    /// is inside of one is as for boxes (decision 0440); several that lie on each other are one.
    fn polygons(&self, grid: i32, overlay: &mut Overlay) -> Drawing {
        let mut polygons = Vec::new();
        for rings in &self.polygons {
            let rings = rings.iter().map(|ring| snapped(ring, grid));
            let rings: Vec<_> = rings.filter(|ring| ring.len() > 2).collect();
            // None where the only ring is as it should be.
            let valid = overlay.simplify_shape(&rings, FillRule::EvenOdd);
            polygons.extend(valid.unwrap_or_else(|| vec![rings]));
        }
        if polygons.len() > 1 {
            polygons = overlay.simplify_shapes(&polygons, FillRule::NonZero);
        }
        let (mut pen, mut size) = (Pen::default(), 0.0);
        for ring in polygons.into_iter().flat_map(rings::untouched).flatten() {
            if let [first, rest @ ..] = &ring[..]
                && rest.len() > 1
            {
                pen.draw(MOVE_TO, &[*first]);
                pen.draw(LINE_TO, rest);
                pen.close();
                size += rings::area(&ring);
            }
        }
        Drawing { kind: POLYGON, size, commands: pen.commands }
    }
}

/// An overlay for [`Shape::draw`], whose memory serves one geometry after another.
pub(crate) fn overlay() -> Overlay {
    // A vertex on the way may be where a ring touches itself.
    let options = IntOverlayOptions { preserve_output_collinear: true, ..Default::default() };
    Overlay::new_custom(0, options, Solver::AUTO)
}

impl Reading<'_> {
    fn geometry(
        &mut self,
        kind: GeometryKind,
        reader: &mut WktReader<'_>,
        depth: usize,
    ) -> Result<(), MalformedWkt> {
        let deeper = depth.checked_sub(1).ok_or(MalformedWkt { at: reader.at() })?;
        match kind {
            GeometryKind::Point => {
                if let Some(point) = reader.point_coordinates()? {
                    self.point(point);
                }
                Ok(())
            }
            GeometryKind::MultiPoint => reader.members(|reader| {
                if reader.peek_number() {
                    self.point(reader.coordinates()?);
                    return Ok(());
                }
                self.geometry(GeometryKind::Point, reader, deeper)
            }),
            GeometryKind::LineString => {
                let line = path(reader)?;
                self.line(&line);
                Ok(())
            }
            GeometryKind::Polygon => {
                let mut rings = Vec::new();
                reader.members(|reader| {
                    rings.push(path(reader)?);
                    Ok(())
                })?;
                self.polygon(&rings);
                Ok(())
            }
            GeometryKind::MultiLineString | GeometryKind::MultiPolygon => {
                let member = kind.member().ok_or(MalformedWkt { at: reader.at() })?;
                reader.members(|reader| self.geometry(member, reader, deeper))
            }
            GeometryKind::GeometryCollection => reader.members(|reader| {
                let kind = reader.kind()?;
                self.geometry(kind, reader, deeper)
            }),
        }
    }

    fn point(&mut self, at: Degrees) {
        for turn in self.turns(&[at]) {
            let at = turned(&[at], turn);
            self.shape.points.extend(self.tile.grid(&at, false));
        }
    }

    fn line(&mut self, line: &[Degrees]) {
        for turn in self.turns(line) {
            for part in self.tile.bounds.clip_line(turned(line, turn)) {
                self.shape.lines.push(self.tile.grid(&part, false));
            }
        }
    }

    fn polygon(&mut self, rings: &[Vec<Degrees>]) {
        // Those inside of the first one lie in its bounds; others may not.
        let turns = rings.iter().flat_map(|ring| self.turns(ring));
        let mut turns: Vec<f64> = turns.collect();
        turns.sort_unstable_by(f64::total_cmp);
        turns.dedup();
        for turn in turns {
            let clip = |ring: &Vec<Degrees>| {
                // A ring ends where it begins.
                let open = ring.split_last().map_or(&[][..], |(_, open)| open);
                self.tile.grid(&self.tile.bounds.clip_ring(turned(open, turn)), true)
            };
            let polygon = rings.iter().map(clip).collect();
            self.shape.polygons.push(polygon);
        }
    }

    /// Degrees by which a path is turned around the earth so that the tile shows it: what lies
    /// beyond 180° is on the other side, too.
    fn turns(&self, path: &[Degrees]) -> Vec<f64> {
        let Bounds { least, most } = Bounds::around(path);
        let is_shown = |turn: &f64| {
            let turned = |[x, y]: Degrees| [x + turn, y];
            self.tile.bounds.touches(&Bounds { least: turned(least), most: turned(most) })
        };
        [-360.0, 0.0, 360.0].into_iter().filter(is_shown).collect()
    }
}

fn turned(path: &[Degrees], turn: f64) -> Vec<Degrees> {
    path.iter().map(|[x, y]| [x + turn, *y]).collect()
}

fn path(reader: &mut WktReader<'_>) -> Result<Vec<Degrees>, MalformedWkt> {
    let mut path = Vec::new();
    reader.members(|reader| {
        path.push(reader.coordinates()?);
        Ok(())
    })?;
    Ok(path)
}

/// Positions on a grid of so many units, none twice in a row.
fn snapped(path: &[IntPoint], grid: i32) -> Vec<IntPoint> {
    let snap = |at: i32| (at + grid / 2).div_euclid(grid) * grid;
    let mut path: Vec<_> = path.iter().map(|at| IntPoint::new(snap(at.x), snap(at.y))).collect();
    path.dedup();
    path
}

/// Writes commands, with positions relative to the one before.
#[derive(Debug, Default)]
struct Pen {
    at: [i32; 2],
    commands: Vec<u8>,
}

impl Pen {
    fn draw(&mut self, command: u64, to: &[IntPoint]) {
        number((to.len() as u64) << 3 | command, &mut self.commands);
        for to in to {
            let to = [to.x, to.y];
            for (axis, at) in self.at.iter_mut().enumerate() {
                number(zigzag(i64::from(to[axis] - *at)), &mut self.commands);
                *at = to[axis];
            }
        }
    }

    fn close(&mut self) {
        number(1 << 3 | CLOSE_PATH, &mut self.commands);
    }
}
