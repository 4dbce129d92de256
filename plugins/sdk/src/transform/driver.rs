//! One response of a transform: what crosses becomes rows, and what it adds becomes batches.

use super::{Codes, InputRows, MadeRows, Transform, TransformError, TransformOutput};
use crate::batch::Decoder;
use crate::wire::{RawInputRows, RawMadeRows};
use crate::{Options, Schema};

/// A response.
pub(crate) struct TransformDriver<T> {
    transform: T,
    decoder: Decoder,
    made: MadeRows,
}

impl<T: Transform> TransformDriver<T> {
    /// Begins a response.
    ///
    /// # Errors
    /// As [`Transform::plan`] and [`Transform::open`].
    pub(crate) fn open(
        schema: &Schema,
        codes: &Codes,
        options: &Options,
    ) -> Result<Self, TransformError> {
        // An instance opens without having planned, where the host keeps the plan.
        let needs = T::plan(schema, options)?;
        let transform = T::open(schema, codes, options)?;
        let made = MadeRows::new(transform.output());
        Ok(Self { transform, decoder: Decoder::new(needs.crossing(schema), &[]), made })
    }

    /// The columns of the output.
    pub(crate) fn output(&self) -> &TransformOutput {
        self.transform.output()
    }

    /// Takes rows that come before the first push.
    ///
    /// # Errors
    /// As [`Transform::prime`].
    pub(crate) fn prime(&mut self, rows: RawInputRows) -> Result<(), TransformError> {
        let rows = InputRows::new(self.decoder.decode(rows.batch)?, rows.groups);
        self.transform.prime(&rows)
    }

    /// Takes rows, and returns those that were made.
    ///
    /// # Errors
    /// As [`Transform::push`].
    pub(crate) fn push(
        &mut self,
        rows: RawInputRows,
    ) -> Result<Option<RawMadeRows>, TransformError> {
        let rows = InputRows::new(self.decoder.decode(rows.batch)?, rows.groups);
        self.transform.push(&rows, &mut self.made)?;
        self.made.finish(rows.rows())
    }

    /// Returns the next rows after the last batch.
    ///
    /// # Errors
    /// As [`Transform::finish`].
    pub(crate) fn finish(&mut self) -> Result<Option<RawMadeRows>, TransformError> {
        while !self.made.is_full() {
            let before = self.made.rows();
            self.transform.finish(&mut self.made)?;
            if self.made.rows() == before {
                break;
            }
        }
        self.made.finish(0)
    }
}
