//! Geometries that go beyond 180 degrees, cut along the antimeridian (RFC 7946, section 3.1.9) and
//! moved back into -180..180. Positions stay as they are written, less whole turns. A geometry
//! within that range comes back as it was; a polygon that cannot be cut into valid parts is
//! refused, and none is repaired. [`edges`] cuts edges, [`arrangement`] connects them, [`rings`]
//! makes polygons of them.

mod arrangement;
mod edges;
mod rings;

use std::collections::HashMap;

use self::arrangement::{
    Edge, PositionKey, cancel_opposites, is_counterclockwise, key, split_at_touches,
};
use self::edges::{add_edges_along, is_along, split_edge};
use crate::position::{NOISE, Position};

/// Degrees around the earth.
const AROUND: f64 = 360.0;

/// The antimeridian.
const HALF: f64 = 180.0;

/// A position with its longitude in range.
pub(crate) fn wrap_position([longitude, latitude]: Position) -> Position {
    let wrapped = if longitude > HALF + NOISE {
        longitude - AROUND
    } else if longitude < -HALF - NOISE {
        longitude + AROUND
    } else {
        longitude.clamp(-HALF, HALF)
    };
    [wrapped, latitude]
}

/// The parts of a line.
pub(crate) fn cut_line(mut line: Vec<Position>, short_way: bool) -> Vec<Vec<Position>> {
    let mut originals = HashMap::new();
    if short_way {
        wrap(&mut line);
        if !line.windows(2).any(|edge| is_wide(edge, false)) {
            return vec![line];
        }
        line = unwrap(&line, false, &mut originals);
    } else if move_whole(std::slice::from_mut(&mut line)) {
        return vec![line];
    }
    let mut parts: Vec<Vec<Position>> = Vec::new();
    for edge in line.windows(2) {
        for [from, to] in split_edge([edge[0], edge[1]], &originals) {
            match parts.last_mut() {
                Some(part) if part.last() == Some(&from) => part.push(to),
                // An edge along the antimeridian goes on on the side that the part came from.
                Some(part) if is_along([from, to]) && part.last() == Some(&[-from[0], from[1]]) => {
                    part.push([-to[0], to[1]]);
                }
                _ => parts.push(vec![from, to]),
            }
        }
    }
    parts
}

/// The parts of a polygon: outer ring and holes each.
///
/// # Errors
/// Fails where no valid parts are known, with the reason.
pub(crate) fn cut_polygon(
    mut polygon: Vec<Vec<Position>>,
    short_way: bool,
) -> Result<Vec<Vec<Vec<Position>>>, String> {
    // One without such an edge is where it is written; wrapped, it may get one along a pole.
    let short_way =
        short_way && polygon.iter().any(|ring| ring.windows(2).any(|edge| is_wide(edge, true)));
    if short_way {
        polygon.iter_mut().for_each(|ring| wrap(ring));
        if !polygon.iter().any(|ring| goes_short_way(ring)) {
            return Ok(vec![polygon]);
        }
    } else if move_whole(&mut polygon) {
        return Ok(vec![polygon]);
    }
    let mut edges: Vec<Edge> = Vec::with_capacity(polygon.iter().map(Vec::len).sum());
    let mut originals = HashMap::new();
    for (at, ring) in polygon.iter_mut().enumerate() {
        if short_way && goes_short_way(ring) {
            let closed = [false, true].into_iter().find_map(|over_pole| {
                let unwrapped = unwrap(ring, over_pole, &mut originals);
                (unwrapped.first() == unwrapped.last()).then_some(unwrapped)
            });
            *ring = closed.ok_or(
                "has a ring around a pole; close it along the pole, with positions of the latitude 90 or -90 at the \
                 longitudes 180 and -180",
            )?;
        }
        // The polygon is on the left of every edge.
        if is_counterclockwise(ring) != (at == 0) {
            ring.reverse();
        }
        edges.extend(ring.windows(2).map(|edge| [edge[0], edge[1]]).filter(|[a, b]| a != b));
    }
    drop(polygon);
    let edges = split_at_touches(edges)?;
    let mut cut: Vec<Edge> = Vec::with_capacity(edges.len());
    let mut latitudes: Vec<f64> = Vec::new();
    for piece in edges.into_iter().flat_map(|edge| split_edge(edge, &originals)) {
        if is_along(piece) {
            latitudes.extend(piece.map(|[_, latitude]| latitude));
        } else {
            cut.push(piece);
        }
    }
    for border in [-HALF, HALF] {
        add_edges_along(border, &latitudes, &mut cut)?;
    }
    let parts = rings::polygons(&cancel_opposites(&split_at_touches(cut)?)?)?;
    if parts.is_empty() {
        return Err("goes beyond 180 degrees and has no area there; leave it out".to_owned());
    }
    Ok(parts)
}

fn wrap(line: &mut [Position]) {
    line.iter_mut().for_each(|position| *position = wrap_position(*position));
}

/// Moves lines into range where that takes the same turn for all positions; returns whether it
/// does. Rounding noise does not make a line cross the antimeridian.
fn move_whole(lines: &mut [Vec<Position>]) -> bool {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for [longitude, _] in lines.iter().flatten() {
        least = least.min(*longitude);
        most = most.max(*longitude);
    }
    let turn = [0.0, AROUND, -AROUND]
        .into_iter()
        .find(|turn| least - turn >= -HALF - NOISE && most - turn <= HALF + NOISE);
    let Some(turn) = turn else { return false };
    for [longitude, _] in lines.iter_mut().flatten() {
        *longitude = (*longitude - turn).clamp(-HALF, HALF);
    }
    true
}

/// Returns whether an edge goes the other way around where that is asked for. One along a pole has
/// no length: it goes either way.
fn is_wide(edge: &[Position], over_pole: bool) -> bool {
    let ([west, first], [east, last]) = (edge[0], edge[1]);
    let is_along_pole = first == last && first.abs() == 90.0;
    (east - west).abs() > HALF && (over_pole || !is_along_pole)
}

/// Returns whether a ring has edges that go the other way around. One with positions on the
/// antimeridian alone is a box around the earth.
fn goes_short_way(ring: &[Position]) -> bool {
    ring.windows(2).any(|edge| is_wide(edge, false))
        && ring.iter().any(|[longitude, _]| longitude.abs() != HALF)
}

/// A line whose longitudes go on beyond 180 where an edge goes the other way around; `originals`
/// gets its longitudes as they were. It begins at 0..360, so that a hole is on the turn of its
/// ring.
fn unwrap(
    line: &[Position],
    over_pole: bool,
    originals: &mut HashMap<PositionKey, f64>,
) -> Vec<Position> {
    let mut turn = if line.first().is_some_and(|first| first[0] < 0.0) { AROUND } else { 0.0 };
    let mut unwrapped = Vec::with_capacity(line.len());
    let mut before: Option<Position> = None;
    for own in line.iter().copied() {
        if let Some(before) = before
            && is_wide(&[before, own], over_pole)
        {
            turn += AROUND * (before[0] - own[0]).signum();
        }
        before = Some(own);
        let position = [own[0] + turn, own[1]];
        originals.insert(key(position), own[0]);
        unwrapped.push(position);
    }
    unwrapped
}

#[cfg(test)]
mod tests;
