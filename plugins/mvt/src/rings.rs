//! Polygons whose rings touch themselves nowhere. The overlay makes rings that may come to a vertex
//! twice; its own way of taking them apart turns holes over, and fails at some.

use std::collections::HashMap;

use i_overlay::i_float::int::point::IntPoint;

/// Positions, the first of which is not the last one again.
pub(crate) type Ring = Vec<IntPoint>;

/// Polygons, each the ring around it and then its holes, of one that the overlay made.
pub(crate) fn untouched(polygon: Vec<Ring>) -> Vec<Vec<Ring>> {
    let (mut polygons, mut holes) = (Vec::new(), Vec::new());
    for ring in polygon {
        for ring in loops(ring).into_iter().map(straightened_ring) {
            let area = area(&ring);
            if area > 0.0 {
                polygons.push((area, vec![ring]));
            } else if area < 0.0 {
                holes.push(ring);
            }
        }
    }
    // The smallest that holds a hole is the one that it is in.
    polygons.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    for hole in holes {
        let is_around = |(_, rings): &(f64, Vec<Ring>)| contains(&rings[0], &hole);
        let at = polygons.iter().position(is_around);
        if let Some((_, rings)) = at.and_then(|at| polygons.get_mut(at)) {
            rings.push(hole);
        }
    }
    polygons.into_iter().map(|(_, rings)| rings).collect()
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

/// Returns whether a ring is around another, which does not cross it.
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
