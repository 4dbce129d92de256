//! Places of values: each time of a series that may still be asked for has one, which is its own in
//! the values of every column. So rows are looked up once, and columns are calculated one by one.

use std::collections::VecDeque;

use yearbook_sdk::transform::TransformError;
use yearbook_series::descending_rows;

/// Times of a series since the earliest that counts, ascending, with their places.
#[derive(Debug, Default)]
pub(crate) struct SeriesPlaces(VecDeque<(i32, usize)>);

/// Places that are not taken.
#[derive(Debug, Default)]
pub(crate) struct FreePlaces {
    /// Places that were taken before.
    given_back: Vec<usize>,
    /// Number of all places so far.
    count: usize,
}

impl SeriesPlaces {
    /// Forgets what was before a time, and returns the place of this time where it has one.
    #[inline]
    pub(crate) fn seek(&mut self, time: i32, free: &mut FreePlaces) -> Option<usize> {
        while let Some((first, place)) = self.0.front().copied() {
            if first >= time {
                return (first == time).then_some(place);
            }
            free.given_back.push(place);
            self.0.pop_front();
        }
        None
    }

    /// Place of a time; of several rows of one time the last one counts, so they share it.
    ///
    /// # Errors
    /// [`TransformError::UnsupportedRows`] for a time before the newest one.
    #[inline]
    pub(crate) fn add(
        &mut self,
        time: i32,
        free: &mut FreePlaces,
    ) -> Result<usize, TransformError> {
        match self.0.back() {
            Some((newest, _)) if *newest > time => Err(descending_rows()),
            Some((newest, place)) if *newest == time => Ok(*place),
            _ => {
                let place = free.take();
                self.0.push_back((time, place));
                Ok(place)
            }
        }
    }
}

impl FreePlaces {
    /// Number of all places so far, taken or not.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    #[inline]
    fn take(&mut self) -> usize {
        self.given_back.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        })
    }
}
