//! Row groups that no change falls into are copied, and the file is the one of then.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;

use futures::TryStreamExt as _;
use serde_json::json;
use yearbook_scan::Reader;

use super::super::rewind::SegmentChanges;
use super::super::rewound_rows::RewoundRows;
use super::*;
use crate::publish::stages::TablePart;
use crate::{DataPackage, SilentReporter, SnapshotDraft, publish};

/// Number and text of each row.
type Table = BTreeMap<usize, String>;

async fn publish_table(
    fixture: &Fixture,
    rows: &Table,
    current: Option<&Snapshot>,
) -> SnapshotDraft {
    let mut csv = "id,text,half,even\n".to_owned();
    for (id, text) in rows {
        let _ = writeln!(csv, "{id},{text},{}.5,{}", id / 2, id % 4 == 0);
    }
    let descriptor = json!({
        "name": "a_table",
        "licenses": [{"name": "CC-BY-4.0"}],
        "sources": [{"title": "Stats NZ", "path": "https://stats.govt.nz/a"}],
        "resources": [{"path": "table.csv", "schema": {
            "fields": [
                {"name": "id", "type": "integer"}, {"name": "text", "type": "string"},
                {"name": "half", "type": "number"}, {"name": "even", "type": "boolean"},
            ],
            "primaryKey": ["id"],
        }}],
        "yearbook": {"namespace": "tests"},
    });
    let folder = fixture.folder.path();
    std::fs::write(folder.join("table.csv"), csv).unwrap();
    std::fs::write(folder.join("datapackage.json"), descriptor.to_string()).unwrap();
    let package = DataPackage::open(folder).unwrap();
    publish(&fixture.files, &fixture.workers, &package, current, &SilentReporter).await.unwrap()
}

/// Makes `older` again of what followed it, and returns the number of row groups that were copied.
async fn copies(older: &Table, newer: &Table) -> usize {
    let fixture = Fixture::new();
    let before = publish_table(&fixture, older, None).await;
    let after = publish_table(&fixture, newer, Some(&before.snapshot)).await;
    let snapshot = &before.snapshot;
    let changes = vec![ChangeSet { version: 1, ..after.changes.unwrap() }];
    let segment = HistorySegment { first: 0, last: after.snapshot, changes };
    let (name, namespace) = names();
    let digest = before.facts.unwrap().digest;
    let version = RestoredVersion { name: &name, namespace: &namespace, snapshot, digest };
    let memory = PublishMemory::default();
    let made = restore(memory, &fixture.files, &fixture.workers, version, &segment).await;
    assert_eq!(*made.unwrap().stored(), snapshot.file);

    let (workers, columns) = (&fixture.workers, (snapshot.columns.as_slice(), vec![0]));
    let reader = Reader::new(fixture.files.clone(), Arc::clone(workers));
    let changes = SegmentChanges::read(workers, &reader, columns, &segment, 1 << 20).await.unwrap();
    let rows = RewoundRows::open(reader, &changes, snapshot, &segment.last).await.unwrap();
    let parts: Vec<TablePart> = rows.parts(workers).try_collect().await.unwrap();
    parts.iter().filter(|part| matches!(part, TablePart::Copy(_))).count()
}

/// Tables of three row groups: full ones, and such as end with their bytes, of sixteen rows but for
/// the last.
fn tables() -> [(Table, usize); 2] {
    let narrow = (0..300_000).map(|id| (2 * id, format!("t{}", id % 7))).collect();
    let wide = (0..40).map(|id| (2 * id, "x".repeat((1 << 20) - 50 + id % 3))).collect();
    [(narrow, 131_072), (wide, 15)]
}

#[tokio::test]
async fn row_groups_without_a_change_are_copied_contract_21() {
    for (table, group) in tables() {
        let last = *table.keys().next_back().unwrap();
        let changed = |ids: &[usize], change: fn(&mut Table, usize)| {
            let mut older = table.clone();
            ids.iter().for_each(|id| change(&mut older, *id));
            older
        };
        let revise = |rows: &mut Table, id: usize| drop(rows.insert(id, "revised".to_owned()));
        let remove = |rows: &mut Table, id: usize| drop(rows.remove(&id));
        let groups = table.len().div_ceil(group);
        for (what, older, expected) in [
            ("the last row was another", changed(&[last], revise), groups - 1),
            ("rows came behind the last", changed(&[last, last - 2], remove), groups - 1),
            ("the last row went", changed(&[last + 2], revise), groups - 1),
            ("the first row came", changed(&[0], remove), 0),
        ] {
            assert_eq!(copies(&older, &table).await, expected, "{what}, of {group} rows");
        }
    }
    // What comes behind a full row group has no say in where it ends.
    let [(narrow, group), (wide, wide_group)] = tables();
    let mut older = narrow.clone();
    older.insert(2 * (group + 3), "revised".to_owned());
    assert_eq!(copies(&older, &narrow).await, 2);
    older.insert(2 * group - 1, "between two".to_owned());
    assert_eq!(copies(&older, &narrow).await, 1);
    let mut older = wide.clone();
    older.insert(2 * (wide_group + 1), "y".repeat(1 << 20));
    let copied = copies(&older, &wide).await;
    assert!((1..3).contains(&copied), "{copied}");
}
