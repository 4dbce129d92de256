//! The number of series (contract-15-series), and the smallest distance of two dates in one
//! (contract-16-axis).

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};

use yearbook_domain::CalendarUnit;
use yearbook_domain::read_plan::MAX_SERIES;

/// Series of a table, being counted: a keyed hash of each is held with its last date, as a number
/// of days. Of a million series two share one of the 2^64 in one of forty million tables.
#[derive(Default)]
pub(super) struct SeriesNumber {
    hasher: RandomState,
    seen: HashMap<u64, Option<i32>, BuildHasherDefault<HashedAlready>>,
    /// Days, more than 0.
    smallest_distance: Option<u32>,
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
    /// Takes in the key and the day of the next row. Days ascend.
    pub(super) fn update(&mut self, key: &[u8], day: Option<i32>) {
        if self.count() > MAX_SERIES {
            return;
        }
        let last = self.seen.insert(self.hasher.hash_one(key), day).flatten();
        let distance = day.zip(last).map(|(day, last)| day.abs_diff(last));
        if let Some(distance) = distance.filter(|days| *days > 0)
            && self.smallest_distance.is_none_or(|smallest| distance < smallest)
        {
            self.smallest_distance = Some(distance);
        }
    }

    /// Number of series; one more than [`MAX_SERIES`] for any number above.
    pub(super) fn count(&self) -> u64 {
        self.seen.len() as u64
    }

    /// Unit of the smallest distance of two dates in a series.
    pub(super) fn axis(&self) -> Option<CalendarUnit> {
        self.smallest_distance.and_then(CalendarUnit::of_days)
    }
}
