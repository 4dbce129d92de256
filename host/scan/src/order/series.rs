//! Series of rows by number: the combination of values of the series columns, and the form of the
//! period code.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, StringArray, UInt8Array};
use arrow::datatypes::{DataType, Int32Type};
use arrow::error::ArrowError;
use arrow::row::{RowConverter, Rows, SortField};
use yearbook_domain::read_plan::{MAX_SERIES, PeriodForm, series_columns};
use yearbook_domain::{ColumnRole, Snapshot};

use super::column_reader::ColumnReader;
use crate::StorageFailure;
use crate::decode::{FileSource, ParquetFile, RowRange, task_ranges};

/// Bytes that a series takes: 128 bits, its number and its count, in a map that may be half empty.
pub(crate) const SERIES_BYTES: u64 = 80;

/// Encoder of the series of each row of a file.
#[derive(Clone)]
pub(super) struct SeriesKeys {
    reader: ColumnReader,
    encoder: SeriesEncoder,
}

/// Encoder of the series of each row of a batch.
#[derive(Clone)]
pub(crate) struct SeriesEncoder {
    /// Places of the series columns in a batch.
    columns: Arc<[usize]>,
    /// Place of the period codes.
    period: Option<usize>,
    converter: Arc<RowConverter>,
}

/// Numbers of the series that were met, from 0 in the order in which they were. Keys are known by
/// 128 bits, which nobody can make meet: the hashes have random seeds.
#[derive(Default)]
pub(crate) struct SeriesNumbers {
    hashers: [RandomState; 2],
    numbers: HashMap<u128, usize>,
}

impl SeriesKeys {
    /// Series of the rows of a snapshot with a date axis.
    pub(super) fn new(parquet: &ParquetFile, snapshot: &Snapshot) -> Result<Self, StorageFailure> {
        let leaf = |position: usize| parquet.column_index(position);
        let columns = series_columns(snapshot).unwrap_or_default();
        let columns = columns.into_iter().map(leaf).collect::<Result<Vec<_>, _>>()?;
        let period = snapshot.columns.iter().position(|column| column.role == ColumnRole::Period);
        let period = period.map(leaf).transpose()?;
        let reader = ColumnReader::new(columns.iter().copied().chain(period));
        let types = columns.iter().map(|&leaf| ColumnReader::data_type(parquet, leaf));
        let places = columns.iter().map(|&leaf| reader.place(leaf)).collect();
        let period = period.map(|leaf| reader.place(leaf));
        let encoder = SeriesEncoder::new(places, types, period)
            .map_err(|error| StorageFailure::damaged(&parquet.key, error.to_string()))?;
        Ok(Self { reader, encoder })
    }

    /// Appends the number of each wanted row's series to what is returned.
    pub(super) async fn number_rows(
        &self,
        source: &FileSource,
        range: RowRange,
        numbers: SeriesNumbers,
    ) -> Result<(SeriesNumbers, Vec<usize>), StorageFailure> {
        let keys = self.encoder.clone();
        let step = move |(mut numbers, mut rows): (SeriesNumbers, Vec<usize>),
                         batch: &RecordBatch| {
            numbers.append_all(&keys.encode(batch)?, &mut rows);
            Ok((numbers, rows))
        };
        self.reader.fold(source, range, (numbers, Vec::new()), step).await
    }
}

impl SeriesEncoder {
    /// Series by the values of columns, which are places in a batch with their types, and by the
    /// form of the period codes at the place `period`.
    pub(crate) fn new(
        columns: Arc<[usize]>,
        types: impl Iterator<Item = DataType>,
        period: Option<usize>,
    ) -> Result<Self, ArrowError> {
        let fields = types.chain([DataType::UInt8]).map(SortField::new).collect();
        let converter = Arc::new(RowConverter::new(fields)?);
        Ok(Self { columns, period, converter })
    }

    /// The series of each row of a batch, as keys.
    pub(crate) fn encode(&self, batch: &RecordBatch) -> Result<Rows, ArrowError> {
        let column = |place: &usize| batch.columns().get(*place).cloned();
        let forms = match self.period.and_then(|place| column(&place)) {
            Some(codes) => period_forms(&codes)?,
            None => UInt8Array::from_value(0, batch.num_rows()),
        };
        let forms: ArrayRef = Arc::new(forms);
        let columns: Vec<ArrayRef> =
            self.columns.iter().filter_map(column).chain([forms]).collect();
        self.converter.convert_columns(&columns)
    }
}

impl SeriesNumbers {
    /// Number of series.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Appends the number of each row's series to `rows`.
    pub(crate) fn append_all(&mut self, keys: &Rows, rows: &mut Vec<usize>) {
        for key in keys {
            let [high, low] = self.hashers.each_ref().map(|hasher| hasher.hash_one(key.data()));
            let next = self.numbers.len();
            rows.push(
                *self.numbers.entry(u128::from(high) << 64 | u128::from(low)).or_insert(next),
            );
        }
    }
}

/// Number of series of a snapshot; more than [`MAX_SERIES`] are not counted to their end.
pub(crate) async fn count_series(
    source: &FileSource,
    snapshot: &Snapshot,
) -> Result<u64, StorageFailure> {
    let parquet = &source.parquet;
    let keys = SeriesKeys::new(parquet, snapshot)?;
    let mut numbers = SeriesNumbers::default();
    let leaves = keys.reader.leaves().to_vec();
    for range in task_ranges(source.task_limits, Arc::clone(parquet), leaves, 0..parquet.rows()) {
        (numbers, _) = keys.number_rows(source, range, numbers).await?;
        if numbers.len() as u64 > MAX_SERIES {
            break;
        }
    }
    Ok(numbers.len() as u64)
}

/// The form of each period code; 0 for null.
fn period_forms(codes: &ArrayRef) -> Result<UInt8Array, ArrowError> {
    let form = |code: Option<&str>| code.map_or(0, |code| PeriodForm::from_code(code) as u8 + 1);
    if let Some(texts) = codes.as_string_opt::<i32>() {
        return Ok(texts.iter().map(form).map(Some).collect());
    }
    let keyed = codes.as_dictionary_opt::<Int32Type>();
    let Some(texts) = keyed.and_then(|keyed| keyed.downcast_dict::<StringArray>()) else {
        return Err(ArrowError::SchemaError("its period codes are not text".to_owned()));
    };
    Ok(texts.into_iter().map(form).map(Some).collect())
}
