//! Edges cut at the antimeridian, and the edges along it that close what was cut open.

use std::collections::HashMap;

use super::arrangement::{Edge, OVERLAP, PositionKey, key};
use super::{AROUND, HALF};
use crate::position::Position;

/// The pieces of an edge, moved into range. `originals` has longitudes before they were unwrapped.
pub(super) fn split_edge([from, to]: Edge, originals: &HashMap<PositionKey, f64>) -> Vec<Edge> {
    let (west, east) = if from[0] <= to[0] { (from, to) } else { (to, from) };
    // The border to the east of the piece at hand.
    let mut border = AROUND * ((west[0] + HALF) / AROUND).floor() - HALF;
    while border <= west[0] {
        border += AROUND;
    }
    let mut pieces = Vec::with_capacity(1);
    let mut start = west;
    loop {
        let is_last = border >= east[0];
        let end = if is_last { east } else { crossing(west, east, border) };
        let in_range = |position: Position| {
            let [longitude, latitude] = position;
            // The side of a position on the border is that of the piece.
            let original = originals.get(&key(position)).filter(|own| own.abs() < HALF);
            let moved = (longitude - (border - HALF)).clamp(-HALF, HALF);
            [original.copied().unwrap_or(moved), latitude]
        };
        pieces.push([in_range(start), in_range(end)]);
        if is_last {
            break;
        }
        start = end;
        border += AROUND;
    }
    if west != from {
        pieces.reverse();
        pieces.iter_mut().for_each(|piece| piece.reverse());
    }
    pieces
}

/// The position at which an edge crosses a border; the same for both directions of the edge.
fn crossing(west: Position, east: Position, border: f64) -> Position {
    let (before, behind) = (border - west[0], east[0] - border);
    let latitude = west[1] + (east[1] - west[1]) * (before / (before + behind));
    [border, latitude.clamp(west[1].min(east[1]), west[1].max(east[1]))]
}

/// Returns whether an edge runs along the antimeridian.
pub(super) fn is_along([from, to]: Edge) -> bool {
    from[0] == to[0] && from[0].abs() == HALF
}

/// Adds the edges along one side of the antimeridian: between the ends of other edges there, where
/// the polygon is inside. They have an end at each of `latitudes`.
///
/// # Errors
/// Fails where edges do not bound an inside.
pub(super) fn add_edges_along(
    border: f64,
    latitudes: &[f64],
    edges: &mut Vec<Edge>,
) -> Result<(), String> {
    let is_east = border > 0.0;
    // Latitudes, and by how much the polygons around a position change there on the way north.
    let mut ends: Vec<(f64, i32)> = latitudes.iter().map(|latitude| (*latitude, 0)).collect();
    for [from, to] in edges.iter() {
        // The polygon is on the left: north of an edge to the east, south of one to the west.
        for (position, begins) in [(from, true), (to, false)] {
            if position[0] == border {
                ends.push((position[1], if begins == is_east { -1 } else { 1 }));
            }
        }
    }
    ends.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let (mut inside, mut before) = (0, f64::NEG_INFINITY);
    for (latitude, change) in ends {
        if latitude > before {
            match inside {
                0 => {}
                1 if is_east => edges.push([[border, before], [border, latitude]]),
                1 => edges.push([[border, latitude], [border, before]]),
                _ => return Err(OVERLAP.to_owned()),
            }
        }
        inside += change;
        before = latitude;
    }
    if inside == 0 { Ok(()) } else { Err(OVERLAP.to_owned()) }
}
