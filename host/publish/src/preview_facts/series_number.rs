//! The number of series (contract-15-series).

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};

use yearbook_domain::read_plan::MAX_SERIES;

/// Series of a table, being counted: a keyed hash of each is held. Of a million series two share
/// one of the 2^64 in one of forty million tables.
#[derive(Default)]
pub(super) struct SeriesNumber {
    hasher: RandomState,
    seen: HashSet<u64, BuildHasherDefault<HashedAlready>>,
}

/// Hasher of what is a hash.
#[derive(Default)]
struct HashedAlready(u64);

impl Hasher for HashedAlready {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0 << 8 | u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl SeriesNumber {
    /// Takes in the key of the next row.
    pub(super) fn update(&mut self, key: &[u8]) {
        if self.count() <= MAX_SERIES {
            self.seen.insert(self.hasher.hash_one(key));
        }
    }

    /// Number of series; one more than [`MAX_SERIES`] for any number above.
    pub(super) fn count(&self) -> u64 {
        self.seen.len() as u64
    }
}
