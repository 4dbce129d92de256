//! Schema of the rows of a response as its encoder is given it: an encoder that exports its
//! codelists is told the rows' key, the distinct values of columns with their labels and when the
//! rows were published too (contract-19-codelists).

use arrow::datatypes::{Schema, SchemaRef};
use yearbook_domain::metadata_key::{PRIMARY_KEY, ROLE};
use yearbook_domain::values::ValueLabels;
use yearbook_domain::{ColumnRole, ReadPlan, Snapshot};
use yearbook_sandbox::{BoxError, PluginEncoder, with_labelled_codes};
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
                let schema = with_time(schema, &plan.snapshot);
                let labels = own_labels(reader, &plan.snapshot).await?;
                Ok(with_labelled_codes(&schema, codes, |column, values| {
                    labels_of(&labels, &plan.snapshot, column, values)
                }))
            }
            Self::Transformed(rows) if encoder.description().codes => {
                coded_transformed(rows, reader).await
            }
            _ => self.schema(),
        }
    }
}

async fn coded_transformed(
    rows: &TransformedRows,
    reader: &Reader,
) -> Result<SchemaRef, StorageFailure> {
    let codes = rows.chain.codes().await.map_err(storage_failure)?;
    let labels = own_labels(reader, &rows.input).await?;
    let mut schema = rows.schema.as_ref().clone();
    let key = rows.chain.schema().metadata().get(PRIMARY_KEY).cloned();
    let mut metadata = schema.metadata().clone();
    metadata.extend(key.map(|key| (PRIMARY_KEY.to_owned(), key)));
    schema = schema.with_metadata(metadata);
    // The shape chooses among the chain's columns.
    let columns = rows.shape.columns.iter();
    let mut codes: Vec<Option<Vec<String>>> =
        columns.clone().map(|column| codes.get(*column).cloned().flatten()).collect();
    let origins: Vec<Option<&str>> =
        columns.map(|column| rows.chain.origins().get(*column)?.as_deref()).collect();
    let axis = rows.input.date_column.as_deref();
    for ((values, origin), field) in codes.iter_mut().zip(&origins).zip(schema.fields()) {
        // Another column may have days of before `start`, those that rows are compared with, say.
        let role = field.metadata().get(ROLE);
        let is_dated = role.is_some_and(|role| role == ColumnRole::Date.as_str());
        if let Some(days) = values.as_mut().filter(|_| is_dated && *origin == axis) {
            days.retain(|day| is_selected(day, &rows.plan));
        }
    }
    let schema = with_time(schema, &rows.input);
    Ok(with_labelled_codes(&schema, codes, |column, values| {
        let origin = *origins.get(schema.index_of(column).ok()?)?;
        labels_of(&labels, &rows.input, origin?, values)
    }))
}

/// Returns whether the dates of a plan let a day through.
fn is_selected(day: &str, plan: &ReadPlan) -> bool {
    // As text they have the order of time.
    plan.start.is_none_or(|start| start.as_str() <= day)
        && plan.end.is_none_or(|end| day <= end.as_str())
}

/// Labels of what is stored of a snapshot in the first language: rows know no other.
async fn own_labels(reader: &Reader, snapshot: &Snapshot) -> Result<ValueLabels, StorageFailure> {
    Ok(ValueLabels::new(reader.stored_values(snapshot).await?, None))
}

/// Labels of the values of a column; `None` where it has none.
fn labels_of<'a>(
    labels: &'a ValueLabels,
    snapshot: &'a Snapshot,
    column: &str,
    values: &[String],
) -> Option<Vec<Option<&'a str>>> {
    let position = snapshot.column_index(column)?;
    let column = snapshot.columns.get(position)?;
    let label = |value: &String| labels.label_of_text(column, position, value);
    labels.has_labels(column, position).then(|| values.iter().map(label).collect())
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
