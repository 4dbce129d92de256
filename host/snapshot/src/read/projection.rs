//! How the columns of a snapshot stand in its file and leave in batches.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, Metadata, Schema, SchemaRef};
use arrow::error::ArrowError;
use parquet::arrow::ProjectionMask;
use yearbook_domain::{Column, ColumnType, Credit, ReadPlan, Snapshot};

use super::ParquetFile;
use crate::StorageFailure;

/// Text whose distinct values are kept once.
pub(crate) fn dictionary() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// The Arrow type in which `column` is read.
pub(crate) fn output_type(column: &Column) -> DataType {
    match column.column_type {
        ColumnType::String | ColumnType::Date if column.few_values => dictionary(),
        ColumnType::String | ColumnType::Date => DataType::Utf8,
        ColumnType::Integer => DataType::Int64,
        ColumnType::Number => DataType::Float64,
        ColumnType::Boolean => DataType::Boolean,
    }
}

/// The schema of `columns` (positions in the snapshot), without metadata of its own.
pub(crate) fn schema(snapshot: &Snapshot, columns: &[usize]) -> Result<Schema, StorageFailure> {
    let field = |&position: &usize| match snapshot.columns.get(position) {
        Some(column) => Ok(with_column_metadata(
            Field::new(&column.name, output_type(column), column.nullable),
            column,
        )),
        None => Err(StorageFailure::Mismatch {
            what: format!("snapshot {}", snapshot.id),
            why: format!("it has no column {position}"),
        }),
    };
    Ok(Schema::new(columns.iter().map(field).collect::<Result<Vec<_>, _>>()?))
}

/// `field` with what `column` is for: the field metadata that the plugin interface lists.
pub(crate) fn with_column_metadata(field: Field, column: &Column) -> Field {
    let date = (column.column_type == ColumnType::Date).then_some(("yearbook.type", "date"));
    let unit = column.unit.as_deref().map(|unit| ("yearbook.unit", unit));
    let known = [Some(("yearbook.role", column.role.as_str())), date, unit].into_iter().flatten();
    field.with_metadata(known.collect::<Metadata>())
}

/// What must travel with the rows: the schema metadata that the plugin interface lists.
pub(crate) fn credit_metadata(plan: &ReadPlan) -> HashMap<String, String> {
    let credit = &plan.snapshot.credit;
    let always = [
        ("yearbook.dataset", plan.dataset.as_str()),
        ("yearbook.namespace", plan.namespace.as_str()),
        ("yearbook.snapshot_id", &plan.snapshot.id),
        ("yearbook.source", &credit.source),
        ("yearbook.licence", &credit.licence),
        ("yearbook.attribution", &credit.attribution),
    ];
    let known = [
        credit.source_url.as_deref().map(|url| ("yearbook.source_url", url)),
        credit.licence_title.as_deref().map(|title| ("yearbook.licence_title", title)),
        credit.licence_url.as_deref().map(|url| ("yearbook.licence_url", url)),
    ];
    let texts = always
        .into_iter()
        .chain(known.into_iter().flatten())
        .map(|(key, value)| (key.to_owned(), value.to_owned()));
    texts.chain(sources_json(credit).map(|json| ("yearbook.sources".to_owned(), json))).collect()
}

/// Writes `sources` as the JSON that metadata carries: an array of objects with `title` and `path`.
/// None without any.
pub(crate) fn sources_json(credit: &Credit) -> Option<String> {
    if credit.sources.is_empty() { None } else { serde_json::to_string(&credit.sources).ok() }
}

/// Which columns of a file are read, and how they become batches of the output schema.
pub(crate) struct Projection {
    /// Schema of the batches, in the order asked for.
    pub(crate) schema: SchemaRef,
    /// Columns of the file that are read, ascending.
    pub(crate) leaves: Vec<usize>,
    /// For each output column, its place among `leaves`.
    order: Vec<usize>,
}

impl Projection {
    /// Columns of `opened` by their position in its snapshot.
    pub(crate) fn new(
        opened: &ParquetFile,
        columns: &[usize],
        schema: SchemaRef,
    ) -> Result<Self, StorageFailure> {
        let wanted = columns
            .iter()
            .map(|&column| opened.column_index(column))
            .collect::<Result<Vec<_>, _>>()?;
        let mut leaves = wanted.clone();
        leaves.sort_unstable();
        leaves.dedup();
        let order =
            wanted.iter().map(|leaf| leaves.partition_point(|other| other < leaf)).collect();
        Ok(Self { schema, leaves, order })
    }

    /// The same as the decoder wants it.
    pub(crate) fn mask(&self, opened: &ParquetFile) -> ProjectionMask {
        ProjectionMask::leaves(
            opened.metadata.file_metadata().schema_descr(),
            self.leaves.iter().copied(),
        )
    }

    /// A batch in output order and schema of decoded `columns`, which are in the order of
    /// [`Projection::leaves`]. Fails where the file holds a null that the catalogue denies.
    pub(crate) fn arrange(
        &self,
        columns: &[ArrayRef],
        rows: usize,
    ) -> Result<RecordBatch, ArrowError> {
        let columns = self.order.iter().filter_map(|&index| columns.get(index).cloned()).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
    }
}
