//! Geometries that go beyond 180 degrees, cut along the antimeridian (RFC 7946, section 3.1.9) and
//! moved back into -180..180. Nothing else of a geometry changes; one within that range comes back
//! as it was.

use crate::geometry::Position;

/// Degrees around the earth.
const AROUND: f64 = 360.0;

/// The antimeridian.
const HALF: f64 = 180.0;

/// A position with its longitude in range.
pub(crate) fn wrap_position([longitude, latitude]: Position) -> Position {
    [longitude - AROUND * turns(longitude), latitude]
}

/// Times that a longitude goes around: 0 within -180..180.
fn turns(longitude: f64) -> f64 {
    if longitude.abs() <= HALF { 0.0 } else { ((longitude + HALF) / AROUND).floor() }
}

/// The parts of a line.
pub(crate) fn cut_line(mut line: Vec<Position>, short_way: bool) -> Vec<Vec<Position>> {
    if short_way {
        take_short_way(&mut line);
    }
    if is_inside(&line) {
        return vec![line];
    }
    let mut parts = vec![line];
    for border in borders(parts.iter().flatten()) {
        parts = parts.into_iter().flat_map(|part| cut_line_at(part, border)).collect();
    }
    for part in &mut parts {
        move_inside(part);
    }
    parts
}

/// The parts of a polygon: outer ring and holes each.
pub(crate) fn cut_polygon(
    mut polygon: Vec<Vec<Position>>,
    short_way: bool,
) -> Vec<Vec<Vec<Position>>> {
    if short_way {
        for ring in &mut polygon {
            take_short_way(ring);
        }
        align_holes(&mut polygon);
    }
    if polygon.iter().all(|ring| is_inside(ring)) {
        return vec![polygon];
    }
    orient(&mut polygon);
    let mut parts = vec![polygon];
    for border in borders(parts.iter().flatten().flatten()) {
        parts = parts.into_iter().flat_map(|part| cut_polygon_at(&part, border)).collect();
    }
    for ring in parts.iter_mut().flatten() {
        move_inside(ring);
    }
    parts
}

fn is_inside(line: &[Position]) -> bool {
    line.iter().all(|[longitude, _]| longitude.abs() <= HALF)
}

/// Makes an edge of more than 180 degrees go the other way around, so that longitudes go on beyond
/// 180. One of a whole turn stays: it runs along a pole.
fn take_short_way(line: &mut [Position]) {
    let mut offset = 0.0;
    let mut before: Option<f64> = None;
    for [longitude, _] in line {
        let own = *longitude;
        if let Some(before) = before {
            let step = own - before;
            if step.abs() > HALF && step.abs() < AROUND {
                offset -= AROUND * step.signum();
            }
        }
        before = Some(own);
        *longitude += offset;
    }
}

/// Moves holes to the turn of the outer ring that they lie in.
fn align_holes(polygon: &mut [Vec<Position>]) {
    let Some((outer, holes)) = polygon.split_first_mut() else { return };
    for hole in holes {
        for shift in [0.0, AROUND, -AROUND] {
            let inside =
                |[longitude, latitude]: &Position| contains(outer, [longitude + shift, *latitude]);
            if hole.iter().any(inside) {
                hole.iter_mut().for_each(|[longitude, _]| *longitude += shift);
                break;
            }
        }
    }
}

/// Multiples of the antimeridian that lie within the positions.
fn borders<'a>(positions: impl Iterator<Item = &'a Position>) -> Vec<f64> {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for [longitude, _] in positions {
        least = least.min(*longitude);
        most = most.max(*longitude);
    }
    // Positions lie within 540 degrees.
    [-540.0, -180.0, 180.0, 540.0].into_iter().filter(|at| least < *at && *at < most).collect()
}

/// Moves a part that no border crosses.
fn move_inside(line: &mut [Position]) {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for [longitude, _] in line.iter() {
        least = least.min(*longitude);
        most = most.max(*longitude);
    }
    let middle = f64::midpoint(least, most);
    let shift = AROUND * turns(middle);
    for [longitude, _] in line {
        *longitude = (*longitude - shift).clamp(-HALF, HALF);
    }
}

/// The position at which an edge crosses a border.
fn crossing([x1, y1]: Position, [x2, y2]: Position, border: f64) -> Position {
    let share = ((border - x1) / (x2 - x1)).clamp(0.0, 1.0);
    [border, y1 + share * (y2 - y1)]
}

fn cut_line_at(line: Vec<Position>, border: f64) -> Vec<Vec<Position>> {
    let mut parts: Vec<Vec<Position>> = Vec::new();
    let mut part: Vec<Position> = Vec::new();
    for position in line {
        if let Some(before) = part.last().copied()
            && (before[0] - border) * (position[0] - border) < 0.0
        {
            let at = crossing(before, position, border);
            part.push(at);
            parts.push(std::mem::replace(&mut part, vec![at]));
        } else if let [.., first, last] = part[..]
            && last[0] == border
            && (first[0] - border) * (position[0] - border) < 0.0
        {
            // It goes through the border at a position of its own.
            parts.push(std::mem::replace(&mut part, vec![last]));
        }
        part.push(position);
    }
    parts.push(part);
    parts.retain(|part| part.len() > 1);
    parts
}

