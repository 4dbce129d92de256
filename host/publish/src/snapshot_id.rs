//! The snapshot id: SHA-256 over the canonical data and every word of the descriptor that reaches
//! bytes or headers (contract-7-id), never over the stored file. The same table as CSV and as
//! Parquet has the same id.
//!
//! Canonical data: for each column one stream of its values in the snapshot's order, each a tag (0
//! null, 1 value) and, for a value, text as length (u32) and UTF-8, integers and floats as 8 bytes,
//! booleans as 1; little-endian. Streams are hashed one by one, so that neither batches nor input
//! format show.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use yearbook_domain::{Cadence, Column, Credit, Digest, SnapshotId, TableLayout};

use crate::package::DataPackage;

/// Part of every id; changes when the canonical form does.
const FORMAT_VERSION: &str = "yearbook-snapshot-1";

/// An id being computed.
pub(crate) struct SnapshotIdHasher {
    columns: Vec<Sha256>,
    rows: u64,
    /// Values of one column of one batch, reused.
    scratch: Vec<u8>,
}

impl SnapshotIdHasher {
    pub(crate) fn new(columns: usize) -> Self {
        Self { columns: vec![Sha256::new(); columns], rows: 0, scratch: Vec::new() }
    }

    /// Takes in the next rows of the ordered table.
    pub(crate) fn update(&mut self, batch: &RecordBatch) {
        self.rows += batch.num_rows() as u64;
        for (hasher, array) in self.columns.iter_mut().zip(batch.columns()) {
            self.scratch.clear();
            write_canonical(array.as_ref(), &mut self.scratch);
            hasher.update(&self.scratch);
        }
    }

    /// The id of these rows with this package's words.
    pub(crate) fn finish(self, package: &DataPackage) -> SnapshotId {
        let words = serde_json::to_vec(&IdentityFields::new(package)).unwrap_or_default();
        let mut hasher = Sha256::new();
        hasher.update(FORMAT_VERSION);
        hasher.update((words.len() as u64).to_le_bytes());
        hasher.update(&words);
        hasher.update(self.rows.to_le_bytes());
        for column in self.columns {
            hasher.update(column.finalize());
        }
        SnapshotId::from_digest(Digest::from_sha256(hasher.finalize().into()))
    }
}

fn write_canonical(array: &dyn Array, out: &mut Vec<u8>) {
    fn write_values<T>(
        values: impl Iterator<Item = Option<T>>,
        out: &mut Vec<u8>,
        write: impl Fn(T, &mut Vec<u8>),
    ) {
        for value in values {
            match value {
                None => out.push(0),
                Some(value) => {
                    out.push(1);
                    write(value, out);
                }
            }
        }
    }
    match array.data_type() {
        DataType::Int64 => write_values(array.as_primitive::<Int64Type>().iter(), out, |v, out| {
            out.extend(v.to_le_bytes())
        }),
        DataType::Float64 => {
            write_values(array.as_primitive::<Float64Type>().iter(), out, |v, out| {
                out.extend(v.to_bits().to_le_bytes())
            })
        }
        DataType::Boolean => {
            write_values(array.as_boolean().iter(), out, |v, out| out.push(u8::from(v)))
        }
        // Stored columns have no other type (`table::stored_type`). A text within a batch is
        // under 2 GiB.
        _ => write_values(array.as_string::<i32>().iter(), out, |v: &str, out| {
            out.extend(u32::try_from(v.len()).unwrap_or(u32::MAX).to_le_bytes());
            out.extend(v.as_bytes());
        }),
    }
}

/// Everything of the descriptor that a client can see. The order of fields is part of the canonical
/// form.
#[derive(Serialize)]
struct IdentityFields<'a> {
    name: &'a str,
    namespace: &'a str,
    title: &'a Option<String>,
    description: &'a Option<String>,
    /// Left out where there are none, so that ids from before they were kept stay as they are.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    keywords: &'a [String],
    credit: &'a Credit,
    refresh_cadence: Option<Cadence>,
    bulk_redistribution: bool,
    columns: &'a [Column],
    primary_key: &'a [String],
    dimensions: &'a [String],
    date_column: &'a Option<String>,
    layout: TableLayout,
}

impl<'a> IdentityFields<'a> {
    fn new(package: &'a DataPackage) -> Self {
        Self {
            name: package.name.as_str(),
            namespace: package.namespace.as_str(),
            title: &package.title,
            description: &package.description,
            keywords: &package.keywords,
            credit: &package.credit,
            refresh_cadence: package.refresh_cadence,
            bulk_redistribution: package.bulk_redistribution,
            // As the package has them: `few_values` is always false here, being a matter of the
            // file.
            columns: &package.columns,
            primary_key: &package.primary_key,
            dimensions: &package.dimensions,
            date_column: &package.date_column,
            layout: package.layout,
        }
    }
}
