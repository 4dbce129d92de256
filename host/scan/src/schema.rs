//! Arrow schemas of stored columns: as they are stored, as they are read, and the metadata that
//! travels with them. Pure: reads no file and knows no row.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Metadata, Schema, SchemaRef};
use yearbook_domain::changes::{CHANGE_TYPE, ROW};
use yearbook_domain::metadata_key::{OF, PRIMARY_KEY, ROLE, STATUS, STATUSES, TYPE, UNIT};
use yearbook_domain::{
    Column, ColumnRole, ColumnType, Credit, DatasetName, Namespace, ReadPlan, Snapshot, SnapshotId,
    TextTraits,
};

use crate::StorageFailure;

/// Key of a dataset's title in the metadata of the rows of a picture, which shows it above them.
pub const PICTURE_TITLE: &str = "yearbook.title";

/// The type in which a column is held and stored. Dates are text (spec-2.2-dates).
#[must_use]
pub fn stored_type(column_type: ColumnType) -> DataType {
    match column_type {
        ColumnType::String | ColumnType::Date => DataType::Utf8,
        ColumnType::Integer => DataType::Int64,
        ColumnType::Number => DataType::Float64,
        ColumnType::Boolean => DataType::Boolean,
    }
}

/// The schema of the stored file, without metadata.
#[must_use]
pub fn stored_schema(columns: &[Column]) -> SchemaRef {
    let fields: Vec<Field> = columns
        .iter()
        .map(|column| Field::new(&column.name, stored_type(column.column_type), column.nullable))
        .collect();
    Arc::new(Schema::new(fields))
}

/// The same with every column nullable: what holds rows until they have been checked.
#[must_use]
pub fn unchecked_schema(columns: &[Column]) -> SchemaRef {
    let fields: Vec<Field> = columns
        .iter()
        .map(|column| Field::new(&column.name, stored_type(column.column_type), true))
        .collect();
    Arc::new(Schema::new(fields))
}

/// Columns of a file of changes: those of the newer snapshot, any of which may be null in rows of
/// the older one, the kind of change, and the number of the row.
#[must_use]
pub fn change_file_columns(columns: &[Column]) -> Vec<Column> {
    let own = |name: &str, column_type: ColumnType| Column {
        name: name.to_owned(),
        column_type,
        nullable: column_type == ColumnType::Integer,
        role: ColumnRole::Attribute,
        unit: None,
        description: None,
        few_values: column_type == ColumnType::String,
        text_traits: TextTraits::empty(),
        meaning: None,
    };
    columns
        .iter()
        .map(|column| Column {
            nullable: true,
            few_values: false,
            // Rows of the older snapshot stand in the file, too.
            text_traits: TextTraits::empty(),
            meaning: None,
            ..column.clone()
        })
        .chain([own(CHANGE_TYPE, ColumnType::String), own(ROW, ColumnType::Integer)])
        .collect()
}

/// Returns `schema` with the key of the rows of `snapshot`, where they have one.
#[must_use]
pub fn with_key(schema: &Schema, snapshot: &Snapshot) -> Schema {
    let mut metadata = schema.metadata().clone();
    if !snapshot.primary_key.is_empty() {
        let key: Vec<&str> = snapshot.primary_key.iter().map(|name| &**name).collect();
        metadata.insert(PRIMARY_KEY.to_owned(), serde_json::json!(key).to_string());
    }
    schema.clone().with_metadata(metadata)
}

/// Returns `schema` with all statuses of the rows of `snapshot`, where it has some.
pub(crate) fn with_statuses(schema: Schema, snapshot: &Snapshot) -> Schema {
    let of = |column: &Column| Some(column.status()?.of.clone());
    let statuses = snapshot.columns.iter().filter_map(|column| {
        let names: Vec<String> = [column.name.clone()].into_iter().chain(of(column)?).collect();
        Some(names)
    });
    let statuses: Vec<_> = statuses.collect();
    if statuses.is_empty() {
        return schema;
    }
    let mut metadata = schema.metadata().clone();
    metadata.insert(STATUSES.to_owned(), serde_json::json!(statuses).to_string());
    schema.with_metadata(metadata)
}

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
///
/// # Errors
/// [`StorageFailure::Mismatch`] for a column that the snapshot does not have.
pub fn batch_schema(snapshot: &Snapshot, columns: &[usize]) -> Result<Schema, StorageFailure> {
    let field = |&position: &usize| match snapshot.columns.get(position) {
        Some(column) => Ok(with_text_traits(
            with_column_metadata(
                Field::new(&column.name, output_type(column), column.nullable),
                column,
            ),
            column,
        )),
        None => Err(StorageFailure::Mismatch {
            what: format!("snapshot {}", snapshot.id),
            why: format!("it has no column {position}"),
        }),
    };
    Ok(Schema::new(columns.iter().map(field).collect::<Result<Vec<_>, _>>()?))
}