/// The parts of a polygon on either side of a border.
fn cut_polygon_at(polygon: &[Vec<Position>], border: f64) -> Vec<Vec<Vec<Position>>> {
    let mut parts = side_of(polygon, border, false);
    parts.extend(side_of(polygon, border, true));
    parts
}

/// The parts of a polygon on one side of a border. Outer rings run against the clock and holes with
/// it, so that the polygon lies on the left of every edge. The edges on the side are chains that
/// begin and end at the border; along the border the polygon's inside connects their ends in pairs.
fn side_of(polygon: &[Vec<Position>], border: f64, right: bool) -> Vec<Vec<Vec<Position>>> {
    // The mirror image of the right side is cut as a left side is.
    let flip = |[x, y]: Position| if right { [2.0 * border - x, y] } else { [x, y] };
    let inside = |position: Position| flip(position)[0] <= border;
    let (mut whole, mut chains) = (Vec::new(), Vec::new());
    for ring in polygon {
        let edges = &ring[..ring.len() - 1];
        match edges.iter().position(|position| !inside(*position)) {
            None => whole.push(ring.clone()),
            Some(outside) => add_chains(edges, outside, border, inside, &mut chains),
        }
    }
    // A chain that runs along the border alone has no area.
    chains.retain(|chain: &Vec<Position>| chain.iter().any(|[x, _]| *x != border));
    let mut outers: Vec<Vec<Vec<Position>>> =
        connect(chains).into_iter().map(|r| vec![r]).collect();
    let mut holes = Vec::new();
    for ring in whole {
        if area(&ring) >= 0.0 {
            outers.push(vec![ring]);
        } else {
            holes.push(ring);
        }
    }
    for hole in holes {
        let home = outers
            .iter_mut()
            .find(|outer| hole.iter().any(|position| contains(&outer[0], *position)));
        if let Some(outer) = home {
            outer.push(hole);
        }
    }
    outers
}

/// Adds the runs of positions of a ring that lie inside, from crossing to crossing.
fn add_chains(
    edges: &[Position],
    outside: usize,
    border: f64,
    inside: impl Fn(Position) -> bool,
    chains: &mut Vec<Vec<Position>>,
) {
    let count = edges.len();
    let mut chain: Vec<Position> = Vec::new();
    let mut before = edges[outside];
    for step in 1..=count {
        let position = edges[(outside + step) % count];
        match (inside(before), inside(position)) {
            (false, true) => chain = vec![crossing(before, position, border), position],
            (true, true) => chain.push(position),
            (true, false) => {
                chain.push(crossing(before, position, border));
                chains.push(std::mem::take(&mut chain));
            }
            (false, false) => {}
        }
        before = position;
    }
}

/// Connects chains along the border to rings: of all their ends in the order of latitudes, each two
/// neighbours belong together.
fn connect(mut chains: Vec<Vec<Position>>) -> Vec<Vec<Position>> {
    let mut ends: Vec<(f64, usize, bool)> = Vec::new();
    for (at, chain) in chains.iter().enumerate() {
        if let (Some(first), Some(last)) = (chain.first(), chain.last()) {
            ends.push((first[1], at, true));
            ends.push((last[1], at, false));
        }
    }
    ends.sort_by(|one, other| one.0.total_cmp(&other.0));
    // The chain whose beginning follows the end of each chain.
    let mut follower: Vec<Option<usize>> = vec![None; chains.len()];
    for pair in ends.chunks(2) {
        match pair {
            [(_, one, true), (_, other, false)] => follower[*other] = Some(*one),
            [(_, one, false), (_, other, true)] => follower[*one] = Some(*other),
            // Rings that cross themselves: each closes its own.
            _ => {}
        }
    }
    let mut rings = Vec::new();
    for start in 0..chains.len() {
        let mut ring: Vec<Position> = Vec::new();
        let mut at = start;
        while !chains[at].is_empty() {
            ring.extend(std::mem::take(&mut chains[at]));
            at = follower[at].unwrap_or(start);
        }
        ring.dedup();
        if let Some(first) = ring.first().copied() {
            if ring.last() != Some(&first) {
                ring.push(first);
            }
            if ring.len() >= 4 && area(&ring) != 0.0 {
                rings.push(ring);
            }
        }
    }
    rings
}

/// Makes the outer ring run against the clock and holes with it.
fn orient(polygon: &mut [Vec<Position>]) {
    for (at, ring) in polygon.iter_mut().enumerate() {
        if (area(ring) >= 0.0) != (at == 0) {
            ring.reverse();
        }
    }
}

