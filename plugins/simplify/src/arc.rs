//! Lines between the vertices that stay. What stays of such an arc depends on its vertices alone,
//! not on the direction in which a row has them, so that both sides of a border keep the same.

use crate::junctions::Junctions;
use crate::shape::Vertex;

/// Vertices that stay of a line: two at least.
pub(crate) fn line<'a>(
    line: &[Vertex<'a>],
    junctions: &Junctions,
    tolerance: f64,
) -> Vec<Vertex<'a>> {
    let mut kept: Vec<Vertex<'a>> = line.first().copied().into_iter().collect();
    let mut start = 0;
    for end in 1..line.len() {
        if end + 1 == line.len() || junctions.contains(line[end].place()) {
            kept.extend(simplified(&line[start..=end], tolerance).into_iter().skip(1));
            start = end;
        }
    }
    kept
}

/// Vertices that stay of a ring; `None` where it has become a line.
pub(crate) fn ring<'a>(
    ring: &[Vertex<'a>],
    junctions: &Junctions,
    tolerance: f64,
) -> Option<Vec<Vertex<'a>>> {
    let (_, open) = ring.split_last()?;
    let is_junction = |vertex: &Vertex<'_>| junctions.contains(vertex.place());
    // A ring that touches no other begins where the other side of its border would begin, too.
    let least = || (0..open.len()).min_by(|one, other| open[*one].compare(&open[*other]));
    let start = open.iter().position(is_junction).or_else(least)?;
    let mut turned = [&open[start..], &open[..=start]].concat();
    turned = line(&turned, junctions, tolerance);
    Some(turned).filter(|ring| ring.len() > 3)
}

/// Vertices that stay of an arc, its ends included. Of one that ends where it begins three stay, so
/// that no island becomes a line.
fn simplified<'a>(arc: &[Vertex<'a>], tolerance: f64) -> Vec<Vertex<'a>> {
    let last = arc.len() - 1;
    let mut stays = vec![false; arc.len()];
    (stays[0], stays[last]) = (true, true);
    if arc[0].place() == arc[last].place() {
        let far = farthest(arc, 1..last, |vertex| vertex.distance_to(&arc[0], &arc[0]));
        if let Some((far, _)) = far {
            stays[far] = true;
            mark(arc, 0, far, tolerance, &mut stays);
            mark(arc, far, last, tolerance, &mut stays);
            if stays.iter().filter(|stays| **stays).count() == 3 {
                let chord = |vertex: &Vertex<'_>| vertex.distance_to(&arc[0], &arc[far]);
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
fn mark(arc: &[Vertex<'_>], first: usize, last: usize, tolerance: f64, stays: &mut [bool]) {
    let mut open = vec![(first, last)];
    while let Some((first, last)) = open.pop() {
        // In this order whatever the direction, so that distances have the same bits.
        let (from, to) = match arc[first].compare(&arc[last]).is_le() {
            true => (&arc[first], &arc[last]),
            false => (&arc[last], &arc[first]),
        };
        let found = farthest(arc, first + 1..last, |vertex| vertex.distance_to(from, to));
        if let Some((far, _)) = found.filter(|(_, distance)| *distance > tolerance) {
            stays[far] = true;
            open.extend([(first, far), (far, last)]);
        }
    }
}

/// The vertex with the greatest distance; of several the least one.
fn farthest(
    arc: &[Vertex<'_>],
    among: impl Iterator<Item = usize>,
    distance: impl Fn(&Vertex<'_>) -> f64,
) -> Option<(usize, f64)> {
    among.map(|at| (at, distance(&arc[at]))).max_by(|(one, near), (other, far)| {
        near.total_cmp(far).then_with(|| arc[*other].compare(&arc[*one]))
    })
}
