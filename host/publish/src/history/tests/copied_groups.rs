//! Row groups that no change falls into are copied, and the file is the one of then.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;

use futures::TryStreamExt as _;
use serde_json::json;
use yearbook_scan::Reader;

use super::super::rewound_rows::RewoundRows;
use super::*;
use crate::publish::stages::TablePart;
use crate::{DataPackage, SilentReporter, SnapshotDraft, publish};

/// Number of each row, its text and a half.
type Table = BTreeMap<usize, (String, f64)>;

async fn publish_table(
    fixture: &Fixture,
    rows: &Table,
    current: Option<&Snapshot>,
) -> SnapshotDraft {
    let mut csv = "id,text,half,even\n".to_owned();
    for (id, (text, half)) in rows {
        let _ = writeln!(csv, "{id},{text},{half},{}", id % 4 == 0);
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
    let (files, workers) = (&fixture.files, &fixture.workers);
    Box::pin(publish(files, workers, &package, current, &SilentReporter)).await.unwrap()
}

/// Makes the first of `versions` again of the last, and returns the number of row groups that were
/// copied, and of those with columns that were revised.
async fn copies(versions: &[&Table]) -> [usize; 2] {
    let fixture = Fixture::new();
    let [older, newer @ ..] = versions else { panic!("no version") };
    let before = publish_table(&fixture, older, None).await;
    let mut last = before.snapshot.clone();
    let mut changes = Vec::new();
    for (version, table) in newer.iter().enumerate() {
        let after = publish_table(&fixture, table, Some(&last)).await;
        changes.push(ChangeSet { version: version as u64 + 1, ..after.changes.unwrap() });
        last = after.snapshot;
    }
    let snapshot = &before.snapshot;
    let segment = HistorySegment { first: 0, last, changes };
    let (name, namespace) = names();
    let digest = before.facts.unwrap().digest;
    let version = RestoredVersion { name: &name, namespace: &namespace, snapshot, digest };
    let memory = PublishMemory::default();
    let making = restore(memory, &fixture.files, &fixture.workers, version, &segment);
    let made = Box::pin(making).await;
    assert_eq!(*made.unwrap().stored(), snapshot.file);

    let workers = &fixture.workers;
    let reader = Reader::new(fixture.files.clone(), Arc::clone(workers));
    let version = (snapshot, [0].as_slice());
    let rows = RewoundRows::open(reader, workers, version, &segment, 1 << 20).await.unwrap();
    let parts: Vec<TablePart> = rows.parts(workers).try_collect().await.unwrap();
    let copied = parts.iter().filter_map(|part| match part {
        TablePart::Copy(copied) => Some(!copied.revised.is_empty()),
        TablePart::Block(_) => None,
    });
    let revised = copied.clone().filter(|revised| *revised).count();
    [copied.count(), revised]
}

/// Tables of three row groups: full ones, and such as end with their bytes, of some fifteen rows;
/// with the rows of the first.
fn tables() -> [(Table, usize); 2] {
    let row = |id: usize, text: String| (2 * id, (text, id as f64 + 0.5));
    let narrow = (0..263_000).map(|id| row(id, format!("t{}", id % 7))).collect();
    let wide = (0..40).map(|id| row(id, "x".repeat((1 << 20) - 50 + id % 3))).collect();
    [(narrow, 131_072), (wide, 15)]
}

fn changed(table: &Table, ids: &[usize], change: impl Fn(&mut Table, usize)) -> Table {
    let mut older = table.clone();
    ids.iter().for_each(|id| change(&mut older, *id));
    older
}

fn rename(rows: &mut Table, id: usize) {
    rows.insert(id, ("another".to_owned(), 0.5));
}

fn revise(rows: &mut Table, id: usize) {
    rows.get_mut(&id).unwrap().1 -= 0.25;
}

fn remove(rows: &mut Table, id: usize) {
    rows.remove(&id);
}

#[tokio::test]
async fn row_groups_without_a_change_are_copied_contract_21() {
    for (table, group) in tables() {
        let last = *table.keys().next_back().unwrap();
        let groups = table.len().div_ceil(group);
        for (what, older, expected) in [
            ("the last row was another", changed(&table, &[last], rename), groups - 1),
            ("the first row came", changed(&table, &[0], remove), 0),
        ] {
            assert_eq!(copies(&[&older, &table]).await, [expected, 0], "{what}, of {group} rows");
        }
    }
    let [(narrow, group), (wide, wide_group)] = tables();
    let last = *wide.keys().next_back().unwrap();
    let older = changed(&wide, &[last, last - 2], remove);
    assert_eq!(copies(&[&older, &wide]).await, [2, 0], "rows came behind the last");
    let older = changed(&wide, &[last + 2], rename);
    assert_eq!(copies(&[&older, &wide]).await, [2, 0], "the last row went");
    // What comes behind a full row group has no say in where it ends.
    let older = changed(&narrow, &[2 * (group + 3)], rename);
    assert_eq!(copies(&[&older, &narrow]).await, [2, 0]);
    let older = changed(&older, &[2 * group - 1], rename);
    assert_eq!(copies(&[&older, &narrow]).await, [1, 0]);
    let long = |rows: &mut Table, id| drop(rows.insert(id, ("y".repeat(1 << 20), 0.5)));
    let older = changed(&wide, &[2 * (wide_group + 1)], long);
    let [copied, revised] = copies(&[&older, &wide]).await;
    assert!((1..3).contains(&copied) && revised == 0, "{copied}, {revised}");
}

#[tokio::test]
async fn row_groups_with_other_numbers_are_copied_but_for_these_contract_21() {
    let [(table, group), _] = tables();
    let everywhere: Vec<usize> = (0..265).map(|row| 1_990 * row).collect();
    let older = changed(&table, &everywhere, revise);
    assert_eq!(copies(&[&older, &table]).await, [3, 3]);
    // Revised twice, and gone for a while.
    let middle = changed(&changed(&older, &everywhere[..9], revise), &everywhere[3..5], remove);
    assert_eq!(copies(&[&older, &middle, &table]).await, [2, 2]);
    // One row came: what follows moved.
    let older = changed(&older, &[2 * group + 2], remove);
    assert_eq!(copies(&[&older, &table]).await, [1, 1]);
    // Blocks that end by their bytes end inside of pages.
    let long = |id: usize| (id, ("x".repeat(300), id as f64));
    let table: Table = (0..60_000).map(long).collect();
    let older = changed(&table, &[7], revise);
    assert_eq!(copies(&[&older, &table]).await, [2, 1]);
    let [(table, _), _] = tables();
    // Texts have lengths, which decide where row groups end: the first one is read.
    let older = changed(&table, &[2], rename);
    assert_eq!(copies(&[&older, &table]).await, [2, 0]);
}
