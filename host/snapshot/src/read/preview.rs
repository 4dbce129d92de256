//! The sample that anybody may see (spec 4, `/preview`).

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow::compute::{cast, concat_batches, take_record_batch};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use futures::TryStreamExt;
use yearbook_domain::{Role, Snapshot};

use super::{Reader, shape};
use crate::{Failure, Files};

/// [`Reader::preview`].
pub(super) async fn preview(reader: &Reader, snapshot: &Snapshot, rows: usize) -> Result<RecordBatch, Failure> {
    let shown = |&position: &usize| snapshot.columns.get(position).is_some_and(|column| column.role != Role::Geometry);
    let columns: Vec<usize> = (0..snapshot.columns.len()).filter(shown).collect();
    let schema = Arc::new(shape::schema(snapshot, &columns)?);
    let newest_first = snapshot.date_column.is_some();
    let count = snapshot.rows.min(rows as u64);
    let window = if newest_first { snapshot.rows - count..snapshot.rows } else { 0..count };
    let scan = reader.rows(snapshot, &columns, Arc::clone(&schema), window).await?;
    // No more than `rows` rows.
    let batches: Vec<RecordBatch> = scan.batches.try_collect().await?;
    let arranged = concat_batches(&schema, &batches).and_then(|batch| {
        let plain = plain(&batch)?;
        if newest_first { reversed(&plain) } else { Ok(plain) }
    });
    arranged.map_err(|error| Failure::damaged(&Files::key(&snapshot.file), format!("preview: {error}")))
}

/// The same with text as text.
fn plain(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let mut fields = Vec::with_capacity(batch.num_columns());
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(batch.num_columns());
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        let text = matches!(field.data_type(), DataType::Dictionary(..));
        let target = if text { DataType::Utf8 } else { field.data_type().clone() };
        columns.push(cast(column, &target)?);
        fields.push(Field::new(field.name(), target, field.is_nullable()));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
}

fn reversed(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let backwards = UInt64Array::from_iter_values((0..batch.num_rows() as u64).rev());
    take_record_batch(batch, &backwards)
}
