//! Pattern that `dimensions`, `contains` and `starts` look for (spec-4.1-dimensions,
//! contract-3-folding, contract-15-conditions-folding): literal text, case folded by simple Unicode
//! case folding, nothing normalised. Text is folded and searched in bulk, not value by value.

use std::sync::Arc;

use arrow::array::{Array, StringArray};
use arrow::buffer::{BooleanBuffer, MutableBuffer, NullBuffer};
use arrow::util::bit_util;
use icu_casemap::CaseMapper;
use memchr::memmem::Finder;

/// A substring that is looked for in text. Every character stands for itself and for those that
/// fold to the same. Folding and searching take time in proportion to the text, however long the
/// pattern: a pattern compiled from the longest pattern that an address can carry would take
/// seconds. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct SearchPattern(Arc<Finder<'static>>);

impl SearchPattern {
    /// Any text.
    pub(crate) fn new(text: &str) -> Self {
        let mut folded = Vec::new();
        append_folded(text, &mut folded);
        Self(Arc::new(Finder::new(&folded).into_owned()))
    }

    /// Returns one bit for each of `texts`, set where it contains the pattern; null never does.
    pub(crate) fn hits(&self, texts: &CaseFolded, nulls: Option<&NullBuffer>) -> BooleanBuffer {
        let mut hits = MutableBuffer::from_len_zeroed(texts.len().div_ceil(8));
        self.for_each_match(texts, |index| bit_util::set_bit(&mut hits, index));
        let hits = BooleanBuffer::new(hits.into(), 0, texts.len());
        nulls.map_or_else(|| hits.clone(), |nulls| &hits & nulls.inner())
    }

    /// Returns one bit for each of `texts`, set where it begins with the pattern.
    pub(crate) fn prefix_hits(&self, texts: &CaseFolded) -> BooleanBuffer {
        BooleanBuffer::collect_bool(texts.len(), |index| {
            let text = texts.text.get(texts.start(index)..texts.start(index + 1));
            text.is_some_and(|text| text.starts_with(self.0.needle()))
        })
    }

    /// Calls `hit` with the index of every text that contains it. One search runs over all texts: a
    /// find across the end of one is no match, and neither is one that begins later in the same
    /// text; texts that are too short are passed over, so that such finds cost no more than the
    /// texts are long.
    fn for_each_match(&self, texts: &CaseFolded, mut hit: impl FnMut(usize)) {
        let length = self.0.needle().len();
        if length == 0 {
            return (0..texts.len()).for_each(hit);
        }
        let mut index = 0;
        loop {
            while index < texts.len() && texts.start(index + 1) - texts.start(index) < length {
                index += 1;
            }
            if index == texts.len() {
                return;
            }
            let from = texts.start(index);
            // UTF-8 never has one character begin inside another, so bytes may be searched.
            let Some(found) = texts.text.get(from..).and_then(|rest| self.0.find(rest)) else {
                return;
            };
            index = texts.index_at(from + found, index);
            if from + found + length <= texts.start(index + 1) {
                hit(index);
            }
            index += 1;
        }
    }
}

/// Texts folded, one behind the other.
pub(crate) struct CaseFolded {
    text: Vec<u8>,
    /// Offset of each text, and the end of the last one.
    starts: Vec<usize>,
}

impl CaseFolded {
    /// The folding of `texts`.
    pub(crate) fn new(texts: &StringArray) -> Self {
        let offsets = texts.value_offsets();
        let at = |offset: i32| usize::try_from(offset).unwrap_or(0);
        let (first, last) =
            (offsets.first().copied().map_or(0, at), offsets.last().copied().map_or(0, at));
        let all = texts.value_data().get(first..last).unwrap_or_default();
        if all.is_ascii() {
            return Self {
                text: all.to_ascii_lowercase(),
                starts: offsets.iter().map(|&offset| at(offset) - first).collect(),
            };
        }
        let mut folded =
            Self { text: Vec::with_capacity(all.len()), starts: Vec::with_capacity(offsets.len()) };
        folded.starts.push(0);
        for row in 0..texts.len() {
            append_folded(texts.value(row), &mut folded.text);
            folded.starts.push(folded.text.len());
        }
        folded
    }

    /// Number of texts.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Offset of text `index`; the end of all text past the last one.
    fn start(&self, index: usize) -> usize {
        self.starts.get(index).copied().unwrap_or(self.text.len())
    }

    /// The text that holds the byte at `offset`, at or behind text `index`. Steps double, so near
    /// ones are found at once.
    fn index_at(&self, offset: usize, index: usize) -> usize {
        let mut step = 1;
        while self.start(index + step) <= offset {
            step *= 2;
        }
        let ends = self.starts.get(index + 1..).unwrap_or_default();
        let ends = ends.get(..step).unwrap_or(ends);
        index + ends.partition_point(|&end| end <= offset)
    }
}

/// Appends the folding of `text` to `folded`.
fn append_folded(text: &str, folded: &mut Vec<u8>) {
    if text.is_ascii() {
        folded.extend(text.bytes().map(|byte| byte.to_ascii_lowercase()));
        return;
    }
    let mapper = CaseMapper::new();
    let mut utf8 = [0; 4];
    for letter in text.chars() {
        folded.extend_from_slice(mapper.simple_fold(letter).encode_utf8(&mut utf8).as_bytes());
    }
}

#[cfg(test)]
mod tests;
