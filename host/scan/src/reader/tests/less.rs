//! Nothing is read that nobody asks for: bytes are counted at the store.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arrow::array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use bytes::Bytes;
use futures::StreamExt;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use yearbook_domain::Date;
use yearbook_domain::read_plan::{ColumnTest, ColumnValue, Condition, Side};

use super::super::*;
use super::fixture::{FixtureOptions, FixtureRandom, StoredFixture, plan, read};
use super::sample;

/// A folder that counts the bytes it gives out.
#[derive(Debug)]
struct Counting {
    inner: LocalFileSystem,
    bytes: Arc<AtomicU64>,
}

impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Counting({})", self.inner)
    }
}

#[async_trait::async_trait]
impl ObjectStore for Counting {
    async fn put_opts(
        &self,
        at: &Key,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.inner.put_opts(at, payload, options).await
    }
    async fn put_multipart_opts(
        &self,
        at: &Key,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(at, options).await
    }
    async fn get_opts(&self, at: &Key, options: GetOptions) -> Result<GetResult> {
        let result = self.inner.get_opts(at, options).await?;
        self.bytes.fetch_add(result.range.end - result.range.start, Ordering::SeqCst);
        Ok(result)
    }
    async fn get_ranges(&self, at: &Key, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.bytes
            .fetch_add(ranges.iter().map(|range| range.end - range.start).sum(), Ordering::SeqCst);
        self.inner.get_ranges(at, ranges).await
    }
    fn delete_stream(
        &self,
        at: futures::stream::BoxStream<'static, Result<Key>>,
    ) -> futures::stream::BoxStream<'static, Result<Key>> {
        self.inner.delete_stream(at)
    }
    fn list(
        &self,
        prefix: Option<&Key>,
    ) -> futures::stream::BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }
    async fn list_with_delimiter(&self, prefix: Option<&Key>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }
    async fn copy_opts(&self, from: &Key, to: &Key, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

/// A reader of a stored table that counts.
pub(super) fn counting_reader(stored: &StoredFixture) -> (Reader, Arc<AtomicU64>) {
    let bytes = Arc::new(AtomicU64::new(0));
    let inner = LocalFileSystem::new_with_prefix(stored.folder.path().join("store")).unwrap();
    let store = Counting { inner, bytes: Arc::clone(&bytes) };
    (stored.afresh(Some(Arc::new(store))), bytes)
}

/// A file of 20,000 rows in ten row groups, some 20 MB, nearly all of it geometry; and a reader
/// that counts.
async fn large() -> (StoredFixture, Reader, Arc<AtomicU64>) {
    let stored = StoredFixture::new(&FixtureOptions {
        rows: 20_000,
        group: 2_000,
        page: 200,
        ..FixtureOptions::default()
    })
    .await;
    let (mut reader, bytes) = counting_reader(&stored);
    reader.parts_mut().task_limits.kept_scan_bytes = 0;
    // The footer is read once and for all.
    reader.preview(&stored.snapshot, sample(1)).await.unwrap();
    bytes.store(0, Ordering::SeqCst);
    (stored, reader, bytes)
}

#[tokio::test]
async fn a_slice_reads_its_pages_and_no_geometry_that_is_not_wanted() {
    let (stored, reader, bytes) = large().await;
    let file = stored.snapshot.file.bytes;
    let taken = async |plan: &ReadPlan| {
        bytes.store(0, Ordering::SeqCst);
        let rows = read(&reader, plan).await.unwrap().0.num_rows();
        (rows, bytes.load(Ordering::SeqCst))
    };
    let mut plan = plan(&stored.snapshot);
    let (rows, everything) = taken(&plan).await;
    assert!(rows == 20_000 && everything > file * 9 / 10, "{everything} of {file}");

    plan.columns = (0..6).collect();
    let (_, without_geometry) = taken(&plan).await;
    assert!(without_geometry < everything / 2, "{without_geometry} of {everything}");

    (plan.start, plan.end) = (Date::parse("2010-01-01"), Date::parse("2010-12-31"));
    let (rows, year) = taken(&plan).await;
    assert!(rows > 100 && rows < 1000, "{rows}");
    assert!(year < without_geometry / 3, "{year} of {without_geometry}");

    plan.columns = (0..7).collect();
    let (_, year_with_geometry) = taken(&plan).await;
    assert!(year_with_geometry < everything / 8, "{year_with_geometry} of {everything}");

    (plan.start, plan.end, plan.max_rows) = (None, None, Some(100));
    let (rows, page) = taken(&plan).await;
    assert!(rows == 100 && page < everything / 20, "{page} of {everything}");

    (plan.search_text, plan.max_rows) = (Some("no such place".to_owned()), Some(10));
    let (rows, filter) = taken(&plan).await;
    assert!(rows == 0 && filter < without_geometry, "{filter} of {without_geometry}");
}

/// A million rows as publishing stores them, in the order of each of three columns: repeated text,
/// distinct text and integers. The other columns are noise.
fn a_million_rows() -> RecordBatch {
    const ROWS: usize = 1_000_000;
    let mut random = FixtureRandom(7);
    let text = |texts: &mut dyn Iterator<Item = String>| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(texts))
    };
    let values = (0..ROWS).map(|_| u32::try_from(random.below(1 << 30)).unwrap());
    let columns: [(&str, ArrayRef, bool); 7] = [
        ("date", text(&mut (0..ROWS).map(|_| "2000-01-01".to_owned())), false),
        ("region", text(&mut (0..ROWS).map(|row| format!("region {:04}", row / 1_000))), true),
        ("place", text(&mut (0..ROWS).map(|row| format!("place {row:07}"))), true),
        ("value", Arc::new(values.map(f64::from).collect::<Float64Array>()), true),
        ("count", Arc::new((0..1_000_000).collect::<Int64Array>()), true),
        ("flag", Arc::new(BooleanArray::new_null(ROWS)), true),
        ("geometry_wkt", Arc::new(StringArray::new_null(ROWS)), true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

#[tokio::test]
async fn conditions_on_clustered_columns_read_their_pages_contract_15() {
    let shape = FixtureOptions {
        group: 1 << 17,
        page: 4_096,
        plain: &["place", "value", "count", "geometry_wkt"],
        ..FixtureOptions::default()
    };
    let stored = StoredFixture::of_table(a_million_rows(), &shape).await;
    let file = stored.snapshot.file.bytes;
    assert!(file > 10 << 20, "{file}");
    let any_of = |text: &str| ColumnTest::AnyOf(vec![ColumnValue::Text(text.to_owned())]);
    let at = |side, count| ColumnTest::Bound(side, ColumnValue::Integer(count));
    let condition = |column, test| Condition { column, test };
    let near = [condition(4, at(Side::AtLeast, 500_000)), condition(4, at(Side::Below, 501_000))];
    // (conditions, rows, row groups of eight in which a row is looked at)
    let cases = [
        (vec![condition(1, any_of("region 0500"))], 1_000, 1),
        (vec![condition(2, any_of("place 0500000"))], 1, 1),
        (near.to_vec(), 1_000, 1),
        (vec![condition(1, any_of("region 05")), condition(3, ColumnTest::IsNull(false))], 0, 0),
        (vec![condition(1, ColumnTest::Starts(vec!["REGION 05000".to_owned()]))], 0, 0),
        (vec![condition(5, ColumnTest::IsNull(false))], 0, 0),
    ];
    for (conditions, rows, groups) in cases {
        for max_rows in [None, Some(2_000)] {
            for columns in [vec![3], vec![1, 2, 3, 4]] {
                let bytes = Arc::new(AtomicU64::new(0));
                let root = stored.folder.path().join("store");
                let inner = LocalFileSystem::new_with_prefix(root).unwrap();
                let store = Counting { inner, bytes: Arc::clone(&bytes) };
                let reader = stored.afresh(Some(Arc::new(store)));
                let mut plan = plan(&stored.snapshot);
                (plan.conditions, plan.max_rows) = (conditions.clone(), max_rows);
                plan.columns = columns;
                let (found, _) = read(&reader, &plan).await.unwrap();
                let what = format!("{:?}, {:?}", plan.conditions, plan.columns);
                assert_eq!(
                    (found.num_rows(), found.num_columns()),
                    (rows, plan.columns.len()),
                    "{what}"
                );
                // The footer and the index of pages are read, too.
                let taken = bytes.load(Ordering::SeqCst);
                assert!(taken < file / 20, "{taken} of {file}: {what}");
                let counts = reader.counts();
                assert_eq!(counts.groups_searched - counts.groups_ruled_out, groups, "{what}");
                assert!(counts.rows_searched <= 2 * 4_096 * groups, "{what}: {counts:?}");
            }
        }
    }
    // Conditions that statistics show to hold for every row are not tested at all.
    let mut plan = plan(&stored.snapshot);
    plan.conditions =
        vec![condition(4, at(Side::AtLeast, 0)), condition(5, ColumnTest::IsNull(true))];
    (plan.columns, plan.max_rows) = (vec![4], Some(10));
    assert_eq!(stored.read(&plan).await.unwrap().0.num_rows(), 10);
    assert_eq!(stored.reader.counts().rows_searched, 0);
}

#[tokio::test]
async fn nothing_is_read_before_it_is_asked_for_and_one_step_ahead_at_most() {
    let (stored, reader, bytes) = large().await;
    let mut scan = reader.scan(&plan(&stored.snapshot)).await.unwrap();
    let settle = || tokio::time::sleep(Duration::from_millis(200));
    settle().await;
    assert_eq!(bytes.load(Ordering::SeqCst), 0, "nobody has asked");
    scan.batches.next().await.unwrap().unwrap();
    settle().await;
    let row_group = stored.snapshot.file.bytes / 10;
    let after_one = bytes.load(Ordering::SeqCst);
    assert!(
        after_one > 0 && after_one < row_group * 5 / 2,
        "{after_one} bytes, {row_group} a row group"
    );
    settle().await;
    assert_eq!(
        bytes.load(Ordering::SeqCst),
        after_one,
        "a stream that is not polled reads nothing more"
    );
    drop(scan);
    settle().await;
    assert_eq!(bytes.load(Ordering::SeqCst), after_one, "a dropped stream reads nothing more");
}

#[tokio::test]
async fn a_footer_is_loaded_once_however_many_ask() {
    let (stored, _, bytes) = large().await;
    let load = async |times: usize| {
        let inner = LocalFileSystem::new_with_prefix(stored.folder.path().join("store")).unwrap();
        let reader = stored.afresh(Some(Arc::new(Counting { inner, bytes: Arc::clone(&bytes) })));
        bytes.store(0, Ordering::SeqCst);
        let plan = plan(&stored.snapshot);
        futures::future::join_all((0..times).map(|_| reader.scan(&plan)))
            .await
            .into_iter()
            .for_each(|scan| drop(scan.unwrap()));
        bytes.load(Ordering::SeqCst)
    };
    let once = load(1).await;
    assert!(once > 0);
    assert_eq!(load(20).await, once);
}
