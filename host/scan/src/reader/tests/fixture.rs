//! Tables of seven columns in stored files of many small row groups and pages.

use arrow::array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::{DataType, Field, Schema};
use futures::TryStreamExt;
use object_store::ObjectStore;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use yearbook_domain::meaning::DatasetMeaning;
use yearbook_domain::{
    Column, ColumnRole, ColumnType, Credit, DatasetName, Digest, Millis, Namespace, SnapshotId,
    SourceEntry, TableLayout, TextTraits,
};

use yearbook_storage::Sidecar;

use super::super::*;
use crate::RowBoundsWriter;

/// Table and file of a fixture.
#[derive(Clone, Debug)]
pub(super) struct FixtureOptions {
    pub(super) rows: usize,
    pub(super) seed: u64,
    /// Rows of a row group and of a page, about.
    pub(super) group: usize,
    pub(super) page: usize,
    /// Extent of dictionary encoding: fully, until its dictionary is full, or never.
    pub(super) dictionary: Option<usize>,
    pub(super) statistics: bool,
    /// Columns that never have a dictionary.
    pub(super) plain: &'static [&'static str],
    /// A row whose geometry is 5 MiB.
    pub(super) huge: Option<usize>,
}

impl Default for FixtureOptions {
    fn default() -> Self {
        Self {
            rows: 0,
            seed: 1,
            group: 40,
            page: 10,
            dictionary: Some(1 << 20),
            statistics: true,
            plain: &["geometry_wkt"],
            huge: None,
        }
    }
}

impl FixtureOptions {
    pub(super) fn rows(rows: usize) -> Self {
        Self { rows, ..Self::default() }
    }
}

/// A table, the snapshot it is stored as, and a reader of it.
pub(super) struct StoredFixture {
    pub(super) table: RecordBatch,
    pub(super) snapshot: Snapshot,
    pub(super) reader: Reader,
    pub(super) folder: tempfile::TempDir,
}

impl StoredFixture {
    pub(super) async fn new(shape: &FixtureOptions) -> Self {
        Self::of_table(table(shape), shape).await
    }

    /// `table`, which has the columns of the fixture, stored as `shape` says.
    pub(super) async fn of_table(table: RecordBatch, shape: &FixtureOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files =
            ObjectStorage::open(&format!("file:{}/store", folder.path().display())).unwrap();
        let path = folder.path().join("table.parquet");
        write(&table, shape, &path);
        let file = files.put_snapshot(&path).await.unwrap();
        let snapshot = snapshot(table.num_rows() as u64, file);
        Self { table, snapshot, reader: Reader::new(files, Workers::new(1)), folder }
    }

    /// Stores bounds of rows as for row groups of `weight` bytes.
    pub(super) async fn store_bounds(&self, weight: u64) {
        let mut bounds = RowBoundsWriter::new(tempfile::tempfile().unwrap(), false);
        let mut end = 0;
        for (rows, _) in self.reader.row_groups(&self.snapshot).await.unwrap() {
            let rows = usize::try_from(rows).unwrap();
            let geometry = self.table.column_by_name("geometry_wkt").unwrap();
            bounds.update(&geometry.slice(end, rows)).unwrap();
            bounds.end_group(weight).unwrap();
            end += rows;
        }
        let file = &self.snapshot.file;
        let (head, chunks) = bounds.finish(&file.sha256).unwrap();
        let files = &self.reader.parts.files;
        files.put_sidecar_file(file, Sidecar::Bounds, head, chunks).await.unwrap();
    }

    /// The stored object on disk.
    pub(super) fn object(&self) -> std::path::PathBuf {
        self.folder.path().join("store").join(ObjectStorage::key(&self.snapshot.file))
    }

    /// A reader that knows nothing yet, over the same folder or another store.
    pub(super) fn afresh(&self, store: Option<Arc<dyn ObjectStore>>) -> Reader {
        let open = || {
            ObjectStorage::open(&format!("file:{}/store", self.folder.path().display())).unwrap()
        };
        Reader::new(
            store.map_or_else(open, ObjectStorage::from_store),
            Arc::clone(&self.reader.parts.workers),
        )
    }

    pub(super) async fn read(
        &self,
        plan: &ReadPlan,
    ) -> Result<(RecordBatch, Option<u64>), StorageFailure> {
        read(&self.reader, plan).await
    }
}

/// Everything a plan gives, with text plain, and where it goes on.
pub(super) async fn read(
    reader: &Reader,
    plan: &ReadPlan,
) -> Result<(RecordBatch, Option<u64>), StorageFailure> {
    let scan = reader.scan(plan).await?;
    let batches: Vec<RecordBatch> = scan.batches.try_collect().await?;
    assert!(batches.iter().all(|batch| batch.num_rows() > 0), "no batch is empty");
    Ok((plain(&concat_batches(&scan.schema, &batches).unwrap()), scan.counts.next))
}

