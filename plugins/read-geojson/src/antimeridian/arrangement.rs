//! Edges of polygons, directed so that the polygon is on their left, that meet at their ends alone.
//! Predicates are exact; no position is moved or made.

use std::cmp::Ordering;

use robust::{Coord, orient2d};

use crate::position::Position;

/// From a position to another.
pub(super) type Edge = [Position; 2];

/// A position as a key.
pub(super) type PositionKey = [u64; 2];

/// The fault of a polygon whose inside is not known.
pub(super) const OVERLAP: &str = "goes beyond 180 degrees and overlaps itself, so it cannot be cut \
    there; make it valid first (`ogr2ogr -makevalid`, ST_MakeValid)";

/// Pairs of edges that are looked at for one polygon, at most: seconds.
const MAX_PAIRS: u64 = 1 << 30;

pub(super) fn key([longitude, latitude]: Position) -> PositionKey {
    // Adding zero makes -0 plain.
    [(longitude + 0.0).to_bits(), (latitude + 0.0).to_bits()]
}

/// From west to east, then from south to north.
pub(super) fn compare(one: &Position, other: &Position) -> Ordering {
    one.partial_cmp(other).unwrap_or(Ordering::Equal)
}

/// Greater where `position` is on the left of the line, less on its right, and equal on it.
pub(super) fn side_of([from, to]: Edge, position: Position) -> Ordering {
    let [from, to, position] = [from, to, position].map(|[x, y]| Coord { x, y });
    orient2d(from, to, position).partial_cmp(&0.0).unwrap_or(Ordering::Equal)
}

/// Returns whether a ring runs against the clock.
pub(super) fn is_counterclockwise(ring: &[Position]) -> bool {
    let Some(least) = ring.iter().copied().min_by(compare) else { return true };
    // Of the edges at the westernmost position, the first from the north is on the outside.
    let mut first: Option<(Position, bool)> = None;
    for edge in ring.windows(2) {
        for (at, other, comes) in [(edge[0], edge[1], false), (edge[1], edge[0], true)] {
            let is_first = |(best, _)| side_of([least, best], other) == Ordering::Greater;
            if at == least && other != least && first.is_none_or(is_first) {
                first = Some((other, comes));
            }
        }
    }
    first.is_some_and(|(_, comes)| comes)
}

/// Splits edges where the end of another one touches them.
///
/// # Errors
/// Fails where edges cross.
pub(super) fn split_at_touches(edges: Vec<Edge>) -> Result<Vec<Edge>, String> {
    let mut touches: Vec<(usize, Position)> = Vec::new();
    visit_pairs(&edges, |one, other| {
        let ([a, b], [c, d]) = (edges[one], edges[other]);
        let sides = [(one, c), (one, d), (other, a), (other, b)]
            .map(|(edge, end)| (edge, end, side_of(edges[edge], end)));
        let apart = |one: usize| {
            let (one, other) = (sides[one].2, sides[one + 1].2);
            one != Ordering::Equal && one == other.reverse()
        };
        if apart(0) && apart(2) {
            let [longitude, latitude] = a;
            return Err(format!(
                "goes beyond 180 degrees and crosses itself on the edge from {longitude} {latitude} to {} {}, so it \
                 cannot be cut there; make it valid first (`ogr2ogr -makevalid`, ST_MakeValid)",
                b[0], b[1]
            ));
        }
        for (edge, end, side) in sides {
            let [from, to] = edges[edge];
            if side == Ordering::Equal
                && end != from
                && end != to
                && (0..2)
                    .all(|at| from[at].min(to[at]) <= end[at] && end[at] <= from[at].max(to[at]))
            {
                touches.push((edge, end));
            }
        }
        Ok(())
    })?;
    touches.sort_by(|(one, first), (other, second)| {
        let [from, to] = edges[*one];
        let along = compare(first, second);
        one.cmp(other).then(if compare(&from, &to).is_lt() { along } else { along.reverse() })
    });
    touches.dedup();
    let mut split = Vec::with_capacity(edges.len() + touches.len());
    let mut touches = touches.into_iter().peekable();
    for (at, [mut from, to]) in edges.into_iter().enumerate() {
        while let Some((_, touch)) = touches.next_if(|(edge, _)| *edge == at) {
            split.push([from, touch]);
            from = touch;
        }
        split.push([from, to]);
    }
    Ok(split)
}

/// Leaves out edges that run both ways: their sides are both inside or both outside.
///
/// # Errors
/// Fails where edges run the same way twice.
pub(super) fn cancel_opposites(edges: &[Edge]) -> Result<Vec<Edge>, String> {
    let ends = |at: usize| {
        let [from, to] = edges[at];
        if compare(&from, &to).is_lt() { ([from, to], 1) } else { ([to, from], -1) }
    };
    let mut order: Vec<usize> = (0..edges.len()).collect();
    order.sort_by(|one, other| {
        let (([a, b], _), ([c, d], _)) = (ends(*one), ends(*other));
        compare(&a, &c).then_with(|| compare(&b, &d))
    });
    let mut kept: Vec<usize> = Vec::with_capacity(edges.len());
    for same in order.chunk_by(|one, other| ends(*one).0 == ends(*other).0) {
        let direction: i32 = same.iter().map(|at| ends(*at).1).sum();
        if direction.abs() > 1 {
            return Err(OVERLAP.to_owned());
        }
        kept.extend(same.iter().find(|at| ends(**at).1 == direction));
    }
    kept.sort_unstable();
    Ok(kept.into_iter().map(|at| edges[at]).collect())
}

/// Visits pairs of edges whose boxes meet, the one that begins farther north first.
///
/// # Errors
/// Fails where a visit does, and where there are too many pairs.
pub(super) fn visit_pairs(
    edges: &[Edge],
    mut visit: impl FnMut(usize, usize) -> Result<(), String>,
) -> Result<(), String> {
    let range = |edge: usize, at: usize| {
        let [from, to] = edges[edge];
        (from[at].min(to[at]), from[at].max(to[at]))
    };
    let mut order: Vec<usize> = (0..edges.len()).collect();
    order.sort_by(|one, other| range(*one, 1).0.total_cmp(&range(*other, 1).0));
    let mut pairs = 0;
    let mut active: Vec<usize> = Vec::new();
    for edge in order {
        let (south, (west, east)) = (range(edge, 1).0, range(edge, 0));
        pairs += active.len() as u64;
        if pairs > MAX_PAIRS {
            return Err("goes beyond 180 degrees and has too many long edges to be cut there; \
                        split it into smaller features"
                .to_owned());
        }
        active.retain(|other| range(*other, 1).1 >= south);
        for other in &active {
            let (first, last) = range(*other, 0);
            if first <= east && west <= last {
                visit(edge, *other)?;
            }
        }
        active.push(edge);
    }
    Ok(())
}
