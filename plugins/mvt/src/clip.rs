//! Lines and rings within a box, in degrees. Where an edge meets a side of the box depends on the
//! edge alone, not on its direction, so that both sides of a border are cut at the same place.

/// Longitude and latitude.
pub(crate) type Degrees = [f64; 2];

/// A box.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// West and south.
    pub(crate) least: Degrees,
    /// East and north.
    pub(crate) most: Degrees,
}

impl Bounds {
    /// The box around a path; one that nothing touches around none.
    pub(crate) fn around(path: &[Degrees]) -> Self {
        let none = Self { least: [f64::INFINITY; 2], most: [f64::NEG_INFINITY; 2] };
        path.iter().fold(none, |Self { least, most }, at| Self {
            least: [least[0].min(at[0]), least[1].min(at[1])],
            most: [most[0].max(at[0]), most[1].max(at[1])],
        })
    }

    pub(crate) fn touches(&self, other: &Self) -> bool {
        (0..2).all(|axis| {
            self.least[axis] <= other.most[axis] && other.least[axis] <= self.most[axis]
        })
    }

    /// The parts of a line that lie in the box.
    pub(crate) fn clip_line(&self, line: Vec<Degrees>) -> Vec<Vec<Degrees>> {
        self.sides(&line).fold(vec![line], |lines, side| {
            let mut parts = Vec::new();
            lines.iter().for_each(|line| side.clip_line(line, &mut parts));
            parts
        })
    }

    /// The part of a ring that lies in the box (Sutherland and Hodgman, 1974): one ring, which runs
    /// along the sides of the box between parts that do not touch.
    pub(crate) fn clip_ring(&self, ring: Vec<Degrees>) -> Vec<Degrees> {
        self.sides(&ring).fold(ring, |ring, side| side.clip_ring(&ring))
    }

    /// The sides beyond which a path goes.
    fn sides(&self, path: &[Degrees]) -> impl Iterator<Item = Side> + use<> {
        let around = Self::around(path);
        let beyond = |axis: usize| {
            let (least, most) = (self.least[axis], self.most[axis]);
            let low = Side { axis, limit: least, sign: -1.0 };
            let high = Side { axis, limit: most, sign: 1.0 };
            [
                (around.least[axis] < least).then_some(low),
                (around.most[axis] > most).then_some(high),
            ]
        };
        [beyond(0), beyond(1)].into_iter().flatten().flatten()
    }
}

/// A side of a box, endless.
#[derive(Debug, Clone, Copy)]
struct Side {
    axis: usize,
    limit: f64,
    /// 1 where the box lies below the limit, -1 where it lies above.
    sign: f64,
}

impl Side {
    fn contains(&self, at: &Degrees) -> bool {
        (at[self.axis] - self.limit) * self.sign <= 0.0
    }

    /// Place where an edge meets the side, one of whose ends lies beyond.
    fn crossing(&self, one: &Degrees, other: &Degrees) -> Degrees {
        let (from, to) =
            if one[self.axis] < other[self.axis] { (one, other) } else { (other, one) };
        let part = (self.limit - from[self.axis]) / (to[self.axis] - from[self.axis]);
        let mut at = [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * part);
        at[self.axis] = self.limit;
        at
    }

    fn clip_ring(&self, ring: &[Degrees]) -> Vec<Degrees> {
        let mut kept = Vec::with_capacity(ring.len() + 4);
        let Some(mut before) = ring.last() else { return kept };
        for at in ring {
            if self.contains(before) != self.contains(at) {
                kept.push(self.crossing(before, at));
            }
            if self.contains(at) {
                kept.push(*at);
            }
            before = at;
        }
        kept
    }

    fn clip_line(&self, line: &[Degrees], parts: &mut Vec<Vec<Degrees>>) {
        let (mut part, mut before) = (Vec::new(), None::<&Degrees>);
        for at in line {
            let crosses = |before: &&Degrees| self.contains(before) != self.contains(at);
            part.extend(before.filter(crosses).map(|before| self.crossing(before, at)));
            if self.contains(at) {
                part.push(*at);
            } else if !part.is_empty() {
                parts.push(std::mem::take(&mut part));
            }
            before = Some(at);
        }
        if !part.is_empty() {
            parts.push(part);
        }
    }
}
