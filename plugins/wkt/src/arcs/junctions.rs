//! Vertices where lines meet or end.

use std::collections::HashMap;

use super::Vertex;

/// A position, by its bits.
type Place = [u64; 2];

/// Vertices of all geometry, with what tells whether they have to stay.
#[derive(Debug, Default)]
pub struct Junctions(HashMap<Place, Neighbours>);

#[derive(Debug, Clone, Copy)]
enum Neighbours {
    /// Positions of the two vertices beside it, the smaller one first.
    Two([u64; 2]),
    /// Others in another line, or the end of a line.
    Junction,
}

impl Junctions {
    /// Adds a line; the last vertex of a ring is its first one again.
    pub fn add<V: Vertex>(&mut self, line: &[V], is_ring: bool) {
        let places: Vec<Place> = line.iter().map(place).collect();
        let count = if is_ring { places.len().saturating_sub(1) } else { places.len() };
        for at in 0..count {
            let neighbours = match (at.checked_sub(1), is_ring) {
                (None, false) => Neighbours::Junction,
                (_, false) if at + 1 == count => Neighbours::Junction,
                (before, _) => {
                    let before = places[before.unwrap_or(count - 1)];
                    Neighbours::from_places(before, places[(at + 1) % count])
                }
            };
            self.0
                .entry(places[at])
                .and_modify(|known| *known = known.and(neighbours))
                .or_insert(neighbours);
        }
    }

    /// Returns whether a vertex has to stay.
    #[must_use]
    pub fn contains<V: Vertex>(&self, vertex: &V) -> bool {
        matches!(self.0.get(&place(vertex)), Some(Neighbours::Junction))
    }
}

impl Neighbours {
    fn from_places(one: Place, other: Place) -> Self {
        let (one, other) = (digest(one), digest(other));
        Self::Two([one.min(other), one.max(other)])
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Two(one), Self::Two(other)) if one == other => self,
            _ => Self::Junction,
        }
    }
}

fn place<V: Vertex>(vertex: &V) -> Place {
    vertex.position().map(f64::to_bits)
}

/// A number for a position, so that a vertex takes less memory: two that differ have the same one
/// once in 2^64. SplitMix64 over both coordinates.
fn digest([x, y]: Place) -> u64 {
    let mix = |value: u64| {
        let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    };
    mix(mix(x).wrapping_add(y))
}
