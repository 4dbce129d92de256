//! Random polygons that an independent library holds valid, cut: the parts are valid, have the same
//! area and hold the same positions. Cases are few, and the same in each run.

use geo::Intersects as _;

use super::*;

const CASES: u64 = 2_000;

/// Numbers that are the same in each run (Marsaglia's xorshift).
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    fn between(&mut self, least: f64, most: f64) -> f64 {
        let share = self.below(1 << 40) as f64 / (1_u64 << 40) as f64;
        least + share * (most - least)
    }
}

/// A ring around a centre, with positions on a grid or between its lines.
fn ring(dice: &mut Dice, [x, y]: Position, radius: f64, grid: Option<f64>) -> Vec<Position> {
    let mut angles: Vec<f64> =
        (0..3 + dice.below(8)).map(|_| dice.between(0.0, std::f64::consts::TAU)).collect();
    angles.sort_by(f64::total_cmp);
    let mut ring: Vec<Position> = angles
        .into_iter()
        .map(|angle| {
            let away = radius * dice.between(0.2, 1.0);
            let position = [x + away * angle.cos(), (y + away * angle.sin()).clamp(-90.0, 90.0)];
            position.map(|at| grid.map_or(at, |grid| (at / grid).round() * grid))
        })
        .collect();
    ring.push(ring[0]);
    if dice.below(2) == 0 {
        ring.reverse();
    }
    ring
}

/// A valid polygon that may cross 180 degrees; `None` where the dice make another.
fn polygon(dice: &mut Dice) -> Option<Polygon> {
    let border = if dice.below(2) == 0 { 180.0 } else { -180.0 };
    let radius = dice.between(3.0, 60.0);
    let grid = [None, Some(1.0), Some(5.0), Some(0.1)][usize::try_from(dice.below(4)).unwrap()];
    let centre = |dice: &mut Dice, radius: f64| {
        [border + dice.between(-radius, radius), dice.between(-radius, radius)]
    };
    let outer = match dice.below(6) {
        // A box with sides on the grid.
        0 => {
            let [west, south] = centre(dice, radius).map(f64::round);
            let [width, height] = [0, 1].map(|_| 1.0 + dice.between(0.0, radius).round());
            square(west, south, west + width, (south + height).min(90.0))
        }
        // Around a pole, one turn wide.
        1 => {
            let pole = if dice.below(2) == 0 { 90.0 } else { -90.0 };
            let west = [-360.0, 0.0, -180.0, -90.0][usize::try_from(dice.below(4)).unwrap()];
            let first = dice.between(-60.0, 60.0).round();
            let mut ring = vec![[west, first]];
            for step in 1..=u32::try_from(dice.below(6)).unwrap() {
                ring.push([west + f64::from(step) * 60.0, dice.between(-80.0, 80.0).round()]);
            }
            ring.extend([[west + 360.0, first], [west + 360.0, pole], [west, pole], [west, first]]);
            ring
        }
        _ => {
            let centre = centre(dice, radius);
            ring(dice, centre, radius, grid)
        }
    };
    let mut polygon = vec![outer];
    // The library holds flat rings valid.
    let is_valid = |polygon: &Polygon| {
        let has_area =
            |ring: &Vec<Position>| geo_polygon(&vec![ring.clone()]).unsigned_area() > 0.0;
        polygon.iter().all(has_area) && geo_polygon(polygon).is_valid()
    };
    if !is_valid(&polygon) {
        return None;
    }
    for _ in 0..dice.below(20) {
        let (centre, size) = (centre(dice, radius), dice.between(0.5, 0.6 * radius));
        let hole = if dice.below(3) == 0 {
            let [west, south] = centre.map(f64::round);
            square(west, south, west + size.round(), south + size.round())
        } else {
            ring(dice, centre, size, grid)
        };
        polygon.push(hole);
        if !is_valid(&polygon) {
            polygon.pop();
        }
    }
    Some(polygon)
}

