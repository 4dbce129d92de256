//! Columns and rows of a reader as Arrow has them, checked.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use yearbook_domain::{ColumnRole, SourceColumn};
use yearbook_engine::{sanitize, sanitize_sentence};

use crate::guest::bindings::reader::exports::yearbook::plugin::reader as guest;
use crate::guest::check_arrays;
use crate::guest::parameters::quote;

/// Columns of a file at most.
const COLUMNS: usize = 16_384;

/// Longest name of a column, bytes; the rest is cut.
const NAME_BYTES: usize = 1024;

/// A column that a reader gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileColumn {
    /// Name that was asked for; where nothing was asked for, the file's own.
    pub name: String,
    /// Role, where the file tells.
    pub role: Option<ColumnRole>,
    /// Unit of the values, where the file tells.
    pub unit: Option<String>,
    /// One sentence, where the file tells.
    pub description: Option<String>,
}

/// Reads the columns that a guest returned for `requested`.
///
/// # Errors
/// The rule that they break.
pub(super) fn check_columns(
    found: Vec<guest::Column>,
    requested: &[SourceColumn],
) -> Result<(Vec<FileColumn>, SchemaRef), String> {
    let count = found.len();
    if count > COLUMNS || (!requested.is_empty() && count != requested.len()) {
        return Err(format!("{count} columns where {} were asked for", requested.len()));
    }
    let mut columns = Vec::with_capacity(count);
    let mut fields = Vec::with_capacity(count);
    for (position, field) in found.into_iter().enumerate() {
        let data_type = match field.format.as_str() {
            "u" => DataType::Utf8,
            "l" => DataType::Int64,
            "g" => DataType::Float64,
            "b" => DataType::Boolean,
            format => {
                return Err(format!(
                    "a column {} of the type {}; types are u, l, g and b",
                    quote(&field.name),
                    quote(format)
                ));
            }
        };
        if requested.get(position).is_some_and(|request| request.name != field.name) {
            return Err(format!("a column {} that is not the one asked for", quote(&field.name)));
        }
        // Where nothing was asked for, names are the file's own.
        let column = file_column(field);
        fields.push(Field::new(&column.name, data_type, true));
        columns.push(column);
    }
    Ok((columns, Arc::new(Schema::new(fields))))
}

fn file_column(column: guest::Column) -> FileColumn {
    let clean = |text: Option<String>| {
        text.map(|text| sanitize_sentence(&text)).filter(|text| !text.trim().is_empty())
    };
    let role = column.role.as_deref();
    FileColumn {
        role: ColumnRole::ALL.into_iter().find(|known| role == Some(known.as_str())),
        unit: clean(column.unit),
        description: clean(column.description),
        name: sanitize(&column.name, NAME_BYTES),
    }
}

/// Reads a batch that a guest returned.
///
/// # Errors
/// The rule that it breaks.
pub(super) fn check_batch(schema: &SchemaRef, batch: guest::Batch) -> Result<RecordBatch, String> {
    let guest::Batch { rows, arrays, buffers } = batch;
    let length = usize::try_from(rows).map_err(|_| "too many rows".to_owned())?;
    if length == 0 {
        return Err("a batch without rows".to_owned());
    }
    let fields = schema.fields().iter().map(|field| (field.name().as_str(), field.data_type()));
    let columns = check_arrays(rows, arrays, buffers, fields)?;
    let options = RecordBatchOptions::new().with_row_count(Some(length));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
        .map_err(|why| why.to_string())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn schema() -> SchemaRef {
        Arc::new(Schema::new(vec![
            Field::new("region", DataType::Utf8, true),
            Field::new("value", DataType::Float64, true),
        ]))
    }

    fn good() -> guest::Batch {
        let array =
            |null_count, buffers| guest::Array { length: 2, null_count, buffers, repeated: false };
        let offsets = [0_i32, 2, 3].iter().flat_map(|offset| offset.to_le_bytes()).collect();
        guest::Batch {
            rows: 2,
            arrays: vec![array(0, 3), array(1, 2)],
            buffers: vec![vec![], offsets, b"abc".to_vec(), vec![0b01], vec![0; 16]],
        }
    }

    #[test]
    fn a_batch_of_a_reader_is_taken_only_where_everything_of_it_fits_contract_7() {
        assert_eq!(check_batch(&schema(), good()).unwrap().num_rows(), 2);
        type Spoil = fn(&mut guest::Batch);
        let cases: [(&str, Spoil); 14] = [
            ("no rows", |b| b.rows = 0),
            ("more rows", |b| b.rows = 3),
            ("many rows", |b| b.rows = u32::MAX),
            ("an array too few", |b| b.arrays.truncate(b.arrays.len() - 1)),
            ("another length", |b| b.arrays[0].length = 1),
            ("a dictionary", |b| b.arrays[0].repeated = true),
            ("buffers of another type", |b| b.arrays[1].buffers = 3),
            ("a buffer too few", |b| drop(b.buffers.pop())),
            ("a buffer too many", |b| b.buffers.push(vec![])),
            ("descending offsets", |b| {
                b.buffers[1] = [0_i32, 3, 2].iter().flat_map(|o| o.to_le_bytes()).collect()
            }),
            ("offsets out of bounds", |b| {
                b.buffers[1] = [0_i32, 2, 9].iter().flat_map(|o| o.to_le_bytes()).collect()
            }),
            ("no UTF-8", |b| b.buffers[2] = vec![0xff; 3]),
            ("values too short", |b| b.buffers[4] = vec![0; 15]),
            ("miscounted nulls", |b| b.arrays[1].null_count = 2),
        ];
        for (name, spoil) in cases {
            let mut batch = good();
            spoil(&mut batch);
            assert!(check_batch(&schema(), batch).is_err(), "{name}");
        }
        let mut unclaimed = good();
        unclaimed.arrays[1].null_count = 0;
        assert!(check_batch(&schema(), unclaimed).unwrap_err().contains("value"));
    }
}
