//! Rows of text: for each row every cell with what stands before it, then the row's end.

use super::column_writer::{ColumnWriter, PreparedColumn};
use super::writer::{RepeatedText, TextWriter};
use super::{Dialect, cell};
use crate::capacity::LARGEST;
use crate::{Batch, DataType, Error, Field, Output, View};

/// Writes rows of a dialect. Keeps what can be kept between batches: rendered dictionaries.
///
/// ```
/// use yearbook_sdk::testing::{Table, batches};
/// use yearbook_sdk::text::Rows;
/// use yearbook_sdk::text::csv::Csv;
/// use yearbook_sdk::Output;
///
/// let table = Table::new().text("region", &[Some("a,b")]).numbers("value", &[Some(1.5)]);
/// let batch = batches(&table, false)?.remove(0);
/// let leads = vec![Vec::new(), b",".to_vec()];
/// let csv = Csv { delimiter: b',' };
/// let mut rows = Rows::new(csv, &batch.schema().fields, leads, b"\n")?;
/// let mut out = Output::default();
/// rows.write(&batch, &mut out);
/// assert_eq!(out.as_slice(), b"\"a,b\",1.5\n");
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
#[derive(Debug)]
pub struct Rows<D> {
    dialect: D,
    lanes: Vec<ColumnWriter>,
    views: Vec<View>,
    end: RepeatedText,
}

/// Rows after which the length of the rest is estimated.
const SAMPLE: usize = 64;

/// Checks that a dialect can write all of some columns, and that there are any.
///
/// ```
/// use yearbook_sdk::testing::{Table, batches};
/// use yearbook_sdk::text::csv::Csv;
/// use yearbook_sdk::text::{self, json::Json};
///
/// let batch = batches(&Table::new().lists("n", &[Some(vec![1])]), false)?.remove(0);
/// let fields = &batch.schema().fields;
/// assert!(text::check::<Json>(fields).is_ok() && text::check::<Csv>(fields).is_err());
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
///
/// # Errors
/// [`Error::UnsupportedSchema`] naming a column that the dialect cannot write.
pub fn check<D: Dialect>(fields: &[Field]) -> Result<(), Error> {
    if fields.is_empty() {
        return Err(Error::UnsupportedSchema(
            "the table has no columns; name at least one in `columns`".to_owned(),
        ));
    }
    match fields.iter().find(|field| !cell::is_supported::<D>(field)) {
        None => Ok(()),
        Some(field) => Err(Error::UnsupportedSchema(format!(
            "column `{}` has the Arrow type `{}`, which this format cannot carry; leave it out with `columns` or ask for arrow",
            field.name,
            field.dictionary.as_ref().map_or(&field.format, |values| &values.format)
        ))),
    }
}

