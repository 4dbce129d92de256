//! The layer of a tile: features with their properties, as many of the largest as fit (decision
//! 0481).

use std::cmp::Ordering;

use crate::shape::Drawing;
use crate::tile::EXTENT;
use crate::values::ValuePool;
use crate::wire::{bytes_field, number, number_field};

/// Bytes of a tile at most.
pub(crate) const MOST_BYTES: usize = 500_000;
/// Bytes around the features: name and field of the layer.
const FRAME: usize = 1_000;
/// Bytes of features that are held at most before those that cannot stay are dropped.
const MOST_HELD: usize = 4 * MOST_BYTES;

/// A feature.
#[derive(Debug)]
struct Feature {
    rank: Rank,
    id: Option<u64>,
    /// Numbers of key and value.
    tags: Vec<(usize, usize)>,
    drawing: Drawing,
}

/// Place of a feature among those that are to be kept: the largest first. Of those of a size, such
/// as points, any are as good as others, so a number that depends on the row alone decides: what is
/// left is spread over the tile as all are.
#[derive(Debug, Clone, Copy)]
struct Rank {
    size: f64,
    row: u64,
    kind: u8,
}

impl Rank {
    fn compare(&self, other: &Self) -> Ordering {
        let order = |rank: &Self| (scatter(rank.row), rank.row, rank.kind);
        other.size.total_cmp(&self.size).then_with(|| order(self).cmp(&order(other)))
    }
}

/// A number without a pattern (SplitMix64).
fn scatter(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

impl Feature {
    /// Bytes that it has at least, without its values.
    fn least_bytes(&self) -> usize {
        8 + 2 * self.tags.len() + self.drawing.commands.len()
    }
}

/// Features of a layer, of which no more are held than may be sent.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    pub(crate) values: ValuePool,
    features: Vec<Feature>,
    held: usize,
    /// The first feature that had no room: what comes after it has none either.
    refused: Option<Rank>,
}

impl Layer {
    /// Returns whether a drawing of a row may still be among those that are sent.
    pub(crate) fn has_room(&self, row: u64, drawing: &Drawing) -> bool {
        let rank = Rank { size: drawing.size, row, kind: drawing.kind };
        self.refused.is_none_or(|refused| rank.compare(&refused).is_lt())
    }

    /// Adds a feature. `tags` are numbers of keys, and of values in [`Layer::values`].
    pub(crate) fn add(
        &mut self,
        row: u64,
        id: Option<u64>,
        tags: Vec<(usize, usize)>,
        drawing: Drawing,
    ) {
        let rank = Rank { size: drawing.size, row, kind: drawing.kind };
        let feature = Feature { rank, id, tags, drawing };
        let values = feature.tags.iter().map(|(_, value)| self.values.value(*value).len() + 2);
        let bytes = feature.least_bytes() + values.sum::<usize>();
        self.held += bytes;
        // One that has no room even alone must not keep out those that have.
        if bytes <= MOST_BYTES - FRAME {
            self.features.push(feature);
        }
        if self.held > MOST_HELD {
            self.drop_last();
        }
    }

    /// Sorts features by rank and drops those that have no room behind the ones before.
    fn drop_last(&mut self) {
        self.features.sort_unstable_by(|one, other| one.rank.compare(&other.rank));
        let mut is_counted = vec![false; self.values.len()];
        let (mut bytes, mut kept) = (0, 0);
        for feature in &self.features {
            bytes += feature.least_bytes();
            for (_, value) in &feature.tags {
                if !std::mem::replace(&mut is_counted[*value], true) {
                    bytes += self.values.value(*value).len() + 2;
                }
            }
            if bytes > MOST_BYTES {
                break;
            }
            kept += 1;
        }
        if let Some(first) = self.features.get(kept) {
            self.refused = Some(first.rank);
        }
        self.features.truncate(kept);
        let tags = self.features.iter_mut().flat_map(|feature| &mut feature.tags);
        self.values.renumber(tags.map(|(_, value)| value));
        self.held = bytes.min(MOST_BYTES);
    }

    /// The tile: this layer with as many features as fit, in the order of their rows. Nothing where
    /// there are none, since a layer has one at least.
    pub(crate) fn finish(mut self, name: &str, keys: &[&str]) -> Vec<u8> {
        self.drop_last();
        let mut count = self.features.len();
        loop {
            let tile = self.encode(count, name, keys);
            if tile.len() <= MOST_BYTES {
                return tile;
            }
            // In 64 bits: a guest's lengths have 32, too few for the product.
            let share = count as u64 * MOST_BYTES as u64 / tile.len() as u64;
            count = (count - 1).min(usize::try_from(share).unwrap_or(count));
        }
    }

    /// The tile of the first features by rank.
    fn encode(&self, count: usize, name: &str, keys: &[&str]) -> Vec<u8> {
        if count == 0 {
            return Vec::new();
        }
        let mut features: Vec<&Feature> = self.features[..count].iter().collect();
        features.sort_unstable_by_key(|feature| (feature.rank.row, feature.rank.kind));
        let (mut key_numbers, mut value_numbers) =
            (Numbers::new(keys.len()), Numbers::new(self.values.len()));
        let (mut layer, mut message, mut tags) = (Vec::new(), Vec::new(), Vec::new());
        number_field(15, 2, &mut layer);
        bytes_field(1, name.as_bytes(), &mut layer);
        for feature in features {
            tags.clear();
            for (key, value) in &feature.tags {
                number(key_numbers.number(*key), &mut tags);
                number(value_numbers.number(*value), &mut tags);
            }
            message.clear();
            if let Some(id) = feature.id {
                number_field(1, id, &mut message);
            }
            if !tags.is_empty() {
                bytes_field(2, &tags, &mut message);
            }
            number_field(3, feature.drawing.kind.into(), &mut message);
            bytes_field(4, &feature.drawing.commands, &mut message);
            bytes_field(2, &message, &mut layer);
        }
        key_numbers.order.iter().for_each(|key| bytes_field(3, keys[*key].as_bytes(), &mut layer));
        for value in &value_numbers.order {
            bytes_field(4, self.values.value(*value), &mut layer);
        }
        number_field(5, EXTENT.into(), &mut layer);
        let mut tile = Vec::with_capacity(layer.len() + 4);
        bytes_field(3, &layer, &mut tile);
        tile
    }
}

/// Numbers of keys or values in a layer, in the order in which they come.
struct Numbers {
    numbers: Vec<Option<u64>>,
    order: Vec<usize>,
}

impl Numbers {
    fn new(most: usize) -> Self {
        Self { numbers: vec![None; most], order: Vec::new() }
    }

    fn number(&mut self, value: usize) -> u64 {
        *self.numbers[value].get_or_insert_with(|| {
            self.order.push(value);
            self.order.len() as u64 - 1
        })
    }
}
