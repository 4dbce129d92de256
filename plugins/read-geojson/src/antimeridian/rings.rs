//! Polygons of directed edges that meet at their ends alone: rings that touch no position twice,
//! and each hole in the outer ring around it. Edges that do not bound one layer of polygons are
//! refused.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::HALF;
use super::arrangement::{Edge, OVERLAP, compare, is_counterclockwise, key, side_of, visit_pairs};
use crate::position::Position;

/// The boundary of one side of the edges, as one walks along it.
struct Face {
    outer: Option<Vec<Position>>,
    holes: Vec<Vec<Position>>,
    /// Its westernmost position.
    west: Position,
}

/// The polygons, outer rings against the clock and holes with it.
///
/// # Errors
/// Fails where edges cross, overlap or are not closed.
pub(super) fn polygons(edges: &[Edge]) -> Result<Vec<Vec<Vec<Position>>>, String> {
    let ends = EdgeEnds::new(edges);
    let mut faces: Vec<Face> = Vec::new();
    let mut face_of: Vec<Option<usize>> = vec![None; edges.len()];
    for start in 0..edges.len() {
        if face_of[start].is_some() {
            continue;
        }
        let mut walk = Vec::new();
        let mut at = start;
        while face_of[at].is_none() {
            face_of[at] = Some(faces.len());
            let [from, to] = edges[at];
            walk.push((from, ends.at(from).len() > 2));
            let next = ends.first_clockwise(to, from).filter(|next| next.begins);
            at = next.ok_or(OVERLAP)?.edge;
        }
        if at != start {
            return Err(OVERLAP.to_owned());
        }
        faces.push(Face::new(&walk)?);
    }
    let surroundings = find_surroundings(edges, &face_of, &faces)?;
    let mut homes: Vec<usize> = Vec::with_capacity(faces.len());
    for (at, (face, around)) in faces.iter().zip(surroundings).enumerate() {
        // West of the westernmost position, a bit to the north.
        let west = [face.west[0] - 1.0, face.west[1]];
        let first = ends.first_clockwise(face.west, west);
        let is_inside = first.is_some_and(|end| end.begins);
        if around.values().sum::<i32>() != i32::from(is_inside) {
            return Err(OVERLAP.to_owned());
        }
        let mut others = around.into_iter().filter(|(_, layers)| *layers != 0);
        homes.push(match (&face.outer, others.next(), others.next()) {
            (Some(_), ..) => at,
            (None, Some((home, _)), None) => home,
            _ => return Err(OVERLAP.to_owned()),
        });
    }
    let mut polygons: Vec<Vec<Vec<Position>>> = vec![Vec::new(); faces.len()];
    for (face, polygon) in faces.iter_mut().zip(&mut polygons) {
        polygon.extend(face.outer.take());
    }
    for (face, home) in faces.into_iter().zip(homes) {
        polygons[home].extend(face.holes);
    }
    polygons.retain(|polygon| !polygon.is_empty());
    Ok(polygons)
}

impl Face {
    /// Rings of a walk along positions; other edges meet at some, and the walk may touch these
    /// again.
    fn new(walk: &[(Position, bool)]) -> Result<Self, String> {
        let west = walk.iter().map(|(position, _)| *position).min_by(compare).ok_or(OVERLAP)?;
        let mut face = Self { outer: None, holes: Vec::new(), west };
        let mut path: Vec<Position> = Vec::with_capacity(walk.len() + 1);
        let mut places = HashMap::new();
        for (position, others_meet) in walk {
            if *others_meet {
                if let Some(place) = places.get(&key(*position)).copied() {
                    let ring = path.drain(place..).collect::<Vec<_>>();
                    for position in &ring {
                        places.remove(&key(*position));
                    }
                    face.add(ring)?;
                }
                places.insert(key(*position), path.len());
            }
            path.push(*position);
        }
        face.add(path)?;
        Ok(face)
    }

    /// Adds a ring that is not closed yet.
    fn add(&mut self, mut ring: Vec<Position>) -> Result<(), String> {
        ring.extend(ring.first().copied());
        if !is_counterclockwise(&ring) {
            self.holes.push(ring);
        } else if self.outer.replace(ring).is_some() {
            return Err(OVERLAP.to_owned());
        }
        Ok(())
    }
}

/// Counts for each face the layers of each other one around its westernmost position: the edges
/// that a ray to the west meets.
fn find_surroundings(
    edges: &[Edge],
    face_of: &[Option<usize>],
    faces: &[Face],
) -> Result<Vec<HashMap<usize, i32>>, String> {
    let rays = faces.iter().map(|face| [[-HALF, face.west[1]], face.west]);
    let all: Vec<Edge> = edges.iter().copied().chain(rays).collect();
    let mut found = vec![HashMap::new(); faces.len()];
    visit_pairs(&all, |one, other| {
        let (edge, ray) = (one.min(other), one.max(other));
        if edge >= edges.len() || ray < edges.len() {
            return Ok(());
        }
        let ([from, to], position) = (all[edge], all[ray][1]);
        let layer = match side_of([from, to], position) {
            // West of it, an edge to the south has its polygon on this side.
            Ordering::Greater if to[1] <= position[1] && position[1] < from[1] => 1,
            Ordering::Less if from[1] <= position[1] && position[1] < to[1] => -1,
            _ => return Ok(()),
        };
        if let Some(face) = face_of[edge] {
            *found[ray - edges.len()].entry(face).or_default() += layer;
        }
        Ok(())
    })?;
    Ok(found)
}

/// An end of an edge.
#[derive(Clone, Copy)]
struct EdgeEnd {
    edge: usize,
    /// The edge begins here.
    begins: bool,
}

/// The ends of all edges, by position.
struct EdgeEnds<'a> {
    edges: &'a [Edge],
    ends: Vec<EdgeEnd>,
}

impl<'a> EdgeEnds<'a> {
    fn new(edges: &'a [Edge]) -> Self {
        let both = |edge| [true, false].map(|begins| EdgeEnd { edge, begins });
        let mut own = Self { edges, ends: (0..edges.len()).flat_map(both).collect() };
        own.ends.sort_by(|one, other| compare(&position(edges, *one), &position(edges, *other)));
        own
    }

    /// The ends at a position.
    fn at(&self, at: Position) -> &[EdgeEnd] {
        let begin =
            self.ends.partition_point(|end| compare(&position(self.edges, *end), &at).is_lt());
        let rest = &self.ends[begin..];
        let count = rest.iter().take_while(|end| position(self.edges, **end) == at).count();
        &rest[..count]
    }

    /// The first end at a position as one turns with the clock from the direction of another; one
    /// in that direction is the last.
    fn first_clockwise(&self, at: Position, from: Position) -> Option<EdgeEnd> {
        let other = |end: &EdgeEnd| self.edges[end.edge][usize::from(end.begins)];
        // Quarters of a turn: right, behind, left, ahead.
        let quarter = |end: Position| match side_of([at, from], end) {
            Ordering::Less => 0,
            Ordering::Equal if (0..2).any(|axis| is_between(from[axis], at[axis], end[axis])) => 1,
            Ordering::Greater => 2,
            Ordering::Equal => 3,
        };
        let first = self.at(at).iter().min_by(|one, second| {
            let (one, second) = (other(one), other(second));
            quarter(one).cmp(&quarter(second)).then_with(|| side_of([at, one], second))
        });
        first.copied()
    }
}

fn position(edges: &[Edge], end: EdgeEnd) -> Position {
    edges[end.edge][usize::from(!end.begins)]
}

fn is_between(one: f64, at: f64, other: f64) -> bool {
    (one < at && at < other) || (other < at && at < one)
}
