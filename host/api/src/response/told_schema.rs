//! Schema of the rows of a response as its encoder is given it: an encoder that exports its
//! codelists is told the rows' key, the distinct values of columns with their labels and when the
//! rows were published too (contract-19-codelists).

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use yearbook_domain::Snapshot;
use yearbook_domain::metadata_key::PRIMARY_KEY;
use yearbook_domain::values::{StoredValues, ValueLabels};
use yearbook_sandbox::{BoxError, PluginEncoder, with_code_labels, with_codes};
use yearbook_scan::Reader;
use yearbook_storage::StorageFailure;

use super::plan::{RowSource, TransformedRows};

/// Time of the snapshot's publication, RFC 3339. Encoders without codelists are not told, since
/// some of them write all metadata, and what they wrote would change.
const PUBLISHED_AT: &str = "yearbook.published_at";

impl RowSource {
    /// Schema of the batches for `encoder`. What is told of stored values is read by `reader`.
    ///
    /// # Errors
    /// [`StorageFailure`] of the stored values; see [`RowSource::schema`].
    pub(crate) async fn schema_for(
        &self,
        encoder: &PluginEncoder,
        reader: &Reader,
    ) -> Result<SchemaRef, StorageFailure> {
        match self {
            Self::Snapshot(plan) if encoder.description().codes => {
                let (schema, codes) = reader.coded_schema(plan).await?;
                let schema = with_codes(&with_time(schema, &plan.snapshot), codes);
                let stored = reader.stored_values(&plan.snapshot).await?;
                Ok(with_labels(&schema, &plan.snapshot, stored))
            }
            Self::Transformed(rows) if encoder.description().codes => {
                coded_transformed(rows).await.map_err(storage_failure)
            }
            _ => self.schema(),
        }
    }
}

async fn coded_transformed(rows: &TransformedRows) -> Result<SchemaRef, BoxError> {
    // The shape chooses among the chain's columns.
    let codes = rows.chain.codes().await?;
    let mut schema = rows.schema.as_ref().clone();
    let key = rows.chain.schema().metadata().get(PRIMARY_KEY).cloned();
    let mut metadata = schema.metadata().clone();
    metadata.extend(key.map(|key| (PRIMARY_KEY.to_owned(), key)));
    schema = schema.with_metadata(metadata);
    let codes = rows.shape.columns.iter().map(|column| codes.get(*column).cloned().flatten());
    Ok(with_codes(&with_time(schema, &rows.plan.snapshot), codes.collect()))
}

/// Adds the labels of values in the first language: rows know no other.
fn with_labels(
    schema: &SchemaRef,
    snapshot: &Snapshot,
    stored: Option<Arc<StoredValues>>,
) -> SchemaRef {
    let labels = ValueLabels::new(stored, None);
    let mut columns = snapshot.columns.iter().enumerate();
    if !columns.any(|(position, column)| labels.has_labels(column, position)) {
        return Arc::clone(schema);
    }
    with_code_labels(schema, |name, value| {
        let position = snapshot.column_index(name)?;
        labels.label_of_text(snapshot.columns.get(position)?, position, value)
    })
}

fn with_time(schema: Schema, snapshot: &Snapshot) -> Schema {
    let mut metadata = schema.metadata().clone();
    metadata.insert(PUBLISHED_AT.to_owned(), snapshot.created_at.to_rfc3339());
    schema.with_metadata(metadata)
}

fn storage_failure(cause: BoxError) -> StorageFailure {
    match cause.downcast::<StorageFailure>() {
        Ok(failure) => *failure,
        Err(cause) => StorageFailure::Mismatch {
            what: "values of a column".to_owned(),
            why: cause.to_string(),
        },
    }
}
