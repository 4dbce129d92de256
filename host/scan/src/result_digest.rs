//! Digests of record batches (contract-13-digest): values are hashed column by column as they come,
//! so that neither the cut of batches nor dictionaries show. Holds the bytes of one column of one
//! batch.

use arrow::array::{Array, AsArray, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Float64Type, Int32Type, Int64Type};
use arrow::error::ArrowError;
use sha2::{Digest, Sha256};
use yearbook_domain::result_digest::{DigestedValue, write_value};
use yearbook_domain::{Column, ColumnType, ResultDigest};

/// A digest of a result being computed.
#[derive(Debug)]
pub struct ResultHasher {
    columns: Vec<(String, ColumnType, Sha256)>,
    rows: u64,
    /// Values of one column of one batch, reused.
    scratch: Vec<u8>,
}

impl ResultHasher {
    /// Starts the digest of a result with `columns`, in their order.
    pub fn new<'a>(columns: impl Iterator<Item = &'a Column>) -> Self {
        let column = |column: &Column| (column.name.clone(), column.column_type, Sha256::new());
        Self { columns: columns.map(column).collect(), rows: 0, scratch: Vec::new() }
    }

    /// Takes in the next rows.
    ///
    /// # Errors
    /// [`ArrowError::SchemaError`] for a column of a type that is never stored.
    pub fn update(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        self.rows += batch.num_rows() as u64;
        for ((.., hasher), array) in self.columns.iter_mut().zip(batch.columns()) {
            self.scratch.clear();
            write_column(array.as_ref(), &mut self.scratch)?;
            hasher.update(&self.scratch);
        }
        Ok(())
    }

    /// Returns the SHA-256 of the values of each column, in their order.
    pub fn column_hashes(&self) -> impl Iterator<Item = [u8; 32]> {
        self.columns.iter().map(|(.., hasher)| hasher.clone().finalize().into())
    }

    /// Returns the digest of all rows.
    #[must_use]
    pub fn finish(self) -> ResultDigest {
        let columns = self.columns.iter().zip(self.column_hashes());
        let columns = columns.map(|((name, kind, _), hash)| (name.as_str(), *kind, hash));
        ResultDigest::from_columns(self.rows, columns)
    }

    /// Returns the number of rows so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }
}

fn write_column(array: &dyn Array, out: &mut Vec<u8>) -> Result<(), ArrowError> {
    fn write_all<'a, T>(
        values: impl Iterator<Item = Option<T>>,
        digested: impl Fn(T) -> DigestedValue<'a>,
        out: &mut Vec<u8>,
    ) {
        values.for_each(|value| write_value(value.map(&digested), out));
    }
    match array.data_type() {
        DataType::Int64 => {
            write_all(array.as_primitive::<Int64Type>().iter(), DigestedValue::Integer, out);
        }
        DataType::Float64 => {
            write_all(array.as_primitive::<Float64Type>().iter(), DigestedValue::Number, out);
        }
        DataType::Boolean => write_all(array.as_boolean().iter(), DigestedValue::Boolean, out),
        DataType::Utf8 => write_all(array.as_string::<i32>().iter(), DigestedValue::Text, out),
        other => {
            let keyed = array.as_dictionary_opt::<Int32Type>();
            let words = keyed.and_then(|keyed| keyed.downcast_dict::<StringArray>());
            let unknown =
                || ArrowError::SchemaError(format!("a column of type {other} has no digest"));
            write_all(words.ok_or_else(unknown)?.into_iter(), DigestedValue::Text, out);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use arrow::array::{ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array};
    use yearbook_domain::ColumnRole;

    use super::*;

    fn column(name: &str, column_type: ColumnType) -> Column {
        Column::new(name, column_type, ColumnRole::Attribute)
    }

    fn digest(columns: &[Column], batches: &[RecordBatch]) -> ResultDigest {
        let mut hasher = ResultHasher::new(columns.iter());
        batches.iter().for_each(|batch| hasher.update(batch).unwrap());
        hasher.finish()
    }

    #[test]
    fn a_digest_depends_neither_on_batches_nor_on_dictionaries_contract_13() {
        let columns = [
            column("date", ColumnType::Date),
            column("region", ColumnType::String),
            column("count", ColumnType::Integer),
            column("value", ColumnType::Number),
            column("open", ColumnType::Boolean),
        ];
        let regions = [Some("Tāmaki Makaurau"), Some(""), None, Some("\"a\", b\n🌏")];
        let words: DictionaryArray<Int32Type> = regions.into_iter().collect();
        let plain: ArrayRef = Arc::new(StringArray::from(regions.to_vec()));
        let dates = [Some("2020-01-31"), Some("2020-02-29"), None, Some("9999-12-31")];
        let batch = |regions: ArrayRef| {
            let arrays: [(&str, ArrayRef); 5] = [
                ("date", Arc::new(StringArray::from(dates.to_vec()))),
                ("region", regions),
                (
                    "count",
                    Arc::new(Int64Array::from(vec![Some(1), None, Some(i64::MIN), Some(i64::MAX)])),
                ),
                (
                    "value",
                    Arc::new(Float64Array::from(vec![Some(0.1), Some(-0.0), None, Some(1e308)])),
                ),
                (
                    "open",
                    Arc::new(BooleanArray::from(vec![Some(true), Some(false), None, Some(true)])),
                ),
            ];
            RecordBatch::try_from_iter(arrays).unwrap()
        };
        // The vector that clients check as well.
        let expected = "yb1:bdd4f628d99e64cdf2e36279518abddd7b608c70f5b86c821404e941b092b4e9";
        for batch in [batch(plain), batch(Arc::new(words))] {
            assert_eq!(digest(&columns, std::slice::from_ref(&batch)).to_string(), expected);
            for cut in 0..=4 {
                let parts = [batch.slice(0, cut), batch.slice(cut, 4 - cut)];
                assert_eq!(digest(&columns, &parts).to_string(), expected, "cut at {cut}");
            }
        }
    }
}
