//! Test for few distinct values in a text column, so that reading it as a dictionary pays.

use std::collections::HashSet;

use arrow::array::StringArray;

/// Distinct values at most.
const MAX_VALUES: usize = 4_096;

/// Bytes of them at most, with four bytes of length each: they fit the file's dictionary page,
/// which therefore never overflows.
pub(crate) const MAX_DICTIONARY_BYTES: usize = 1 << 20;

/// The distinct values so far.
#[derive(Debug)]
pub(crate) struct DistinctValues {
    /// None once there are too many.
    seen: Option<HashSet<Box<str>>>,
    bytes: usize,
}

impl Default for DistinctValues {
    fn default() -> Self {
        Self { seen: Some(HashSet::new()), bytes: 0 }
    }
}

impl DistinctValues {
    /// Takes in more values.
    pub(crate) fn extend(&mut self, array: &StringArray) {
        let mut last = None;
        for value in array.iter().flatten() {
            let Some(seen) = &mut self.seen else { return };
            // Sorted tables repeat values in runs.
            if last == Some(value) {
                continue;
            }
            last = Some(value);
            if !seen.contains(value) {
                seen.insert(value.into());
                self.bytes += value.len() + size_of::<u32>();
                if seen.len() > MAX_VALUES || self.bytes > MAX_DICTIONARY_BYTES {
                    self.seen = None;
                }
            }
        }
    }

    /// Returns whether they are few.
    pub(crate) fn is_few(&self) -> bool {
        self.seen.is_some()
    }
}
