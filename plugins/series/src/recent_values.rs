//! Values of a series since the earliest time that counts.

use std::collections::VecDeque;

use yearbook_sdk::transform::TransformError;

/// The newest values of a series, of one or more columns.
#[derive(Debug)]
pub struct RecentValues<T> {
    /// Ascending.
    times: VecDeque<i32>,
    /// Values of each time, one for each column.
    values: VecDeque<Option<T>>,
}

impl<T: Copy> RecentValues<T> {
    /// Forgets what was before a time. `width`: number of columns.
    pub fn forget_before(&mut self, time: i32, width: usize) {
        while self.times.front().is_some_and(|first| *first < time) {
            self.times.pop_front();
            self.values.drain(..width);
        }
    }

    /// All values of a column of `width`, by time.
    pub fn column(&self, column: usize, width: usize) -> impl Iterator<Item = Option<T>> {
        self.values.iter().skip(column).step_by(width).copied()
    }

    /// Adds the values of a time, in the place of those that it has: of several rows of one time
    /// the last one counts.
    ///
    /// # Errors
    /// [`TransformError::UnsupportedRows`] for a time before the newest one.
    pub fn add(
        &mut self,
        time: i32,
        values: impl ExactSizeIterator<Item = Option<T>>,
    ) -> Result<(), TransformError> {
        match self.times.back() {
            Some(newest) if *newest > time => {
                return Err(descending_rows());
            }
            Some(newest) if *newest == time => {
                self.values.truncate(self.values.len() - values.len());
            }
            _ => self.times.push_back(time),
        }
        self.values.extend(values);
        Ok(())
    }
}

impl<T> Default for RecentValues<T> {
    fn default() -> Self {
        Self { times: VecDeque::new(), values: VecDeque::new() }
    }
}

/// Refusal of rows of a series that do not ascend in time.
#[must_use]
pub fn descending_rows() -> TransformError {
    TransformError::UnsupportedRows(
        "the rows of a series do not ascend in time, so earlier ones are not known; where another \
         transform comes first, let its rows ascend by date"
            .to_owned(),
    )
}
