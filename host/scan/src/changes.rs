//! Rows of change files on their way out, through the same scan as every other row.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray};
use arrow::datatypes::{Field, Int32Type, Schema, SchemaRef};
use arrow::error::ArrowError;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use tokio::runtime::Handle;
use yearbook_domain::changes::{CHANGE_TYPE, COMMITTED_AT, ChangeSet, ROW, SNAPSHOT_ID};
use yearbook_domain::{Column, ColumnRole, DatasetName, Namespace, ReadPlan, Snapshot, SnapshotId};
use yearbook_storage::ObjectStorage;

use crate::scan::Scan;
use crate::schema::{
    change_file_columns, credit_metadata, dictionary, unchecked_schema, with_column_metadata,
};
use crate::{Reader, RowCounts, StorageFailure};

/// Changes that are read for one response.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangesPlan {
    /// The dataset.
    pub dataset: DatasetName,
    /// Its namespace.
    pub namespace: Namespace,
    /// The current snapshot, whose credit travels with the rows.
    pub snapshot: Arc<Snapshot>,
    /// Columns of every part, in order.
    pub columns: Vec<Column>,
    /// Includes geometry columns if set.
    pub geometry: bool,
    /// Rows of change files, in order; all have `columns`.
    pub parts: Vec<(ChangeSet, Range<u64>)>,
}

impl ChangesPlan {
    /// The schema of [`Reader::changes`], with the credits as metadata. No I/O.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        schema(self)
    }
}

impl Reader {
    /// Starts reading changes: the plan's columns, then `_change_type`, `_snapshot_id` and
    /// `_committed_at`. The rest is as with [`Reader::scan`].
    ///
    /// # Errors
    /// A [`StorageFailure`] that names the stored file. The stream ends after its first failure.
    pub async fn changes(&self, plan: &ChangesPlan) -> Result<Scan, StorageFailure> {
        let schema = plan.schema();
        let mut parts = plan.parts.clone().into_iter();
        let plan = Arc::new(ChangesPlan { parts: Vec::new(), ..plan.clone() });
        let part = |part: (ChangeSet, Range<u64>)| {
            let (reader, plan, schema) = (self.clone(), Arc::clone(&plan), Arc::clone(&schema));
            async move { reader.scan_change_file(&plan, part, schema).await }
        };
        // Opened now, so that a missing file is found before the first byte is sent.
        let first = match parts.next() {
            Some(first) => part(first).await?,
            None => stream::empty().boxed(),
        };
        // The others when it is their turn; on the runtime where the store needs one, because the
        // stream may be polled outside of it.
        let runtime = (!self.is_local()).then(Handle::current);
        let rest: Vec<_> = parts.map(part).collect();
        let rest = stream::iter(rest).then(move |part| {
            let runtime = runtime.clone();
            async move {
                let Some(runtime) = runtime else { return part.await };
                runtime.spawn(part).await.map_err(|_| StorageFailure::ShuttingDown {
                    what: "a file of changes".to_owned(),
                })?
            }
        });
        Ok(Scan {
            schema,
            counts: RowCounts::default(),
            batches: end_after_failure(first.chain(rest.try_flatten()).boxed()),
        })
    }

    async fn scan_change_file(
        &self,
        plan: &ChangesPlan,
        (set, rows): (ChangeSet, Range<u64>),
        schema: SchemaRef,
    ) -> Result<BoxStream<'static, Result<RecordBatch, StorageFailure>>, StorageFailure> {
        let columns = change_file_columns(&set.columns);
        let wanted = |column: &Column| {
            column.name != ROW && (plan.geometry || column.role != ColumnRole::Geometry)
        };
        let positions: Vec<usize> = (0..columns.len())
            .filter(|position| columns.get(*position).is_some_and(wanted))
            .collect();
        let key = ObjectStorage::key(&set.file);
        // To the scan, a file of changes is a snapshot without date axis or key.
        let file = Snapshot {
            id: SnapshotId::from_digest(set.file.sha256),
            rows: set.rows,
            file: set.file.clone(),
            columns,
            primary_key: Vec::new(),
            dimensions: Vec::new(),
            date_column: None,
            date_range: None,
            ..Snapshot::clone(&plan.snapshot)
        };
        let stored = Arc::new(Schema::new(
            schema.fields().iter().take(positions.len()).cloned().collect::<Vec<_>>(),
        ));
        let scan = self.scan_rows(&file, &positions, stored, rows).await?;
        let (id, at) = (set.to, set.committed_at.to_rfc3339());
        let complete = move |batch: RecordBatch| {
            let whole = append_origin(&batch, &schema, id.as_str(), &at);
            whole.map_err(|error| StorageFailure::damaged(&key, format!("its columns: {error}")))
        };
        Ok(scan.batches.map(move |batch| batch.and_then(&complete)).boxed())
    }
}

/// Ends a stream after its first failure.
fn end_after_failure(
    batches: BoxStream<'static, Result<RecordBatch, StorageFailure>>,
) -> BoxStream<'static, Result<RecordBatch, StorageFailure>> {
    let mut failed = false;
    let until = move |batch: &Result<RecordBatch, StorageFailure>| {
        let goes_on = !failed;
        failed = batch.is_err();
        std::future::ready(goes_on)
    };
    batches.take_while(until).boxed()
}

fn schema(plan: &ChangesPlan) -> SchemaRef {
    let columns: Vec<Column> = plan
        .columns
        .iter()
        .filter(|column| plan.geometry || column.role != ColumnRole::Geometry)
        .cloned()
        .collect();
    let repeated = dictionary();
    let own = [CHANGE_TYPE, SNAPSHOT_ID, COMMITTED_AT]
        .map(|name| Arc::new(Field::new(name, repeated.clone(), false)));
    let stored = unchecked_schema(&columns);
    let fields = stored
        .fields()
        .iter()
        .zip(&columns)
        .map(|(field, column)| Arc::new(with_column_metadata(Field::clone(field), column)));
    let fields: Vec<_> = fields.chain(own).collect();
    let credit = ReadPlan::full_scan(
        plan.dataset.clone(),
        plan.namespace.clone(),
        Arc::clone(&plan.snapshot),
    );
    Arc::new(Schema::new(fields).with_metadata(credit_metadata(&credit)))
}

/// `batch` with the snapshot and the instant that its changes came with.
fn append_origin(
    batch: &RecordBatch,
    schema: &SchemaRef,
    id: &str,
    at: &str,
) -> Result<RecordBatch, ArrowError> {
    let repeated = |text: &str| -> Result<ArrayRef, ArrowError> {
        let keys = Int32Array::from_value(0, batch.num_rows());
        let values = Arc::new(StringArray::from_iter_values([text]));
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, values)?))
    };
    let columns = batch.columns().iter().cloned().chain([repeated(id)?, repeated(at)?]).collect();
    RecordBatch::try_new(Arc::clone(schema), columns)
}
