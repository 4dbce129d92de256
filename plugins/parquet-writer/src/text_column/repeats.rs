//! Finds out whether text that came plain repeats after all, so that a dictionary pays.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

use super::{TextValues, is_valid, place};
use crate::number_column::{DISTINCT_EIGHTHS, SAMPLE};

/// Distinct texts at most, and their bytes.
const MAX_DISTINCT: usize = 1 << 15;
const MAX_DICTIONARY_BYTES: usize = 1 << 20;

/// The distinct texts in the order of first appearance, and each valid row's position among them.
/// None where a sample has too many, or all more than one in four.
pub(super) fn find<'a>(
    texts: TextValues<'a>,
    valid: Option<&[u8]>,
) -> Option<(Vec<&'a [u8]>, Vec<u16>)> {
    let sampled = texts.len().min(SAMPLE);
    let step = (texts.len() / SAMPLE).max(1);
    let rows = || (0..texts.len()).filter(|row| is_valid(valid, *row));
    number(texts, rows().step_by(step).take(sampled), sampled * DISTINCT_EIGHTHS / 8)?;
    number(texts, rows(), (texts.len() / 4).min(MAX_DISTINCT))
}

/// None where there are more than `limit` distinct ones.
fn number<'a>(
    texts: TextValues<'a>,
    rows: impl Iterator<Item = usize>,
    limit: usize,
) -> Option<(Vec<&'a [u8]>, Vec<u16>)> {
    let mut places: HashMap<&[u8], u16, BuildHasherDefault<ShortTextHasher>> = HashMap::default();
    let (mut distinct, mut positions): (Vec<&[u8]>, Vec<u16>) = (Vec::new(), Vec::new());
    let mut bytes = 0;
    for row in rows {
        let text = texts.get(row);
        let position = match places.entry(text) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                bytes += text.len();
                if distinct.len() == limit || bytes > MAX_DICTIONARY_BYTES {
                    return None;
                }
                distinct.push(text);
                *entry.insert(place(distinct.len() - 1))
            }
        };
        positions.push(position);
    }
    (!positions.is_empty()).then_some((distinct, positions))
}

/// A quick hash. What it makes of texts never shows in the output.
#[derive(Default)]
struct ShortTextHasher(u64);

impl Hasher for ShortTextHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (eights, rest) = bytes.as_chunks::<8>();
        for eight in eights {
            self.write_u64(u64::from_le_bytes(*eight));
        }
        self.write_u64(
            rest.iter().fold(rest.len() as u64, |number, byte| number << 8 | u64::from(*byte)),
        );
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
