//! Lines with fewer vertices, in which a border that two geometries share stays shared: vertices
//! where lines meet stay. What stays of an arc between two of these depends on its vertices alone,
//! not on the direction in which a geometry has them, so that both sides of a border keep the same.

use std::cmp::Ordering;

pub use junctions::Junctions;

mod junctions;

/// A vertex, with whatever its owner knows of it.
pub trait Vertex: Copy {
    /// Its coordinates; no -0, which would be another place than 0.
    fn position(&self) -> [f64; 2];
}

impl Vertex for [i32; 2] {
    fn position(&self) -> [f64; 2] {
        self.map(f64::from)
    }
}

/// Returns the vertices that stay of a line, no farther from it than the tolerance: two at least.
#[must_use]
pub fn simplified_line<V: Vertex>(line: &[V], junctions: &Junctions, tolerance: f64) -> Vec<V> {
    let mut kept: Vec<V> = line.first().copied().into_iter().collect();
    let mut start = 0;
    for end in 1..line.len() {
        if end + 1 == line.len() || junctions.contains(&line[end]) {
            kept.extend(simplified(&line[start..=end], tolerance).into_iter().skip(1));
            start = end;
        }
    }
    kept
}

/// Returns the vertices that stay of a ring, whose last one is its first again; `None` where it has
/// become a line.
#[must_use]
pub fn simplified_ring<V: Vertex>(
    ring: &[V],
    junctions: &Junctions,
    tolerance: f64,
) -> Option<Vec<V>> {
    let (_, open) = ring.split_last()?;
    // A ring that touches no other begins where the other side of its border would begin, too.
    let least = || (0..open.len()).min_by(|one, other| compare(&open[*one], &open[*other]));
    let start = open.iter().position(|vertex| junctions.contains(vertex)).or_else(least)?;
    let mut turned = [&open[start..], &open[..=start]].concat();
    turned = simplified_line(&turned, junctions, tolerance);
    Some(turned).filter(|ring| ring.len() > 3)
}

/// Vertices that stay of an arc, its ends included. Of one that ends where it begins three stay, so
/// that no island becomes a line.
fn simplified<V: Vertex>(arc: &[V], tolerance: f64) -> Vec<V> {
    let last = arc.len() - 1;
    let mut stays = vec![false; arc.len()];
    (stays[0], stays[last]) = (true, true);
    if compare(&arc[0], &arc[last]).is_eq() {
        let far = farthest(arc, 1..last, |vertex| distance(vertex, &arc[0], &arc[0]));
        if let Some((far, _)) = far {
            stays[far] = true;
            mark(arc, 0, far, tolerance, &mut stays);
            mark(arc, far, last, tolerance, &mut stays);
            if stays.iter().filter(|stays| **stays).count() == 3 {
                let chord = |vertex: &V| distance(vertex, &arc[0], &arc[far]);
                let third = farthest(arc, (1..last).filter(|at| *at != far), chord);
                third.into_iter().for_each(|(third, _)| stays[third] = true);
            }
        }
    } else {
        mark(arc, 0, last, tolerance, &mut stays);
    }
    arc.iter().zip(stays).filter_map(|(vertex, stays)| stays.then_some(*vertex)).collect()
}

/// Marks the vertices that stay between two vertices (Douglas and Peucker, 1973).
fn mark<V: Vertex>(arc: &[V], first: usize, last: usize, tolerance: f64, stays: &mut [bool]) {
    let mut open = vec![(first, last)];
    while let Some((first, last)) = open.pop() {
        // In this order whatever the direction, so that distances have the same bits.
        let (from, to) = match compare(&arc[first], &arc[last]).is_le() {
            true => (&arc[first], &arc[last]),
            false => (&arc[last], &arc[first]),
        };
        let found = farthest(arc, first + 1..last, |vertex| distance(vertex, from, to));
        if let Some((far, _)) = found.filter(|(_, distance)| *distance > tolerance) {
            stays[far] = true;
            open.extend([(first, far), (far, last)]);
        }
    }
}

/// The vertex with the greatest distance; of several the least one.
fn farthest<V: Vertex>(
    arc: &[V],
    among: impl Iterator<Item = usize>,
    distance: impl Fn(&V) -> f64,
) -> Option<(usize, f64)> {
    among.map(|at| (at, distance(&arc[at]))).max_by(|(one, near), (other, far)| {
        near.total_cmp(far).then_with(|| compare(&arc[*other], &arc[*one]))
    })
}

/// Compares by the first coordinate, then by the second.
fn compare<V: Vertex>(one: &V, other: &V) -> Ordering {
    let (one, other) = (one.position(), other.position());
    one[0].total_cmp(&other[0]).then(one[1].total_cmp(&other[1]))
}

/// Distance of a vertex to the line between two others.
fn distance<V: Vertex>(vertex: &V, from: &V, to: &V) -> f64 {
    let ([x, y], from, to) = (vertex.position(), from.position(), to.position());
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let length = dx * dx + dy * dy;
    let along = ((x - from[0]) * dx + (y - from[1]) * dy) / length;
    // Of two vertices in one place the distance to either.
    let along = if length > 0.0 { along.clamp(0.0, 1.0) } else { 0.0 };
    let (x, y) = (x - (from[0] + along * dx), y - (from[1] + along * dy));
    (x * x + y * y).sqrt()
}