/// The schema of `columns` (positions in the snapshot) with the credit of `plan`.
pub(crate) fn credited_schema(
    plan: &ReadPlan,
    columns: &[usize],
) -> Result<SchemaRef, StorageFailure> {
    let bare = batch_schema(&plan.snapshot, columns)?;
    Ok(Arc::new(bare.with_metadata(credit_metadata(plan))))
}

/// The field in which `column` is read, every text plain.
#[must_use]
pub fn plain_field(column: &Column) -> Field {
    let plain = Column { few_values: false, ..column.clone() };
    with_column_metadata(Field::new(&plain.name, output_type(&plain), plain.nullable), &plain)
}

/// `field` with the role of `column`: the field metadata that the plugin interface lists.
pub(crate) fn with_column_metadata(field: Field, column: &Column) -> Field {
    let date = (column.column_type == ColumnType::Date).then_some((TYPE, "date"));
    let unit = column.unit.as_deref().map(|unit| (UNIT, unit));
    let codes = column.status().map(|status| (STATUS, status.codes.name()));
    let known = [Some((ROLE, column.role.as_str())), date, unit, codes].into_iter().flatten();
    let mut metadata = known.collect::<Metadata>();
    let of = column.status().and_then(|status| serde_json::to_string(&status.of).ok());
    metadata.extend(of.map(|of| (OF, of)));
    field.with_metadata(metadata)
}

/// `field` with what is known of the column's text, for the sandbox alone.
fn with_text_traits(mut field: Field, column: &Column) -> Field {
    if !column.text_traits.is_empty() {
        let traits = column.text_traits.to_field_value();
        field.metadata_mut().insert(TextTraits::FIELD_KEY.to_owned(), traits);
    }
    field
}

/// Credit of a dataset as key-value metadata, under the names that the plugin interface lists and
/// in the order in which stored files have them: a stored file is named by its bytes.
#[must_use]
pub fn credit_entries(
    dataset: &DatasetName,
    namespace: &Namespace,
    snapshot_id: &SnapshotId,
    credit: &Credit,
) -> Vec<(&'static str, String)> {
    let mut entries = vec![
        ("yearbook.dataset", dataset.to_string()),
        ("yearbook.namespace", namespace.to_string()),
        ("yearbook.snapshot_id", snapshot_id.to_string()),
        ("yearbook.source", credit.source.clone()),
    ];
    entries.extend(credit.source_url.clone().map(|url| ("yearbook.source_url", url)));
    entries.push(("yearbook.licence", credit.licence.clone()));
    entries.extend(credit.licence_title.clone().map(|title| ("yearbook.licence_title", title)));
    entries.extend(credit.licence_url.clone().map(|url| ("yearbook.licence_url", url)));
    entries.extend(sources_json(credit).map(|json| ("yearbook.sources", json)));
    entries.push(("yearbook.attribution", credit.attribution.clone()));
    entries
}

/// Returns whether `schema` says this credit. A table of revisions is credited to the versions that
/// are asked for, whatever file has its rows.
pub(crate) fn has_credit(schema: &Schema, credit: &Credit) -> bool {
    let says = |key: &str, text: &String| schema.metadata().get(key) == Some(text);
    says("yearbook.attribution", &credit.attribution) && says("yearbook.licence", &credit.licence)
}

/// Schema metadata of the batches that `plan` reads: [`credit_entries`], and notes where there are
/// some, one a line.
#[must_use]
pub fn credit_metadata(plan: &ReadPlan) -> HashMap<String, String> {
    let snapshot = &plan.snapshot;
    let notes: Vec<&str> =
        snapshot.meaning.notes.iter().map(|note| note.text.text.as_str()).collect();
    let notes = (!notes.is_empty()).then(|| notes.join("\n"));
    credit_entries(&plan.dataset, &plan.namespace, &snapshot.id, &snapshot.credit)
        .into_iter()
        .chain(notes.map(|notes| ("yearbook.notes", notes)))
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// `sources` as the JSON that metadata carries: an array of objects with `title` and `path`. None
/// without any.
fn sources_json(credit: &Credit) -> Option<String> {
    if credit.sources.is_empty() { None } else { serde_json::to_string(&credit.sources).ok() }
}
