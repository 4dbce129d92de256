//! One response of a transform: what crosses becomes rows, and what it adds becomes batches.

use super::{Codes, InputRows, MadeRows, Relation, Transform, TransformError, TransformOutput};
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
        if self.transform.output().rows == Relation::New && !self.made.is_full() {
            // A call for few rows costs the host as much as one for many, for each column.
            return Ok(None);
        }
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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::testing::Table;
    use crate::transform::{MadeType, Need, Needs, OutputColumn, TransformDescription};

    /// A row of its own for each that comes.
    struct Copies(TransformOutput);

    impl Transform for Copies {
        fn describe() -> TransformDescription {
            TransformDescription {
                name: "copies",
                version: "0.1.0",
                title: "Copies",
                independent: false,
                parameters: Vec::new(),
                docs: "",
            }
        }

        fn plan(_: &Schema, _: &Options) -> Result<Needs, TransformError> {
            Ok(Needs { columns: vec![Need::plain(0)], ..Needs::default() })
        }

        fn open(_: &Schema, _: &Codes, _: &Options) -> Result<Self, TransformError> {
            let columns = vec![OutputColumn::made("n", MadeType::Number)];
            Ok(Self(TransformOutput { columns, rows: Relation::New, order: Vec::new() }))
        }

        fn output(&self) -> &TransformOutput {
            &self.0
        }

        fn push(&mut self, rows: &InputRows, made: &mut MadeRows) -> Result<(), TransformError> {
            let values = rows.column(0);
            (0..rows.rows()).for_each(|row| made.number(0, values.number(row)));
            Ok(())
        }
    }

    #[test]
    fn rows_of_their_own_wait_until_a_batch_is_full_or_all_rows_have_come() {
        let table = Table::new().numbers("n", &[Some(1.0); 3000]);
        let schema = Schema::from_wire(table.wire_schema(false)).unwrap();
        let options = Options(Vec::new());
        let mut driver =
            TransformDriver::<Copies>::open(&schema, &Codes::default(), &options).unwrap();
        let pushed = [(); 4].map(|()| {
            let batch = table.wire_batch(0..3000, false, false, &[]);
            driver.push(RawInputRows { batch, groups: Vec::new() }).unwrap()
        });
        assert_eq!(
            pushed.map(|made| made.map(|made| made.rows.rows)),
            [None, None, Some(9000), None]
        );
        let finished = [(); 2].map(|()| driver.finish().unwrap());
        assert_eq!(finished.map(|made| made.map(|made| made.rows.rows)), [Some(3000), None]);
    }
}
