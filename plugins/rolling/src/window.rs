//! The newest values of a series.

use std::collections::VecDeque;

use yearbook_sdk::transform::TransformError;
use yearbook_series::Number;

/// Values by time, ascending.
#[derive(Debug, Default)]
pub(crate) struct Window(VecDeque<(i32, Vec<Option<Number>>)>);

impl Window {
    /// Adds the values of a time, in the place of those that it has.
    ///
    /// # Errors
    /// [`TransformError::UnsupportedRows`] for a time before the newest one.
    pub(crate) fn add(
        &mut self,
        time: i32,
        values: impl Iterator<Item = Option<Number>>,
    ) -> Result<(), TransformError> {
        match self.0.back_mut() {
            Some((newest, _)) if *newest > time => Err(TransformError::UnsupportedRows(
                "the rows of a series do not ascend in time, so its newest values are not known; \
                 where another transform comes first, let its rows ascend by date"
                    .to_owned(),
            )),
            Some((newest, present)) if *newest == time => {
                present.clear();
                present.extend(values);
                Ok(())
            }
            _ => {
                self.0.push_back((time, values.collect()));
                Ok(())
            }
        }
    }

    /// Forgets a time and all before it.
    pub(crate) fn forget_until(&mut self, time: i32) {
        while self.0.front().is_some_and(|(first, _)| *first <= time) {
            self.0.pop_front();
        }
    }

    /// Values of a column.
    pub(crate) fn values(&self, column: usize) -> impl Iterator<Item = Option<Number>> {
        self.0.iter().map(move |(_, values)| values[column])
    }
}
