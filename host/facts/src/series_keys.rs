//! Keys of the series of rows: the combination of values of the columns that tell series apart, and
//! the form of the period code (contract-15-series).

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use arrow::row::Rows;
use yearbook_domain::read_plan::PeriodForm;
use yearbook_sort::KeyEncoder;

use super::table_shape::TableShape;

/// Encoder of the series of each row.
pub(super) struct SeriesKeyEncoder {
    columns: KeyEncoder,
    /// Position of the period codes.
    period: Option<usize>,
}

/// Keys of the rows of a batch.
pub(super) struct BatchKeys<'a> {
    /// `None` where only the form of the period code tells series apart.
    rows: Option<Rows>,
    codes: Option<&'a StringArray>,
}

impl SeriesKeyEncoder {
    /// Keys of rows whose series columns stand at `columns` of a batch, and their period codes at
    /// `period`.
    pub(super) fn new(
        shape: &TableShape,
        columns: Vec<usize>,
        period: Option<usize>,
    ) -> Result<Self, ArrowError> {
        Ok(Self { columns: KeyEncoder::of_types(shape.key_types(), columns)?, period })
    }

    pub(super) fn encode<'a>(&self, batch: &'a RecordBatch) -> Result<BatchKeys<'a>, ArrowError> {
        let codes = self.period.and_then(|position| batch.columns().get(position));
        Ok(BatchKeys {
            rows: self.columns.encode(batch)?,
            codes: codes.and_then(|codes| codes.as_string_opt::<i32>()),
        })
    }

    /// The values of a key as texts, `None` if null, and the form of its period code.
    pub(super) fn decode(
        &self,
        key: &[u8],
    ) -> Result<(Vec<Option<String>>, Option<PeriodForm>), ArrowError> {
        let text = |column: &ArrayRef| {
            let texts = cast(column, &DataType::Utf8)?;
            Ok(texts.as_string::<i32>().iter().next().flatten().map(str::to_owned))
        };
        let Some((form, values)) = key.split_last() else { return Ok((Vec::new(), None)) };
        let texts: Result<Vec<_>, ArrowError> =
            self.columns.decode(values)?.iter().map(text).collect();
        Ok((texts?, PeriodForm::ALL.into_iter().find(|known| *known as u8 + 1 == *form)))
    }
}

impl BatchKeys<'_> {
    /// Writes the key of a row in place of what `key` holds.
    pub(super) fn write(&self, row: usize, key: &mut Vec<u8>) {
        key.clear();
        if let Some(rows) = &self.rows {
            key.extend_from_slice(rows.row(row).as_ref());
        }
        let code = self.codes.filter(|codes| codes.is_valid(row)).map(|codes| codes.value(row));
        key.push(code.map_or(0, |code| PeriodForm::from_code(code) as u8 + 1));
    }
}
