//! The sample that anybody may see (contract-4-preview). Texts are cut as soon as they are decoded,
//! so that what is in memory at a time is one batch, however much the sample's rows hold together.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, StringArray, UInt64Array,
};
use arrow::compute::{cast, concat_batches, take, take_record_batch};
use arrow::datatypes::{DataType, Field, Int32Type, Schema, SchemaRef};
use arrow::error::ArrowError;
use futures::TryStreamExt;
use yearbook_domain::{ColumnRole, Snapshot};
use yearbook_storage::ObjectStorage;

use crate::{Reader, StorageFailure, schema};

/// Bounds of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreviewLimits {
    /// Rows at most.
    pub rows: usize,
    /// Characters of a text that are kept.
    pub characters: usize,
    /// Bytes of text that are kept of a row. Columns whose turn comes after that are empty.
    pub row_bytes: usize,
}

impl Reader {
    /// A sample of up to `limits.rows` rows, geometry left out: the newest first where there is a
    /// date column, the first ones otherwise (contract-4-preview). Text arrives plain, never as
    /// dictionaries, and cut. While it is read, one batch is in memory.
    ///
    /// # Errors
    /// A [`StorageFailure`] that names the stored file.
    pub async fn preview(
        &self,
        snapshot: &Snapshot,
        limits: PreviewLimits,
    ) -> Result<RecordBatch, StorageFailure> {
        preview(self, snapshot, limits).await
    }
}

async fn preview(
    reader: &Reader,
    snapshot: &Snapshot,
    limits: PreviewLimits,
) -> Result<RecordBatch, StorageFailure> {
    let shown = |&position: &usize| {
        snapshot.columns.get(position).is_some_and(|column| column.role != ColumnRole::Geometry)
    };
    let columns: Vec<usize> = (0..snapshot.columns.len()).filter(shown).collect();
    let schema = Arc::new(schema::batch_schema(snapshot, &columns)?);
    let newest_first = snapshot.date_column.is_some();
    let count = snapshot.rows.min(limits.rows as u64);
    let window = if newest_first { snapshot.rows - count..snapshot.rows } else { 0..count };
    let damaged = |error: ArrowError| {
        StorageFailure::damaged(&ObjectStorage::key(&snapshot.file), format!("preview: {error}"))
    };
    let mut scan = reader.scan_rows(snapshot, &columns, Arc::clone(&schema), window).await?;
    let plain = without_dictionaries(&schema);
    let mut excerpts = Vec::new();
    while let Some(batch) = scan.batches.try_next().await? {
        let plain = Arc::clone(&plain);
        // Moved, so that what was cut off is gone before the next batch is decoded.
        let cut = reader.workers().run(move || truncate_batch(&batch, plain, limits)).await;
        let stopped = |_| StorageFailure::ShuttingDown { what: ObjectStorage::key(&snapshot.file) };
        excerpts.push(cut.map_err(stopped)?.map_err(damaged)?);
    }
    let sample = concat_batches(&plain, &excerpts).map_err(damaged)?;
    if newest_first { reverse_rows(&sample).map_err(damaged) } else { Ok(sample) }
}

/// The same schema with text as text.
fn without_dictionaries(schema: &Schema) -> SchemaRef {
    let field = |field: &Arc<Field>| {
        let text = matches!(field.data_type(), DataType::Dictionary(..));
        Field::new(
            field.name(),
            if text { DataType::Utf8 } else { field.data_type().clone() },
            field.is_nullable(),
        )
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()))
}

/// The beginnings of the texts of `batch`, and its other values, copied: nothing of `batch` stays
/// in memory with them.
fn truncate_batch(
    batch: &RecordBatch,
    plain: SchemaRef,
    limits: PreviewLimits,
) -> Result<RecordBatch, ArrowError> {
    let mut left = vec![limits.row_bytes; batch.num_rows()];
    let all = UInt64Array::from_iter_values(0..batch.num_rows() as u64);
    let column = |column: &ArrayRef| -> Result<ArrayRef, ArrowError> {
        if let Some(texts) = column.as_string_opt::<i32>() {
            return Ok(Arc::new(truncate_texts(texts.iter(), &mut left, limits.characters)));
        }
        let keyed = column.as_dictionary_opt::<Int32Type>();
        if let Some(texts) = keyed.and_then(|keyed| keyed.downcast_dict::<StringArray>()) {
            return Ok(Arc::new(truncate_texts(texts.into_iter(), &mut left, limits.characters)));
        }
        let target = if keyed.is_some() { &DataType::Utf8 } else { column.data_type() };
        cast(&take(column, &all, None)?, target)
    };
    let columns: Vec<ArrayRef> = batch.columns().iter().map(column).collect::<Result<_, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(plain, columns, &options)
}

/// Bytes of each text that stay, given the bytes that are `left` of its row.
fn truncate_texts<'a>(
    texts: impl Iterator<Item = Option<&'a str>>,
    left: &mut [usize],
    characters: usize,
) -> StringArray {
    let beginning = |(text, left): (Option<&'a str>, &mut usize)| {
        let text = text?;
        let text = if *left == 0 { "" } else { text };
        let end = text.char_indices().nth(characters).map_or(text.len(), |(index, _)| index);
        *left = left.saturating_sub(end);
        Some(text.split_at(end).0)
    };
    texts.zip(left).map(beginning).collect()
}

fn reverse_rows(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let backwards = UInt64Array::from_iter_values((0..batch.num_rows() as u64).rev());
    take_record_batch(batch, &backwards)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use arrow::array::{DictionaryArray, Int64Array};

    use super::*;

    #[test]
    fn an_excerpt_keeps_beginnings_and_none_of_the_batch_contract_4() {
        let long = "ā".repeat(1 << 20);
        let texts: ArrayRef =
            Arc::new(StringArray::from(vec![Some(long.as_str()), None, Some("x")]));
        let words: DictionaryArray<Int32Type> =
            vec![Some(long.as_str()), Some("y"), None].into_iter().collect();
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1_000_000).slice(5, 3));
        let columns = [
            ("text", Arc::clone(&texts)),
            ("word", Arc::new(words)),
            ("number", numbers),
            ("last", texts),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        assert!(batch.get_array_memory_size() > 10 << 20);
        let limits = PreviewLimits { rows: 3, characters: 100, row_bytes: 350 };
        let excerpt =
            truncate_batch(&batch, without_dictionaries(&batch.schema()), limits).unwrap();
        assert!(excerpt.get_array_memory_size() < 4 << 10, "{}", excerpt.get_array_memory_size());
        let texts =
            |column: usize| excerpt.column(column).as_string::<i32>().iter().collect::<Vec<_>>();
        let beginning = "ā".repeat(100);
        assert_eq!(texts(0), [Some(beginning.as_str()), None, Some("x")]);
        assert_eq!(texts(1), [Some(beginning.as_str()), Some("y"), None]);
        assert_eq!(
            texts(3),
            [Some(""), None, Some("x")],
            "400 bytes of the first row were kept before, and 350 is all"
        );
        assert_eq!(excerpt.column(2).to_data(), Int64Array::from(vec![5, 6, 7]).to_data());
    }
}