/// Checks what a polygon was cut into against the polygon.
fn compare_parts(dice: &mut Dice, polygon: &Polygon, parts: &[Polygon]) {
    let (before, after) = (geo_polygon(polygon), geo_parts(parts));
    let (area, expected) = (checked_area(parts), before.unsigned_area());
    assert!((area - expected).abs() < 1e-9 * expected, "{area} for {expected}: {polygon:?}");
    for _ in 0..40 {
        let at = [dice.between(-180.0, 180.0), dice.between(-90.0, 90.0)];
        // Near to it half of the time.
        let corner = polygon[0][usize::try_from(dice.below(polygon[0].len() as u64)).unwrap()];
        let near = wrap_position([0, 1].map(|axis| corner[axis] + dice.between(-9.0, 9.0)));
        for [x, y] in [at, near] {
            let turns = [-720.0, -360.0, 0.0, 360.0, 720.0];
            let was = turns.iter().any(|turn| before.intersects(&geo::Point::new(x + turn, y)));
            assert_eq!(after.intersects(&geo::Point::new(x, y)), was, "{x} {y}: {polygon:?}");
        }
    }
    // Positions stay as they are written, but for whole turns.
    let kept: Vec<Position> = parts.iter().flatten().flatten().copied().collect();
    for position in polygon.iter().flatten() {
        let [x, y] = wrap_position(*position);
        let is_kept = kept.iter().any(|[kept, latitude]| {
            *latitude == y && (*kept == x || (x.abs() == HALF && *kept == -x))
        });
        assert!(is_kept || x.abs() == HALF || is_seam(x), "{position:?}: {parts:?}");
    }
}

/// Rings around a pole lose positions of their seam where both sides of it are inside.
fn is_seam(longitude: f64) -> bool {
    [0.0, -90.0].contains(&longitude)
}

#[test]
fn random_polygons_are_cut_into_valid_parts_of_the_same_area_contract_7() {
    let (mut cut, mut with_holes) = (0, 0);
    for seed in 0..CASES {
        let mut dice = Dice::new(seed);
        let Some(polygon) = polygon(&mut dice) else { continue };
        let parts = cut_polygon(polygon.clone(), false)
            .unwrap_or_else(|why| panic!("seed {seed}: {why}: {polygon:?}"));
        if parts == [polygon.clone()] {
            continue;
        }
        compare_parts(&mut dice, &polygon, &parts);
        cut += 1;
        with_holes += usize::from(polygon.len() > 1);
        let wide =
            polygon.iter().any(|ring| ring.windows(2).any(|e| (e[0][0] - e[1][0]).abs() >= HALF));
        if wide {
            continue;
        }
        // The same without what is beyond 180 degrees.
        let wrapped: Polygon = polygon
            .iter()
            .map(|ring| ring.iter().map(|position| wrap_position(*position)).collect())
            .collect();
        let parts = cut_polygon(wrapped.clone(), true)
            .unwrap_or_else(|why| panic!("seed {seed}: {why}: {wrapped:?}"));
        compare_parts(&mut dice, &polygon, &parts);
    }
    assert!(cut > 1_000 && with_holes > 250, "{cut} cut, {with_holes} with holes");
}

#[test]
fn random_rings_are_cut_into_valid_parts_or_refused_contract_7() {
    let (mut cut, mut refused) = (0, 0);
    for seed in 0..CASES {
        let mut dice = Dice::new(seed);
        let mut polygon = Polygon::new();
        for _ in 0..=dice.below(2) {
            let mut ring: Vec<Position> = (0..3 + dice.below(4))
                .map(|_| [170.0 + dice.between(0.0, 20.0).round(), dice.between(-9.0, 9.0).round()])
                .collect();
            ring.push(ring[0]);
            polygon.push(ring);
        }
        match cut_polygon(polygon.clone(), false) {
            Ok(parts) if parts != [polygon.clone()] && parts.len() > 1 => {
                checked_area(&parts);
                cut += 1;
            }
            Ok(_) => {}
            Err(_) => refused += 1,
        }
    }
    assert!(cut > 300 && refused > 300, "{cut} cut, {refused} refused");
}