/// The same columns with text as text.
pub(super) fn plain(batch: &RecordBatch) -> RecordBatch {
    let columns = batch.columns().iter().map(|column| match column.data_type() {
        DataType::Dictionary(..) => cast(column, &DataType::Utf8).unwrap(),
        _ => Arc::clone(column),
    });
    let columns: Vec<ArrayRef> = columns.collect();
    let fields = batch.schema_ref().fields().iter().zip(&columns);
    let fields: Vec<_> = fields
        .map(|(field, column)| {
            Field::new(field.name(), column.data_type().clone(), field.is_nullable())
        })
        .collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// A plan that asks for everything.
pub(super) fn plan(snapshot: &Snapshot) -> ReadPlan {
    let (dataset, namespace) =
        (DatasetName::parse("fixture").unwrap(), Namespace::parse("tests").unwrap());
    ReadPlan::full_scan(dataset, namespace, Arc::new(snapshot.clone()))
}

fn snapshot(rows: u64, file: yearbook_domain::StoredFile) -> Snapshot {
    let column = |name: &str, column_type, nullable, role, few_values| Column {
        name: name.to_owned(),
        column_type,
        nullable,
        role,
        unit: None,
        description: None,
        few_values,
        text_traits: TextTraits::empty(),
        meaning: None,
    };
    Snapshot {
        id: snapshot_id("s1"),
        created_at: Millis(0),
        rows,
        file,
        title: None,
        description: None,
        keywords: Vec::new(),
        credit: Credit {
            source: "Stats".to_owned(),
            attribution: "Credit: Stats".to_owned(),
            licence: "CC-BY-4.0".to_owned(),
            licence_title: Some("Attribution 4.0".to_owned()),
            licence_url: Some("https://licence.example/by".to_owned()),
            source_url: None,
            source_url_precision: None,
            sources: vec![SourceEntry { title: Some("Stats".to_owned()), path: None }],
        },
        refresh_cadence: None,
        bulk_redistribution: true,
        columns: vec![
            column("date", ColumnType::Date, false, ColumnRole::Date, false),
            column("region", ColumnType::String, true, ColumnRole::Dimension, true),
            column("place", ColumnType::String, true, ColumnRole::Dimension, false),
            column("value", ColumnType::Number, true, ColumnRole::Value, false),
            column("count", ColumnType::Integer, true, ColumnRole::Value, false),
            column("flag", ColumnType::Boolean, true, ColumnRole::Attribute, false),
            column("geometry_wkt", ColumnType::String, true, ColumnRole::Geometry, false),
        ],
        primary_key: vec![],
        dimensions: vec!["region".to_owned(), "place".to_owned()],
        date_column: Some("date".to_owned()),
        date_range: None,
        layout: TableLayout::Long,
        bbox: None,
        meaning: DatasetMeaning::default(),
    }
}

/// The id that stands for `label`.
pub(super) fn snapshot_id(label: &str) -> SnapshotId {
    SnapshotId::from_digest(Digest::compute(label.as_bytes()))
}

/// Letters that fold into each other, and metacharacters.
pub(super) const LETTERS: [char; 12] =
    ['a', 'A', 'b', 'k', 'K', '\u{212a}', 's', 'ſ', 'σ', 'ς', '.', '*'];

fn table(shape: &FixtureOptions) -> RecordBatch {
    let mut random = FixtureRandom(shape.seed);
    let mut dates = Vec::new();
    let (mut regions, mut places, mut values, mut counts, mut flags, mut geometries) =
        (vec![], vec![], vec![], vec![], vec![], vec![]);
    let mut day = 0;
    for row in 0..shape.rows {
        day += random.below(4).saturating_sub(1);
        dates.push(format!("{:04}-{:02}-{:02}", 2000 + day / 336, day / 28 % 12 + 1, day % 28 + 1));
        regions.push(random.some(|random| random.word(2)));
        places.push(random.some(|random| random.word(5)));
        values.push(
            random.some(|random| f64::from(u32::try_from(random.below(1000)).unwrap()) / 8.0),
        );
        counts.push(random.some(|random| i64::try_from(random.below(100)).unwrap()));
        flags.push(random.some(|random| random.below(2) == 0));
        let size = if shape.huge == Some(row) { 5 << 20 } else { random.below(2000) };
        geometries.push(
            random
                .some(|_| format!("MULTIPOINT ({row} {})", "7".repeat(size)))
                .or_else(|| shape.huge.map(|_| "x".repeat(size))),
        );
    }
    let columns: [(&str, ArrayRef, bool); 7] = [
        ("date", Arc::new(StringArray::from(dates)), false),
        ("region", Arc::new(StringArray::from(regions)), true),
        ("place", Arc::new(StringArray::from(places)), true),
        ("value", Arc::new(Float64Array::from(values)), true),
        ("count", Arc::new(Int64Array::from(counts)), true),
        ("flag", Arc::new(BooleanArray::from(flags)), true),
        ("geometry_wkt", Arc::new(StringArray::from(geometries)), true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn write(table: &RecordBatch, shape: &FixtureOptions, path: &std::path::Path) {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(shape.group))
        .set_data_page_row_count_limit(shape.page)
        .set_write_batch_size(shape.page)
        .set_dictionary_enabled(shape.dictionary.is_some())
        .set_dictionary_page_size_limit(shape.dictionary.unwrap_or(1))
        .set_statistics_enabled(if shape.statistics {
            EnabledStatistics::Page
        } else {
            EnabledStatistics::None
        });
    for &column in shape.plain {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(column), false);
    }
    let file = std::fs::File::create(path).unwrap();
    let properties = Some(properties.build());
    let mut writer = ArrowWriter::try_new(file, table.schema(), properties).unwrap();
    writer.write(table).unwrap();
    writer.close().unwrap();
}

/// Small numbers that look random and are the same for the same seed (splitmix64).
pub(super) struct FixtureRandom(pub(super) u64);

impl FixtureRandom {
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((bits ^ (bits >> 31)) % bound as u64).unwrap()
    }

    pub(super) fn word(&mut self, length: usize) -> String {
        (0..length).map(|_| LETTERS[self.below(LETTERS.len())]).collect()
    }

    pub(super) fn some<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let present = self.below(5) > 0;
        let value = make(self);
        present.then_some(value)
    }
}
