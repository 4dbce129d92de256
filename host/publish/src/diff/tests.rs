//! The law: rows of A + changes(A→B) = rows of B, for random pairs of versions.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod largest_revision;

use std::collections::BTreeMap;
use std::fmt::Write;

use arrow::array::{Array, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use arrow::util::display::array_value_to_string;
use futures::stream;
use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;
use yearbook_domain::{DatasetName, Millis, Namespace};
use yearbook_scan::ChangesPlan;

use self::largest_revision::check_largest_revision;
use super::*;
use crate::{DataPackage, SilentReporter, SnapshotDraft, publish};

/// Every column that a version may have; `extra` and `seen` come with either of their types, of
/// which those of `seen` are stored alike.
const POOL: [(&str, &[&str]); 7] = [
    ("id", &["integer"]),
    ("name", &["string"]),
    ("v", &["number"]),
    ("flag", &["boolean"]),
    ("extra", &["string", "integer"]),
    ("date", &["date"]),
    ("seen", &["string", "date"]),
];

/// Cells as a CSV file has them: nulls, empty text, text that looks like something else, floats
/// that only their bits tell apart.
const VALUES: [&[&str]; 7] = [
    &["1", "2", "3", "4", "5", "6", "7", "8"],
    &["", "\"\"", "null", "Māori", "\"a,b\""],
    &["", "0.0", "-0.0", "0.1", "1e300", "NaN"],
    &["", "true", "false"],
    &["", "7", "007"],
    &["2020-01-01", "2020-01-02"],
    &["", "2020-01-01", "2020-01-02"],
];

/// A generator of our own: a case is one number, and repeats by it.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn cell(&mut self, column: usize) -> &'static str {
        VALUES[column][self.below(VALUES[column].len())]
    }

    fn row(&mut self) -> Vec<&'static str> {
        (0..POOL.len()).map(|column| self.cell(column)).collect()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Version {
    /// Positions in [`POOL`], with the type.
    columns: Vec<(usize, &'static str)>,
    pub(crate) key: Vec<&'static str>,
    rows: Vec<Vec<&'static str>>,
}

/// The first version of a table.
pub(crate) fn first_version(dice: &mut Dice) -> Version {
    let keyed = dice.below(4) > 0;
    let mut rows: Vec<Vec<&str>> = (0..dice.below(12)).map(|_| dice.row()).collect();
    unique(keyed, &mut rows);
    let key = if keyed { vec!["id"] } else { Vec::new() };
    Version { columns: columns(dice), key, rows }
}

fn columns(dice: &mut Dice) -> Vec<(usize, &'static str)> {
    let mut columns: Vec<usize> =
        (0..POOL.len()).filter(|column| *column == 0 || dice.below(6) > 0).collect();
    let places = columns.len();
    columns.rotate_left(dice.below(places));
    columns
        .into_iter()
        .map(|column| (column, POOL[column].1[dice.below(POOL[column].1.len())]))
        .collect()
}

/// A version that follows `old`.
pub(crate) fn next_version(dice: &mut Dice, old: &Version) -> Version {
    let (keyed, mut rows) = (!old.key.is_empty(), old.rows.clone());
    rows.retain(|_| dice.below(5) > 0);
    for row in &mut rows {
        if dice.below(3) == 0 {
            let column = 1 + dice.below(POOL.len() - 1);
            row[column] = dice.cell(column);
        }
    }
    rows.extend((0..dice.below(5)).map(|_| dice.row()));
    unique(keyed, &mut rows);
    // Schemas grow and shrink in half of the cases; keys come and go in some.
    let same = dice.below(2) == 0;
    let columns = if same { old.columns.clone() } else { columns(dice) };
    let key = if dice.below(10) == 0 { Vec::new() } else { old.key.clone() };
    Version { columns, key, rows }
}

fn versions(seed: u64) -> (Version, Version) {
    let mut dice = Dice(seed);
    let first = first_version(&mut dice);
    let second = next_version(&mut dice, &first);
    (first, second)
}

fn unique(keyed: bool, rows: &mut Vec<Vec<&'static str>>) {
    if keyed {
        let mut seen = std::collections::HashSet::new();
        rows.retain(|row| seen.insert(row[0]));
    }
}

/// A row as text by column, floats by their bits, nulls left out.
pub(crate) type Row = BTreeMap<String, String>;

pub(crate) struct Fixture {
    pub(crate) folder: TempDir,
    pub(crate) files: ObjectStorage,
    pub(crate) workers: Arc<Workers>,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files =
            ObjectStorage::open(&format!("file:{}/store", folder.path().display())).unwrap();
        Self { folder, files, workers: Workers::new(1) }
    }

    pub(crate) async fn publish(
        &self,
        version: &Version,
        current: Option<&Snapshot>,
    ) -> SnapshotDraft {
        let name = |(column, _): &(usize, &str)| POOL[*column].0;
        let mut csv = version.columns.iter().map(name).collect::<Vec<_>>().join(",") + "\n";
        for row in &version.rows {
            let cells: Vec<&str> = version.columns.iter().map(|(column, _)| row[*column]).collect();
            let _ = writeln!(csv, "{}", cells.join(","));
        }
        std::fs::write(self.folder.path().join("table.csv"), csv).unwrap();
        let fields: Vec<_> = version
            .columns
            .iter()
            .map(|column| json!({"name": name(column), "type": column.1}))
            .collect();
        let mut descriptor = json!({
            "name": "a_table", "licenses": [{"name": "CC-BY-4.0"}], "sources": [{"title": "Stats NZ", "path": "https://stats.govt.nz/a"}],
            "resources": [{"path": "table.csv", "schema": {"fields": fields, "primaryKey": version.key}}],
            "yearbook": {"namespace": "tests"}
        });
        if version.columns.iter().any(|column| name(column) == "date") {
            descriptor["yearbook"]["date_filter_column"] = json!("date");
        }
        std::fs::write(self.folder.path().join("datapackage.json"), descriptor.to_string())
            .unwrap();
        let package = DataPackage::open(self.folder.path()).unwrap();
        publish(&self.files, &self.workers, &package, current, &SilentReporter)
            .await
            .unwrap_or_else(|error| panic!("{error}: {version:?}"))
    }

    fn reader(&self) -> Reader {
        Reader::new(self.files.clone(), Arc::clone(&self.workers))
    }

    pub(crate) async fn rows(&self, snapshot: &Snapshot) -> Vec<Row> {
        let side = AlignedSnapshot::new(snapshot, &snapshot.columns);
        rows_of(side.scan(&self.reader()).await.unwrap()).await
    }

    async fn changes(
        &self,
        snapshot: &Snapshot,
        set: &ChangeSet,
        rows: std::ops::Range<u64>,
    ) -> Vec<Row> {
        let plan = ChangesPlan {
            dataset: DatasetName::parse("a_table").unwrap(),
            namespace: Namespace::parse("tests").unwrap(),
            snapshot: Arc::new(snapshot.clone()),
            columns: set.columns.clone(),
            geometry: true,
            parts: vec![(set.clone(), rows)],
        };
        rows_of(self.reader().changes(&plan).await.unwrap()).await
    }
}

