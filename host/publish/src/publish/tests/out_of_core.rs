//! A table beyond the budget is published as one within it: the same bytes, the same facts, the
//! same changes, the same faults (contract-7-out-of-core).

use arrow::array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow::ipc::writer::FileWriter;
use proptest::prelude::*;

use super::*;

/// Columns of every table; the last one is geometry.
const FIELDS: [&str; 6] =
    ["day:date", "region:string", "n:integer", "x:number", "open:boolean", "geometry:string"];

/// Keys that a table may have: none, in the order of the rows, in another order, without the date.
const KEYS: [&[&str]; 4] =
    [&[], &["day", "region", "n"], &["n", "region", "day"], &["region", "n"]];

#[derive(Clone, Debug)]
struct Row {
    day: usize,
    region: String,
    n: i64,
    x: Option<f64>,
    open: Option<bool>,
    corner: Option<i32>,
}

fn row() -> impl Strategy<Value = Row> {
    let number =
        prop_oneof![Just(None), Just(Some(-0.0)), Just(Some(0.0)), (-9.0..9.0).prop_map(Some)];
    (
        0_usize..28,
        "[a-d]{0,2}",
        -40_i64..40,
        number,
        prop::option::of(any::<bool>()),
        prop::option::of(-80..80),
    )
        .prop_map(|(day, region, n, x, open, corner)| Row { day, region, n, x, open, corner })
}

fn geometry(corner: i32) -> String {
    let (west, east) = (corner, corner + 1);
    format!("MULTIPOLYGON ((({west} 0, {east} 0, {east} 1, {west} 1, {west} 0)))")
}

fn batch(rows: &[Row]) -> RecordBatch {
    let text = |cell: &dyn Fn(&Row) -> Option<String>| -> ArrayRef {
        Arc::new(rows.iter().map(cell).collect::<StringArray>())
    };
    let columns: [(&str, ArrayRef); 6] = [
        ("day", text(&|row| Some(format!("2024-02-{:02}", row.day + 1)))),
        ("region", text(&|row| Some(row.region.clone()))),
        ("n", Arc::new(rows.iter().map(|row| Some(row.n)).collect::<Int64Array>())),
        ("x", Arc::new(rows.iter().map(|row| row.x).collect::<Float64Array>())),
        ("open", Arc::new(rows.iter().map(|row| row.open).collect::<BooleanArray>())),
        ("geometry", text(&|row| row.corner.map(geometry))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true)))
        .unwrap()
}

/// A package of `rows`, some at a time, since a chunk of the input is the least that is spilled.
fn package(rows: &[Row], in_a_batch: usize, key: &[&str]) -> Fixture {
    let fixture = Fixture::new(&FIELDS, "")
        .with("/resources/0/path", json!("t.arrow"))
        .with("/resources/0/schema/primaryKey", json!(key))
        .with("/yearbook/date_filter_column", json!("day"))
        .with("/yearbook/dimensions", json!(["region"]));
    write(&fixture, rows, in_a_batch);
    fixture
}

fn write(fixture: &Fixture, rows: &[Row], in_a_batch: usize) {
    let file = std::fs::File::create(fixture.path("t.arrow")).unwrap();
    let mut writer = FileWriter::try_new(file, &batch(rows).schema()).unwrap();
    rows.chunks(in_a_batch).for_each(|rows| writer.write(&batch(rows)).unwrap());
    writer.finish().unwrap();
}

/// Outcome of the package within a budget: a draft, or the text of the faults.
async fn outcome(
    fixture: &Fixture,
    current: Option<&Snapshot>,
    bytes: u64,
) -> Result<SnapshotDraft, String> {
    fixture.write_descriptor();
    let package = DataPackage::open(fixture.folder.path()).unwrap();
    let (files, workers) = (&fixture.files, &fixture.workers);
    let memory = PublishMemory::new(bytes);
    publish_within(memory, files, workers, &package, current, &SilentReporter)
        .await
        .map_err(|error| error.to_string())
}

async fn check(rows: Vec<Row>, revised: Vec<Row>, in_a_batch: usize, key: &[&str], bytes: u64) {
    let fixture = package(&rows, in_a_batch, key);
    let within = outcome(&fixture, None, 1 << 30).await;
    let beyond = outcome(&fixture, None, bytes).await;
    assert_eq!(within, beyond);
    let Ok(first) = within else { return };
    write(&fixture, &revised, in_a_batch);
    let within = outcome(&fixture, Some(&first.snapshot), 1 << 30).await;
    assert_eq!(within, outcome(&fixture, Some(&first.snapshot), bytes).await);
}

/// Rows without those that repeat a key.
fn without_repeats(rows: Vec<Row>, key: &[&str]) -> Vec<Row> {
    let mut seen = std::collections::HashSet::new();
    let identity = |row: &Row| {
        let day = if key.contains(&"day") { row.day } else { 0 };
        (day, row.region.clone(), row.n)
    };
    rows.into_iter().filter(|row| key.is_empty() || seen.insert(identity(row))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn a_table_beyond_the_budget_is_published_as_one_within_it_contract_7(
        rows in prop::collection::vec(row(), 1..300),
        changed in prop::collection::vec((any::<prop::sample::Index>(), row()), 0..40),
        (in_a_batch, key, repeats) in (5_usize..60, 0..KEYS.len(), prop::bool::weighted(0.2)),
        bytes in 0_u64..60_000,
    ) {
        let key = KEYS[key];
        let mut revised = rows.clone();
        for (place, row) in changed {
            let place = place.index(revised.len());
            match row.n % 3 {
                0 => revised[place] = row,
                1 => revised.push(row),
                _ if revised.len() > 1 => drop(revised.remove(place)),
                _ => {}
            }
        }
        let tidy = |rows| if repeats { rows } else { without_repeats(rows, key) };
        let job = check(tidy(rows), tidy(revised), in_a_batch, key, bytes);
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap().block_on(job);
    }
}

#[tokio::test]
async fn a_key_that_repeats_beyond_the_budget_names_both_rows_contract_7() {
    let row = |n: i64| Row {
        day: usize::try_from(n % 28).unwrap(),
        region: "a".to_owned(),
        n,
        x: None,
        open: None,
        corner: None,
    };
    let mut rows: Vec<Row> = (0..500).rev().map(row).collect();
    // Data row 500 is n = 0; this is row 501.
    rows.push(Row { day: 27, ..row(499) });
    for key in [&["n"][..], &["n", "region"]] {
        let fixture = package(&rows, 20, key);
        let said = outcome(&fixture, None, 4_000).await.unwrap_err();
        let values = if key.len() == 1 { "499" } else { "499, a" };
        let fault = format!(
            "row 501, column {}: repeats the primary key ({values}) of row 1",
            key.join(", ")
        );
        assert!(said.ends_with(&fault), "{said}");
        assert_eq!(Err(said), outcome(&fixture, None, 1 << 30).await);
    }
}
