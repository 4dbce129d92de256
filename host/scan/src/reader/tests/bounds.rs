//! Boxes with stored bounds of rows: which geometry is read, and what happens without them.

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use object_store::local::LocalFileSystem;
use yearbook_domain::BoundingBox;
use yearbook_storage::Sidecar;

use super::super::*;
use super::fixture::{FixtureOptions, StoredFixture, plan, read};

const GEOMETRY: usize = 6;

/// Squares on a side of the map.
const SIDE: usize = 100;

/// Number of squares that a box of ten by ten cuts: those on its edge.
const CUT: u64 = 36;

/// A map of squares of a tenth of a degree, each with `corners` of 14 bytes on one side, in row
/// groups of 2,000 and pages of `page`.
pub(super) async fn squares(page: usize, corners: usize) -> StoredFixture {
    squares_in_groups(2_000, page, corners).await
}

/// The same in row groups of `group`.
async fn squares_in_groups(group: usize, page: usize, corners: usize) -> StoredFixture {
    let options = FixtureOptions { group, page, ..FixtureOptions::rows(SIDE * SIDE) };
    let square = |row: usize| {
        let [x, y] = [row % SIDE, row / SIDE].map(|at| at as f64 / 10.0);
        let along = |step: usize| format!("{:.4} {y:.4}", x + step as f64 / 10_000.0);
        let south: Vec<String> = (0..corners).map(along).collect();
        let [east, north] = [x + 0.1, y + 0.1];
        format!(
            "MULTIPOLYGON ((({}, {east:.4} {north:.4}, {x:.4} {north:.4}, {x:.4} {y:.4})))",
            south.join(", ")
        )
    };
    let table = StoredFixture::new(&options).await.table;
    let mut columns = table.columns().to_vec();
    columns[GEOMETRY] =
        Arc::new(StringArray::from_iter_values((0..SIDE * SIDE).map(square))) as ArrayRef;
    let table = RecordBatch::try_new(table.schema(), columns).unwrap();
    StoredFixture::of_table(table, &options).await
}

/// A plan for the squares of a box without their geometry.
pub(super) fn boxed(stored: &StoredFixture, bbox: [f64; 4]) -> ReadPlan {
    let mut plan = plan(&stored.snapshot);
    (plan.bbox, plan.columns) = (Some(BoundingBox(bbox)), vec![4]);
    plan
}

/// A box that cuts squares on every side.
pub(super) const PART: [f64; 4] = [3.03, 4.05, 3.97, 4.98];

/// Rows that were tested, and bytes that were read.
fn cost(reader: &Reader) -> (u64, u64) {
    (reader.counts().rows_searched, reader.parts.files.counts().bytes)
}

#[tokio::test]
async fn geometry_is_read_where_bounds_cut_the_box_alone_contract_15() {
    let stored = squares(50, 100).await;
    let plain = stored.afresh(None);
    let expected = read(&plain, &boxed(&stored, PART)).await.unwrap();
    assert_eq!(expected.0.num_rows(), 100);
    assert_eq!(cost(&plain).0, (SIDE * SIDE) as u64, "without bounds every row is tested");
    let of_plain = cost(&plain).1;
    stored.store_bounds(1 << 20).await;
    for max_rows in [None, Some(1_000), Some(7)] {
        let reader = stored.afresh(None);
        let plan = ReadPlan { max_rows, ..boxed(&stored, PART) };
        let (rows, _) = read(&reader, &plan).await.unwrap();
        assert_eq!(rows.columns(), expected.0.slice(0, rows.num_rows()).columns());
        let (tested, bytes) = cost(&reader);
        assert!(tested <= CUT, "{tested} rows tested");
        // Ten pages of fifty rows hold squares that are cut, of two hundred.
        assert!(bytes < of_plain / 8, "{bytes} bytes read, {of_plain} without bounds");
    }

    // Lines of squares, of which the first and the last are cut.
    let reader = stored.afresh(None);
    let found = read(&reader, &boxed(&stored, [-1.0, 1.95, 20.0, 4.05])).await.unwrap().0;
    assert_eq!((found.num_rows(), cost(&reader).0), (2_200, 200));

    // Where bounds decide, no geometry is read.
    let reader = stored.afresh(None);
    let found = read(&reader, &boxed(&stored, [-1.0, -1.0, 20.0, 20.0])).await.unwrap().0;
    let (tested, bytes) = cost(&reader);
    assert_eq!((found.num_rows(), tested), (SIDE * SIDE, 0));
    assert!(bytes < of_plain / 8, "{bytes} bytes read, {of_plain} without bounds");

    // One that is apart from all reads footer and bounds.
    let reader = stored.afresh(None);
    let found = read(&reader, &boxed(&stored, [50.0, 0.0, 60.0, 9.0])).await;
    assert_eq!(found.unwrap().0.num_rows(), 0);
    assert_eq!(reader.counts().groups_ruled_out, 5);

    // Conditions come first: of a geometry that they leave out nothing is read either.
    let reader = stored.afresh(None);
    let mut plan = boxed(&stored, PART);
    plan.search_text = Some("nowhere".to_owned());
    assert_eq!(read(&reader, &plan).await.unwrap().0.num_rows(), 0);
    let dimensions = reader.counts().rows_searched;
    assert!(dimensions <= 100 + CUT, "{dimensions} rows of dimensions were tested");
}