/// Twice the signed area of a ring: positive against the clock.
fn area(ring: &[Position]) -> f64 {
    ring.windows(2).map(|edge| edge[0][0] * edge[1][1] - edge[1][0] * edge[0][1]).sum()
}

/// Returns whether a position lies in a ring.
fn contains(ring: &[Position], [x, y]: Position) -> bool {
    let mut inside = false;
    for edge in ring.windows(2) {
        let ([x1, y1], [x2, y2]) = (edge[0], edge[1]);
        if (y1 > y) != (y2 > y) && x < x1 + (y - y1) / (y2 - y1) * (x2 - x1) {
            inside = !inside;
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(west: f64, south: f64, east: f64, north: f64) -> Vec<Position> {
        vec![[west, south], [east, south], [east, north], [west, north], [west, south]]
    }

    fn total_area(parts: &[Vec<Vec<Position>>]) -> f64 {
        parts
            .iter()
            .map(|part| {
                let holes: f64 = part[1..].iter().map(|hole| area(hole).abs()).sum();
                area(&part[0]).abs() - holes
            })
            .sum::<f64>()
            / 2.0
    }

    fn check(polygon: Vec<Vec<Position>>, short_way: bool, expected: usize, expected_area: f64) {
        let parts = cut_polygon(polygon, short_way);
        assert_eq!(parts.len(), expected, "{parts:?}");
        assert!((total_area(&parts) - expected_area).abs() < 1e-9, "{parts:?}");
        for ring in parts.iter().flatten() {
            assert!(is_inside(ring) && ring.len() >= 4 && ring.first() == ring.last(), "{ring:?}");
        }
    }

    #[test]
    fn a_polygon_within_range_comes_back_as_it_was() {
        let mut clockwise = square(-180.0, -90.0, 180.0, 90.0);
        clockwise.reverse();
        let polygon = vec![clockwise, square(0.0, 0.0, 1.0, 1.0)];
        assert_eq!(cut_polygon(polygon.clone(), false), [polygon]);
    }

    #[test]
    fn a_polygon_beyond_180_degrees_is_cut_and_keeps_its_area() {
        check(vec![square(170.0, -10.0, 190.0, 10.0)], false, 2, 400.0);
        check(vec![square(-190.0, -10.0, -170.0, 10.0)], false, 2, 400.0);
        check(vec![square(185.0, 0.0, 190.0, 10.0)], false, 1, 50.0);
        let mut clockwise = square(170.0, -10.0, 190.0, 10.0);
        clockwise.reverse();
        check(vec![clockwise], false, 2, 400.0);
    }

    #[test]
    fn holes_are_cut_with_their_polygon_or_go_to_the_part_around_them() {
        let outer = square(170.0, -10.0, 190.0, 10.0);
        // Across the cut, to its left, to its right.
        check(vec![outer.clone(), square(178.0, -2.0, 182.0, 2.0)], false, 2, 384.0);
        let holes = [square(172.0, 0.0, 174.0, 2.0), square(185.0, 0.0, 187.0, 2.0)];
        let polygon = [vec![outer], holes.to_vec()].concat();
        let parts = cut_polygon(polygon.clone(), false);
        assert!(parts.iter().all(|part| part.len() == 2), "{parts:?}");
        check(polygon, false, 2, 392.0);
    }

    #[test]
    fn a_polygon_like_a_comb_falls_into_several_parts() {
        let comb = vec![
            [175.0, 0.0],
            [185.0, 0.0],
            [185.0, 1.0],
            [177.0, 1.0],
            [177.0, 2.0],
            [185.0, 2.0],
            [185.0, 3.0],
            [175.0, 3.0],
            [175.0, 0.0],
        ];
        check(vec![comb], false, 3, 22.0);
    }

    #[test]
    fn the_short_way_is_taken_where_it_is_asked_for() {
        let fiji = vec![square(177.0, -19.0, -179.0, -16.0)];
        check(fiji.clone(), true, 2, 12.0);
        assert_eq!(cut_polygon(fiji.clone(), false), [fiji], "an edge is meant as it stands");
        let whole = vec![square(-180.0, -90.0, 180.0, -60.0)];
        check(whole, true, 1, 10_800.0);
        let hole = square(-179.9, -18.0, -179.5, -17.0);
        check(vec![square(177.0, -19.0, -179.0, -16.0), hole], true, 2, 11.6);
    }

    #[test]
    fn lines_and_points_are_cut_and_moved() {
        let line = vec![[170.0, 0.0], [190.0, 10.0]];
        let parts = cut_line(line, false);
        assert_eq!(parts, [[[170.0, 0.0], [180.0, 5.0]], [[-180.0, 5.0], [-170.0, 10.0]]]);
        let through = vec![[170.0, 0.0], [180.0, 1.0], [190.0, 0.0]];
        assert_eq!(cut_line(through, false).len(), 2);
        assert_eq!(wrap_position([190.0, 1.0]), [-170.0, 1.0]);
        assert_eq!(wrap_position([-180.0, 1.0]), [-180.0, 1.0]);
    }
}