async fn rows_of(scan: Scan) -> Vec<Row> {
    let mut rows = Vec::new();
    let batches: Vec<RecordBatch> = scan.batches.try_collect().await.unwrap();
    for batch in batches {
        assert_eq!(batch.schema(), scan.schema);
        let first = rows.len();
        rows.resize(first + batch.num_rows(), Row::new());
        for (field, column) in scan.schema.fields().iter().zip(batch.columns()) {
            let plain = match column.data_type() {
                DataType::Dictionary(..) => cast(column, &DataType::Utf8).unwrap(),
                _ => Arc::clone(column),
            };
            for row in (0..plain.len()).filter(|row| plain.is_valid(*row)) {
                let text = match plain.as_primitive_opt::<Float64Type>() {
                    Some(floats) => format!("{:x}", floats.value(row).to_bits()),
                    None => array_value_to_string(&plain, row).unwrap(),
                };
                rows[first + row].insert(field.name().clone(), text);
            }
        }
    }
    rows
}

/// `row` as the columns of `new` show it.
pub(crate) fn seen_with(row: &Row, old: &Snapshot, new: &Snapshot) -> Row {
    let kept = |name: &String| {
        let column = |snapshot: &Snapshot| {
            snapshot.column_index(name).map(|position| snapshot.columns[position].column_type)
        };
        column(old).is_some() && column(old) == column(new)
    };
    row.iter()
        .filter(|(name, _)| kept(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

pub(crate) fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort();
    rows
}

async fn check(seed: u64) {
    let (first, second) = versions(seed);
    let fixture = Fixture::new();
    let old = fixture.publish(&first, None).await;
    assert_eq!(old.changes, None);
    let new = fixture.publish(&second, Some(&old.snapshot)).await;
    let Some(set) = new.changes else {
        assert_eq!(old.snapshot.id, new.snapshot.id);
        return;
    };
    let (old, new) = (old.snapshot, new.snapshot);
    assert_eq!((&set.from, &set.to, set.committed_at), (&old.id, &new.id, new.created_at));
    let mut changes = fixture.changes(&new, &set, 0..set.rows).await;
    assert_eq!(changes.len() as u64, set.rows);
    // In any pieces they are the same.
    let middle = set.rows / 3;
    let mut pieces = fixture.changes(&new, &set, 0..middle).await;
    pieces.extend(fixture.changes(&new, &set, middle..set.rows).await);
    assert_eq!(pieces, changes);

    let before: Vec<Row> =
        fixture.rows(&old).await.iter().map(|row| seen_with(row, &old, &new)).collect();
    let after = fixture.rows(&new).await;
    let keyed = !first.key.is_empty() && first.key == second.key;
    let mut table = before.clone();
    let mut kinds = BTreeMap::<String, usize>::new();
    for change in &mut changes {
        assert_eq!(change.remove("_snapshot_id"), Some(new.id.to_string()));
        assert_eq!(change.remove("_committed_at"), Some(Millis::to_rfc3339(new.created_at)));
        let kind = change.remove("_change_type").unwrap();
        *kinds.entry(kind.clone()).or_default() += 1;
        match kind.as_str() {
            "delete" | "update_preimage" => {
                let place = table.iter().position(|row| row == change);
                table.remove(
                    place.unwrap_or_else(|| {
                        panic!("{change:?} is not among {table:?}, seed {seed}")
                    }),
                );
            }
            "insert" | "update_postimage" => {
                assert!(
                    !keyed || table.iter().all(|row| row["id"] != change["id"]),
                    "two rows of one key, seed {seed}"
                );
                table.push(change.clone());
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!(sorted(table), sorted(after.clone()), "seed {seed}");

    // Nothing is said of rows that did not change, and an update is said where a key stays.
    let of = |kind: &str| kinds.get(kind).copied().unwrap_or(0);
    assert_eq!(of("update_preimage"), of("update_postimage"));
    let stays = |row: &&Row| keyed && after.iter().any(|other| other["id"] == row["id"]);
    let updates = before.iter().filter(stays).filter(|row| !after.contains(row)).count();
    assert_eq!(of("update_preimage"), updates, "seed {seed}");
    let updated: Vec<(&Row, &Row)> = before
        .iter()
        .filter(stays)
        .filter_map(|row| Some((row, after.iter().find(|other| other["id"] == row["id"])?)))
        .collect();
    // Rows are sorted by date first: one that moves does not stand beside what it was.
    let is_dated = |snapshot: &Snapshot| snapshot.column_index("date").is_some();
    let date = |row: &Row| row.get("date").cloned();
    let moves = is_dated(&old) != is_dated(&new)
        || updated.iter().any(|(before, after)| date(before) != date(after));
    check_largest_revision(&set, &updated, moves, seed);
    let mut gone = before;
    for row in &after {
        if let Some(place) = gone.iter().position(|other| other == row) {
            gone.remove(place);
        }
    }
    assert_eq!(of("delete") + updates, gone.len(), "seed {seed}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn rows_of_a_and_changes_are_rows_of_b_contract_4(seed: u64) {
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap().block_on(check(seed));
    }
}

#[tokio::test]
async fn a_damaged_past_does_not_keep_the_present_from_being_published() {
    let fixture = Fixture::new();
    let (first, mut second) = versions(7);
    let old = fixture.publish(&first, None).await.snapshot;
    second.rows = vec![vec!["1", "\"x\"", "0.5", "true", "7", "2020-01-01", ""]];
    std::fs::remove_file(fixture.folder.path().join("store").join(ObjectStorage::key(&old.file)))
        .unwrap();
    let new = fixture.publish(&second, Some(&old)).await;
    assert_eq!((new.changes, new.unchanged), (None, false));
}

#[tokio::test]
async fn rows_of_two_files_stand_side_by_side_however_they_are_cut() {
    let file = |first: i64, sizes: &[usize]| {
        let mut next = first;
        let batches = sizes.iter().map(|size| {
            let rows: Int64Array = (next..).take(*size).collect();
            next += i64::try_from(*size).unwrap();
            RecordBatch::try_from_iter([("row", Arc::new(rows) as ArrayRef)]).unwrap()
        });
        stream::iter(batches.map(Ok).collect::<Vec<_>>()).boxed()
    };
    for (old, new) in
        [(&[3, 0, 4][..], &[5, 1, 0, 4][..]), (&[2, 2], &[]), (&[0], &[7]), (&[4], &[1, 3])]
    {
        let mut both = SideBySide {
            batches: [file(0, old), file(100, new)],
            rest: std::array::from_fn(|_| None),
        };
        let mut found = [Vec::new(), Vec::new()];
        while let Some(next) = both.next().await.unwrap() {
            let rows: Vec<usize> = next.iter().flatten().map(RecordBatch::num_rows).collect();
            assert!(rows[0] > 0 && rows.iter().all(|count| *count == rows[0]), "{rows:?}");
            for (found, rows) in found.iter_mut().zip(next) {
                let columns = rows.iter().map(|rows| rows.column(0).as_primitive::<Int64Type>());
                found.extend(columns.flat_map(|column| column.values().to_vec()));
            }
        }
        let expected = |first: i64, sizes: &[usize]| (first..).take(sizes.iter().sum()).collect();
        assert_eq!(found, [expected(0, old), expected(100, new)] as [Vec<i64>; 2]);
    }
}