#[tokio::test]
async fn bounds_that_are_missing_damaged_or_of_another_file_are_not_used_contract_15() {
    let stored = squares(50, 4).await;
    let plan = boxed(&stored, PART);
    let expected = read(&stored.afresh(None), &plan).await.unwrap();
    stored.store_bounds(1 << 20).await;
    let path = stored.object().with_extension("bounds");
    let whole = std::fs::read(&path).unwrap();
    // The same rows and row groups, in another file.
    let other = squares(40, 4).await;
    other.store_bounds(1 << 20).await;
    let mut damaged = vec![
        None,
        Some(Vec::new()),
        Some(std::fs::read(other.object().with_extension("bounds")).unwrap()),
    ];
    let cuts = [1, 39, 40, 200, whole.len() / 2, whole.len() - 1];
    damaged.extend(cuts.map(|length| Some(whole[..length].to_vec())));
    // In the head, and in bounds of the row group that the box lies in.
    for at in [0, 5, 60, 283, whole.len() / 2] {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        damaged.push(Some(flipped));
    }
    let folder = stored.folder.path().join("store");
    let stores = || [None, Some(Arc::new(LocalFileSystem::new_with_prefix(&folder).unwrap()) as _)];
    for (case, content) in damaged.into_iter().enumerate() {
        match &content {
            None => std::fs::remove_file(&path).unwrap(),
            Some(content) => std::fs::write(&path, content).unwrap(),
        }
        for store in stores() {
            let reader = stored.afresh(store);
            let found = read(&reader, &plan).await.unwrap();
            assert_eq!(found, expected, "case {case}");
            let (tested, _) = cost(&reader);
            assert!(tested >= 2_000 || case == 8, "case {case}: {tested} rows tested");
        }
        let intact = row_bounds_are_intact(&stored.reader, &stored.snapshot).await;
        assert!(!intact, "case {case}");
    }
    // A disk that gives an error where they lie, as it does for a folder.
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let found = read(&stored.afresh(None), &plan).await.unwrap();
    assert_eq!(found, expected);
    std::fs::remove_dir(&path).unwrap();
    std::fs::write(&path, &whole).unwrap();
    assert!(row_bounds_are_intact(&stored.reader, &stored.snapshot).await);
    let reader = stored.afresh(None);
    assert_eq!(read(&reader, &plan).await.unwrap(), expected);
    assert!(cost(&reader).0 <= CUT);
    let key = Sidecar::Bounds.key(&stored.snapshot.file);
    assert!(key.ends_with(".bounds"), "{key}");
}

#[tokio::test]
async fn a_number_of_row_groups_is_not_believed_before_its_checksum_contract_15() {
    // 500 row groups, whose head is read in two parts.
    let stored = squares_in_groups(20, 20, 4).await;
    let plan = boxed(&stored, PART);
    let plain = stored.afresh(None);
    let expected = read(&plain, &plan).await.unwrap();
    stored.store_bounds(1 << 20).await;
    let reader = stored.afresh(None);
    assert_eq!(read(&reader, &plan).await.unwrap(), expected);
    assert!(cost(&reader).0 <= CUT, "bounds are used");
    let path = stored.object().with_extension("bounds");
    let mut damaged = std::fs::read(&path).unwrap();
    assert!(damaged.len() > 16 << 10);
    damaged[36..40].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f]);
    std::fs::write(&path, &damaged).unwrap();
    let folder = stored.folder.path().join("store");
    for store in [None, Some(Arc::new(LocalFileSystem::new_with_prefix(&folder).unwrap()) as _)] {
        let reader = stored.afresh(store);
        assert_eq!(read(&reader, &plan).await.unwrap(), expected);
        let [bytes, of_plain] = [&reader, &plain].map(|reader| cost(reader).1);
        assert!(bytes <= of_plain + (64 << 10), "{bytes} bytes read, {of_plain} without bounds");
    }
    assert!(!row_bounds_are_intact(&stored.reader, &stored.snapshot).await);
}

async fn row_bounds_are_intact(reader: &Reader, snapshot: &Snapshot) -> bool {
    crate::row_bounds_are_intact(&reader.parts.files, &reader.parts.workers, snapshot)
        .await
        .unwrap()
}
