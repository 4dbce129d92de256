//! Series of a chart in bounded memory: those that may be drawn keep their points, all others are
//! counted.

use std::collections::{BTreeMap, BTreeSet};

use super::samples::SeriesSamples;
use crate::calendar::Length;

/// Series whose points are kept; of these the ones with the most points are drawn. A series that
/// appears later than so many others is only counted.
pub const MOST_CANDIDATES: usize = 64;

/// Further series that are distinguished when they are counted.
pub const MOST_COUNTED: usize = 65_536;

/// Values that name a series, one for each column that splits the rows; `None` if null.
pub type SeriesKey = Vec<Option<String>>;

/// A series: its values, the position of its value column, and its points.
#[derive(Debug, Clone)]
pub struct BookedSeries {
    /// Values that name it.
    pub key: SeriesKey,
    /// Position among the drawn value columns.
    pub value_column: usize,
    /// Length of its periods.
    pub length: Length,
    /// Its points.
    pub samples: SeriesSamples,
}

/// All series of a response.
#[derive(Debug, Clone, Default)]
pub struct SeriesBook {
    candidates: Vec<BookedSeries>,
    places: BTreeMap<Vec<u8>, usize>,
    /// Hashes of the others.
    others: BTreeSet<u64>,
}

impl SeriesBook {
    /// The samples of the series with the identity `id`, which only the same key, value column and
    /// length have; `None` where the series is only counted. `key` is called for a series that is
    /// new.
    pub fn samples(
        &mut self,
        id: &[u8],
        value_column: usize,
        length: Length,
        key: impl FnOnce() -> SeriesKey,
    ) -> Option<&mut SeriesSamples> {
        let place = match self.places.get(id) {
            Some(place) => *place,
            None if self.candidates.len() < MOST_CANDIDATES => {
                let samples = SeriesSamples::default();
                self.candidates.push(BookedSeries { key: key(), value_column, length, samples });
                self.places.insert(id.to_vec(), self.candidates.len() - 1);
                self.candidates.len() - 1
            }
            None => {
                if self.others.len() < MOST_COUNTED {
                    self.others.insert(fnv1a(id));
                }
                return None;
            }
        };
        self.candidates.get_mut(place).map(|series| &mut series.samples)
    }

    /// Number of series, and whether it is exact: beyond [`MOST_COUNTED`] it is a lower bound.
    #[must_use]
    pub fn count(&self) -> (usize, bool) {
        (self.candidates.len() + self.others.len(), self.others.len() < MOST_COUNTED)
    }

    /// Returns whether there are series that are only counted.
    #[must_use]
    pub fn has_others(&self) -> bool {
        !self.others.is_empty()
    }

    /// The `most` series to draw: those with the most points, ties by the bytes of their keys, then
    /// by value column. All of them have the length of the first one, and its values at the places
    /// `kinds` of their keys.
    #[must_use]
    pub fn drawn(&self, most: usize, kinds: &[usize]) -> Vec<&BookedSeries> {
        let mut series: Vec<&BookedSeries> = self.candidates.iter().collect();
        series.sort_by(|left, right| {
            right
                .samples
                .points
                .cmp(&left.samples.points)
                .then_with(|| left.key.cmp(&right.key))
                .then_with(|| left.value_column.cmp(&right.value_column))
                .then_with(|| left.length.cmp(&right.length))
        });
        if let Some(first) = series.first().copied() {
            let is_kind = |kind: &usize, other: &BookedSeries| other.key[*kind] == first.key[*kind];
            series.retain(|other| other.length == first.length);
            series.retain(|other| kinds.iter().all(|kind| is_kind(kind, other)));
        }
        series.truncate(most);
        series
    }

    /// All series whose points are kept.
    #[must_use]
    pub fn candidates(&self) -> &[BookedSeries] {
        &self.candidates
    }
}

/// FNV-1a, 64 bits: two series that share it are counted as one.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::super::marks::Marks;
    use super::*;
    use crate::palette::MOST_SERIES;

    fn book(series: usize, points_of: impl Fn(usize) -> usize) -> SeriesBook {
        let mut book = SeriesBook::default();
        for index in 0..series {
            for point in 0..points_of(index) {
                let name = format!("{index:06}");
                let key = || vec![Some(name.clone())];
                if let Some(samples) = book.samples(name.as_bytes(), 0, Length::Day, key) {
                    let x = f64::from(u32::try_from(point).unwrap_or(0));
                    samples.push(x, Some(1.0), Marks::default());
                }
            }
        }
        book
    }

    #[test]
    fn the_series_with_the_most_points_are_drawn_and_the_rest_is_counted_contract_9() {
        let book = book(1_000, |index| if index == 40 { 3 } else { 1 });
        let drawn: Vec<_> =
            book.drawn(MOST_SERIES, &[]).iter().map(|series| series.key.clone()).collect();
        assert_eq!(drawn.len(), MOST_SERIES);
        assert_eq!(drawn[0], [Some("000040".to_owned())]);
        assert_eq!(drawn[1], [Some("000000".to_owned())]);
        assert_eq!(book.count(), (1_000, true));
        assert_eq!(book.candidates().len(), MOST_CANDIDATES);
        assert!(book.has_others());
    }

    #[test]
    fn beyond_all_counting_the_number_is_a_lower_bound() {
        let book = book(MOST_COUNTED + MOST_CANDIDATES + 10, |_| 1);
        assert_eq!(book.count(), (MOST_COUNTED + MOST_CANDIDATES, false));
    }
}
