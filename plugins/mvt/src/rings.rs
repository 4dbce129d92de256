//! Polygons whose rings touch themselves nowhere, and whose insides are connected. The overlay
//! makes rings that may come to a vertex twice, and holes that together cut a part off; its own way
//! of taking them apart turns holes over, and fails at some.

use std::collections::HashMap;

use i_overlay::i_float::int::point::IntPoint;

/// Positions, the first of which is not the last one again.
pub(crate) type Ring = Vec<IntPoint>;

/// Polygons, each the ring around it and then its holes, of one that the overlay made: rings around
/// areas are positive, holes negative.
pub(crate) fn untouched(polygon: Vec<Ring>) -> Vec<Vec<Ring>> {
    let (mut polygons, mut others) = (Vec::new(), Vec::new());
    for boundary in boundaries(polygon) {
        let rings = loops(boundary).into_iter();
        let (outer, mut holes): (Vec<_>, Vec<_>) = rings.partition(|ring| area(ring) > 0.0);
        holes.retain(|ring| area(ring) < 0.0);
        match outer.into_iter().next() {
            Some(outer) => polygons.push([vec![outer], holes].concat()),
            None => others.extend(holes),
        }
    }
    // The smallest that holds a hole is the one that it is in.
    polygons.sort_by(|one, other| area(&one[0]).total_cmp(&area(&other[0])));
    for hole in others {
        if let Some(rings) = polygons.iter_mut().find(|rings| contains(&rings[0], &hole)) {
            rings.push(hole);
        }
    }
    let straighten = |rings: Vec<Ring>| rings.into_iter().map(straightened_ring).collect();
    polygons.into_iter().map(straighten).collect()
}

/// Boundaries of the areas that are connected inside of a polygon, whose rings may touch: from each
/// vertex on goes the edge that has the same area on its left, whichever ring it was in.
fn boundaries(polygon: Vec<Ring>) -> Vec<Ring> {
    let mut leaving: HashMap<IntPoint, Vec<usize>> = HashMap::new();
    let edges: Vec<(IntPoint, IntPoint)> =
        polygon.iter().flat_map(|ring| edges(ring)).map(|(from, to)| (*from, *to)).collect();
    for (at, (from, _)) in edges.iter().enumerate() {
        leaving.entry(*from).or_default().push(at);
    }
    if leaving.len() == edges.len() {
        return polygon;
    }
    let next = |(from, at): (IntPoint, IntPoint)| {
        let back = step(at, from);
        // Rotated clockwise from where the edge came from, the first.
        let turn = |edge: &usize| turned(back, step(at, edges[*edge].1));
        leaving[&at].iter().copied().min_by(|one, other| turn(one).total_cmp(&turn(other)))
    };
    let mut is_seen = vec![false; edges.len()];
    let mut found = Vec::new();
    for first in 0..edges.len() {
        let (mut boundary, mut edge) = (Ring::new(), Some(first));
        while let Some(at) = edge.filter(|at| !std::mem::replace(&mut is_seen[*at], true)) {
            boundary.push(edges[at].0);
            edge = next(edges[at]);
        }
        if !boundary.is_empty() {
            found.push(boundary);
        }
    }
    found
}

/// Angle by which one direction is turned clockwise to another: more than 0, at most 4, by a
/// measure that orders as angles do.
fn turned(from: [f64; 2], to: [f64; 2]) -> f64 {
    let (cross, dot) = (from[0] * to[1] - from[1] * to[0], from[0] * to[0] + from[1] * to[1]);
    let share = cross.abs() / (cross.abs() + dot.abs());
    match (cross < 0.0, dot > 0.0) {
        (true, true) => share,
        (true, false) => 2.0 - share,
        (false, false) => 2.0 + share,
        (false, true) => 4.0 - share,
    }
}

/// Area that a ring encloses, positive where it runs from the first axis to the second.
pub(crate) fn area(ring: &[IntPoint]) -> f64 {
    edges(ring)
        .map(|(from, to)| {
            let [x, y, next_x, next_y] = [from.x, from.y, to.x, to.y].map(f64::from);
            x * next_y - next_x * y
        })
        .sum::<f64>()
        / 2.0
}

fn edges(ring: &[IntPoint]) -> impl Iterator<Item = (&IntPoint, &IntPoint)> {
    ring.iter().zip(ring.iter().cycle().skip(1))
}

/// The parts of a ring between the places to which it comes again.
fn loops(ring: Ring) -> Vec<Ring> {
    let mut places = HashMap::with_capacity(ring.len());
    let (mut path, mut parts) = (Ring::with_capacity(ring.len()), Vec::new());
    for at in ring {
        if let Some(start) = places.get(&at) {
            let part = path.split_off(*start);
            for at in &part {
                places.remove(at);
            }
            parts.push(part);
        }
        places.insert(at, path.len());
        path.push(at);
    }
    parts.push(path);
    parts
}

pub(crate) fn step(from: IntPoint, to: IntPoint) -> [f64; 2] {
    [f64::from(to.x - from.x), f64::from(to.y - from.y)]
}

/// A line without the vertices that lie on the way from the one before to the next.
pub(crate) fn straightened(line: &[IntPoint]) -> Vec<IntPoint> {
    let mut kept: Vec<IntPoint> = Vec::with_capacity(line.len());
    for &at in line {
        if let [.., before, last] = kept[..] {
            let ([ax, ay], [bx, by]) = (step(before, last), step(last, at));
            if ax * by == ay * bx && ax * bx + ay * by > 0.0 {
                kept.pop();
            }
        }
        kept.push(at);
    }
    kept
}

/// The same for a ring, from its least vertex on, which is a corner.
fn straightened_ring(mut ring: Ring) -> Ring {
    let least = (0..ring.len()).min_by_key(|at| ring[*at]).unwrap_or_default();
    ring.rotate_left(least);
    ring.extend(ring.first().copied());
    let mut ring = straightened(&ring);
    ring.pop();
    ring
}

/// Returns whether a ring is around another, which does not cross it. Both have a vertex wherever
/// they touch, which straightened ones may not.
fn contains(ring: &[IntPoint], other: &[IntPoint]) -> bool {
    let [first, second, ..] = other else { return false };
    // The middle of an edge lies on no edge of the ring.
    let at = [first.x + second.x, first.y + second.y].map(|sum| f64::from(sum) / 2.0);
    let is_beside = |(from, to): &(&IntPoint, &IntPoint)| {
        let [from, to] = [from, to].map(|end| [end.x, end.y].map(f64::from));
        let part = (at[1] - from[1]) / (to[1] - from[1]);
        (from[1] > at[1]) != (to[1] > at[1]) && at[0] < from[0] + (to[0] - from[0]) * part
    };
    edges(ring).filter(is_beside).count() % 2 == 1
}
