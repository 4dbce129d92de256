//! Values for the tests of this crate.

use crate::meaning::DatasetMeaning;
use crate::{Column, Credit, Digest, Millis, Snapshot, SnapshotId, StoredFile, TableLayout};

/// A snapshot of one row that says as little as it can.
pub(crate) fn snapshot(columns: Vec<Column>) -> Snapshot {
    Snapshot {
        id: SnapshotId::from_digest(Digest::compute(b"s1")),
        created_at: Millis(0),
        rows: 1,
        file: StoredFile { sha256: Digest::compute(b""), bytes: 1 },
        title: None,
        description: None,
        keywords: Vec::new(),
        credit: Credit {
            source: "A".to_owned(),
            attribution: "A".to_owned(),
            licence: "CC-BY-4.0".to_owned(),
            licence_title: None,
            licence_url: None,
            source_url: None,
            source_url_precision: None,
            sources: Vec::new(),
        },
        refresh_cadence: None,
        bulk_redistribution: true,
        columns,
        primary_key: Vec::new(),
        dimensions: Vec::new(),
        date_column: None,
        date_range: None,
        layout: TableLayout::Long,
        bbox: None,
        meaning: DatasetMeaning::default(),
    }
}