impl<D: Dialect> Rows<D> {
    /// `leads` are what stands before the cells of each column (`,"name":`); `end` ends a row.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    /// use yearbook_sdk::text::Rows;
    /// use yearbook_sdk::text::csv::Csv;
    /// use yearbook_sdk::Output;
    ///
    /// let table = Table::new().text("region", &[Some("a,b")]).numbers("value", &[Some(1.5)]);
    /// let batch = batches(&table, false)?.remove(0);
    /// let leads = vec![Vec::new(), b",".to_vec()];
    /// let csv = Csv { delimiter: b',' };
    /// let mut rows = Rows::new(csv, &batch.schema().fields, leads, b"\n")?;
    /// let mut out = Output::default();
    /// rows.write(&batch, &mut out);
    /// assert_eq!(out.as_slice(), b"\"a,b\",1.5\n");
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::UnsupportedSchema`] naming a column that the dialect cannot write.
    pub fn new(
        dialect: D,
        fields: &[Field],
        leads: Vec<Vec<u8>>,
        end: &[u8],
    ) -> Result<Self, Error> {
        check::<D>(fields)?;
        let lanes = leads.into_iter().map(ColumnWriter::new::<D>).collect();
        let held = View::held(dialect.held_text());
        let view = |field: &Field| match field.value_type() {
            DataType::Utf8 | DataType::LargeUtf8 => held,
            _ => View::WHOLE,
        };
        let views = fields.iter().map(view).collect();
        Ok(Self { dialect, lanes, views, end: RepeatedText::new(&[end]) })
    }

    /// Views for [`crate::Encoder::views`]: long text that needs no escaping stays with
    /// the host.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    /// use yearbook_sdk::text::Rows;
    /// use yearbook_sdk::text::csv::Csv;
    /// use yearbook_sdk::Output;
    ///
    /// let table = Table::new().text("region", &[Some("a,b")]).numbers("value", &[Some(1.5)]);
    /// let batch = batches(&table, false)?.remove(0);
    /// let leads = vec![Vec::new(), b",".to_vec()];
    /// let csv = Csv { delimiter: b',' };
    /// let mut rows = Rows::new(csv, &batch.schema().fields, leads, b"\n")?;
    /// assert_eq!(rows.views().len(), 2, "one for each column");
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn views(&self) -> Vec<View> {
        self.views.clone()
    }

    /// Appends all rows of a batch.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    /// use yearbook_sdk::text::Rows;
    /// use yearbook_sdk::text::csv::Csv;
    /// use yearbook_sdk::Output;
    ///
    /// let table = Table::new().text("region", &[Some("a,b")]).numbers("value", &[Some(1.5)]);
    /// let batch = batches(&table, false)?.remove(0);
    /// let leads = vec![Vec::new(), b",".to_vec()];
    /// let csv = Csv { delimiter: b',' };
    /// let mut rows = Rows::new(csv, &batch.schema().fields, leads, b"\n")?;
    /// let mut out = Output::default();
    /// rows.write(&batch, &mut out);
    /// assert_eq!(out.as_slice(), b"\"a,b\",1.5\n");
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    pub fn write(&mut self, batch: &Batch, out: &mut Output) {
        let Self { dialect, lanes, end, .. } = self;
        let prepared: Vec<PreparedColumn<'_>> = lanes
            .iter_mut()
            .zip(batch.columns())
            .map(|(lane, column)| lane.prepare(dialect, column))
            .collect();
        write_rows(dialect, &prepared, end, batch.rows(), out);
    }
}

/// Writes all rows. A function of its own: beside the code that prepares columns, most of what the
/// loop needs would be on the stack.
#[inline(never)]
fn write_rows<D: Dialect>(
    dialect: &D,
    columns: &[PreparedColumn<'_>],
    end: &RepeatedText,
    rows: usize,
    out: &mut Output,
) {
    let mut sheet = TextWriter::new(out);
    let before = sheet.len();
    for row in 0..rows {
        for column in columns {
            column.write_cell(dialect, row, &mut sheet);
        }
        end.write(&mut sheet);
        if row + 1 == SAMPLE {
            // Give or take a sixteenth. The first rows may be the heavy ones of a batch.
            let row_bytes = (sheet.len() - before).div_ceil(SAMPLE);
            let rest = row_bytes.saturating_mul(rows - SAMPLE);
            sheet.write(|out| out.reserve(rest.saturating_add(rest / 16).min(LARGEST)));
        }
    }
    sheet.finish();
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::raw::STEP;
    use crate::testing::{Table, batches};
    use crate::text::json;

    #[test]
    fn heavy_rows_at_the_head_of_a_batch_take_little_memory_for_the_others_contract_3() {
        let heavy = format!("two\n{}", "y".repeat(33_000));
        let text = |row: usize| if row < SAMPLE { heavy.as_str() } else { "x" };
        let texts: Vec<_> = (0..8_192).map(|row| Some(text(row))).collect();
        let batch = batches(&Table::new().text("note", &texts), false).unwrap().remove(0);
        let mut rows = json::objects(&batch.schema().fields, b"}\n").unwrap();
        let mut out = Output::default();
        rows.write(&batch, &mut out);
        let (length, capacity) = (out.len(), out.parts_mut().0.capacity());
        assert!(length > SAMPLE * heavy.len());
        assert!(capacity <= length + LARGEST + STEP, "{capacity} bytes for {length}");
    }
}
