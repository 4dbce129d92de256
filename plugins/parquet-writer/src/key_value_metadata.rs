//! The file's key-value metadata: what the schema carries, and the Arrow schema for readers that
//! know it.

use parquet::arrow::{ARROW_SCHEMA_META_KEY, encode_arrow_schema};
use yearbook_sdk::{Error, Field, Schema};

/// All pairs, `more` in front of the Arrow schema.
///
/// # Errors
/// As [`yearbook_sdk::arrow::schema`].
pub(crate) fn pairs(
    schema: &Schema,
    more: &[(String, String)],
) -> Result<Vec<(String, String)>, Error> {
    let arrow = yearbook_sdk::arrow::schema(&plain(schema))?;
    let mut pairs = schema.metadata.clone();
    pairs.extend_from_slice(more);
    pairs.push((ARROW_SCHEMA_META_KEY.to_owned(), encode_arrow_schema(&arrow)));
    Ok(pairs)
}

/// The schema as readers see it: dictionaries are ours and the host's affair.
pub(crate) fn plain(schema: &Schema) -> Schema {
    let plain = |field: &Field| match &field.dictionary {
        Some(values) => Field {
            name: field.name.clone(),
            nullable: field.nullable,
            metadata: field.metadata.clone(),
            ..(**values).clone()
        },
        None => field.clone(),
    };
    Schema { fields: schema.fields.iter().map(plain).collect(), metadata: schema.metadata.clone() }
}
