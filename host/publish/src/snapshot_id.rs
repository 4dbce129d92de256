//! The snapshot id: SHA-256 over the canonical data and every word of the descriptor that reaches
//! bytes or headers (contract-7-id), never over the stored file. The same table as CSV and as
//! Parquet has the same id.
//!
//! The canonical data of a column are its values in the snapshot's order, as the digest of a result
//! takes them in ([`yearbook_domain::result_digest`]). Columns are hashed one by one, so that
//! neither batches nor input format show.

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use yearbook_domain::meaning::DatasetMeaning;
use yearbook_domain::{Cadence, Column, Credit, Digest, SnapshotId, TableLayout};
use yearbook_scan::ResultHasher;

use crate::package::{DataPackage, PackageLabels};

/// Part of every id; changes when the canonical form does.
const FORMAT_VERSION: &str = "yearbook-snapshot-1";

/// Returns the id of the ordered rows that `rows` has taken in, with the words of `package`.
pub(crate) fn snapshot_id(package: &DataPackage, rows: &ResultHasher) -> SnapshotId {
    let words = serde_json::to_vec(&IdentityFields::new(package)).unwrap_or_default();
    let mut hasher = Sha256::new();
    hasher.update(FORMAT_VERSION);
    hasher.update((words.len() as u64).to_le_bytes());
    hasher.update(&words);
    hasher.update(rows.rows().to_le_bytes());
    rows.column_hashes().for_each(|column| hasher.update(column));
    SnapshotId::from_digest(Digest::from_sha256(hasher.finalize().into()))
}

/// Everything of the descriptor that a client can see. The order of fields is part of the canonical
/// form.
#[derive(Serialize)]
struct IdentityFields<'a> {
    name: &'a str,
    namespace: &'a str,
    title: &'a Option<String>,
    description: &'a Option<String>,
    /// Left out where there are none.
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
    /// Left out, as what follows, where there are none.
    #[serde(skip_serializing_if = "PackageLabels::is_empty")]
    labels: &'a PackageLabels,
    #[serde(skip_serializing_if = "DatasetMeaning::is_empty")]
    meaning: &'a DatasetMeaning,
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
            labels: &package.labels,
            meaning: &package.meaning,
        }
    }
}
