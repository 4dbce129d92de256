//! Stored bounds of rows, in memory: heads of files, and bounds of the row groups asked for last.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use yearbook_cache::Cache;
use yearbook_domain::{Digest, Snapshot, StoredFile};
use yearbook_shares::CallerShare;
use yearbook_storage::{ObjectStorage, Sidecar};
use yearbook_workers::Workers;

use super::row_cells::{BoxRows, RowCells};
use super::stored::{self, GroupEntry};
use crate::StorageFailure;
use crate::decode::{CallerWorkers, FileSource};
use crate::geometry_box::{GeometryBox, Overlap};

/// Bytes of heads in memory. One of a table of a million rows has some 500.
const HEAD_CACHE_BYTES: u64 = 8 << 20;

/// Bytes of bounds in memory: those of ten million rows.
const CELL_CACHE_BYTES: u64 = 80 << 20;

/// Bytes read at first: the heads of most files.
const FIRST_BYTES: u64 = 16 << 10;

/// Bytes of a head at most where the row groups of its file are not known: those of 350,000.
const MAX_HEAD_BYTES: u64 = 16 << 20;

/// Time after which they are looked for again: publishing again and `yearbook migrate` store what
/// is missing.
const REFRESH: Duration = Duration::from_secs(600);

type Cells = Option<Arc<RowCells>>;

/// Bounds by digest of the snapshot's file, those that are missing too.
#[derive(Clone)]
pub(crate) struct RowBoundsCache {
    store: BoundsStore,
    heads: Cache<Digest, Option<Arc<[GroupEntry]>>>,
    cells: Cache<(Digest, usize), Cells>,
}

/// Bounds of the rows of a file.
pub(crate) struct RowBounds {
    cache: RowBoundsCache,
    groups: Arc<[GroupEntry]>,
}

impl RowBoundsCache {
    pub(crate) fn new(files: ObjectStorage) -> Self {
        let of_head = |_: &Digest, groups: &Option<Arc<[GroupEntry]>>| {
            let groups = groups.as_ref().map_or(0, |groups| groups.len());
            u32::try_from(100 + groups * size_of::<GroupEntry>()).unwrap_or(u32::MAX)
        };
        let of_cells = |_: &(Digest, usize), cells: &Cells| {
            let bytes = cells.as_ref().map_or(0, |cells| cells.bytes());
            u32::try_from(100 + bytes).unwrap_or(u32::MAX)
        };
        Self {
            store: BoundsStore { files },
            heads: Cache::weighted_and_expiring(HEAD_CACHE_BYTES, of_head, REFRESH),
            cells: Cache::weighted_and_expiring(CELL_CACHE_BYTES, of_cells, REFRESH),
        }
    }

    /// Returns the bounds stored beside a file; `None` where there are none, or none of this file.
    ///
    /// # Errors
    /// The store's refusal.
    pub(crate) async fn get(
        &self,
        source: &FileSource,
    ) -> Result<Option<RowBounds>, StorageFailure> {
        let sha256 = source.parquet.file.sha256;
        let groups = self.heads.try_get_with(sha256, self.load(source)).await;
        let groups = groups.map_err(|shared| StorageFailure::clone(&shared))?;
        Ok(groups.map(|groups| RowBounds { cache: self.clone(), groups }))
    }

    async fn load(&self, source: &FileSource) -> Result<Option<Arc<[GroupEntry]>>, StorageFailure> {
        let parquet = &source.parquet;
        let most = stored::bytes_of_head(parquet.metadata.num_row_groups());
        let groups = match self.store.head(&source.workers, &parquet.file, most).await {
            Ok(Some(groups)) => groups,
            Ok(None) => {
                tracing::warn!(
                    file = parquet.key,
                    "no bounds of rows are stored beside it, so boxes read all geometry; run `yearbook migrate`"
                );
                return Ok(None);
            }
            Err(failure) if failure.is_of_one_object() => {
                tracing::warn!(%failure, "boxes read all geometry");
                return Ok(None);
            }
            Err(failure) => return Err(failure),
        };
        let rows = groups.iter().map(|group| group.rows as usize);
        let of_file = 0..parquet.metadata.num_row_groups();
        if !rows.eq(of_file.map(|group| parquet.rows_of(group))) {
            tracing::warn!(file = parquet.key, "bounds are of other row groups: not used");
            return Ok(None);
        }
        Ok(Some(groups.into()))
    }

    async fn load_cells(
        &self,
        source: &FileSource,
        group: usize,
        entry: &GroupEntry,
    ) -> Result<Cells, StorageFailure> {
        let file = &source.parquet.file;
        let rows = entry.rows as usize;
        let read = async {
            let chunk = self.store.chunk(&source.workers, file, entry).await?;
            let parse = move || Ok(RowCells::parse(&chunk, rows).map(Arc::new));
            let cells = source.run_on_worker(group, parse).await?;
            cells.ok_or_else(|| damaged(file, "the bounds of a row group are of no known form"))
        };
        match read.await {
            Err(failure) if failure.is_of_one_object() => {
                tracing::warn!(%failure, "boxes read all geometry of a row group");
                Ok(None)
            }
            cells => cells.map(Some),
        }
    }
}

impl RowBounds {
    /// Returns what the bounds of row group `group` say of a box; `None` where they say nothing.
    ///
    /// # Errors
    /// The store's refusal.
    pub(crate) async fn compare(
        &self,
        source: &FileSource,
        group: usize,
        area: GeometryBox,
    ) -> Result<Option<BoxRows>, StorageFailure> {
        let Some(entry) = self.groups.get(group) else { return Ok(None) };
        let rows = entry.rows as usize;
        let all = |inside| Some(BoxRows::all(rows, inside));
        match area.compare(entry.bounds) {
            Overlap::None => return Ok(all(false)),
            Overlap::Inside if entry.empty_rows == 0 => return Ok(all(true)),
            _ if entry.range.is_empty() => return Ok(None),
            _ => {}
        }
        let load = self.cache.load_cells(source, group, entry);
        let key = (source.parquet.file.sha256, group);
        let cells = self.cache.cells.try_get_with(key, load).await;
        let Some(cells) = cells.map_err(|shared| StorageFailure::clone(&shared))? else {
            return Ok(None);
        };
        Ok(Some(source.run_on_worker(group, move || Ok(cells.compare(&area))).await?))
    }
}

/// Returns whether the bounds of the rows of `snapshot` are stored as publishing stores them; true
/// where it has no geometry.
///
/// # Errors
/// The store's refusal; absence and damage are none.
pub async fn row_bounds_are_intact(
    files: &ObjectStorage,
    workers: &Arc<Workers>,
    snapshot: &Snapshot,
) -> Result<bool, StorageFailure> {
    if !snapshot.has_geometry() {
        return Ok(true);
    }
    let store = BoundsStore { files: files.clone() };
    let workers = CallerWorkers::new(workers, &CallerShare::default());
    let checked = async {
        let head = store.head(&workers, &snapshot.file, MAX_HEAD_BYTES).await?;
        let Some(groups) = head else { return Ok(false) };
        for group in groups.iter().filter(|group| !group.range.is_empty()) {
            store.chunk(&workers, &snapshot.file, group).await?;
        }
        Ok(groups.iter().map(|group| u64::from(group.rows)).sum::<u64>() == snapshot.rows)
    };
    match checked.await {
        Err(StorageFailure::Damaged { .. }) => Ok(false),
        checked => checked,
    }
}

/// Objects that hold bounds. Cheap to clone.
#[derive(Clone)]
struct BoundsStore {
    files: ObjectStorage,
}

impl BoundsStore {
    /// Row groups of the bounds stored beside a file; `None` where there are none. A head that says
    /// that it has more than `most` bytes is damaged: its checksum stands at its end.
    async fn head(
        &self,
        workers: &CallerWorkers,
        file: &StoredFile,
        most: u64,
    ) -> Result<Option<Vec<GroupEntry>>, StorageFailure> {
        let first = self.read(workers, file, 0..FIRST_BYTES).await?;
        let Some(mut head) = first else { return Ok(None) };
        let damaged = || damaged(file, "its head is damaged, or of another file");
        let bytes = stored::head_bytes(&head).filter(|bytes| *bytes <= most);
        let bytes = bytes.ok_or_else(damaged)?;
        if bytes > head.len() as u64 && head.len() as u64 == FIRST_BYTES {
            let whole = self.read(workers, file, 0..bytes).await?;
            let Some(whole) = whole else { return Ok(None) };
            head = whole;
        }
        let head = usize::try_from(bytes).ok().and_then(|bytes| head.get(..bytes));
        let groups = head.and_then(|head| stored::parse_head(head, &file.sha256));
        groups.map(Some).ok_or_else(damaged)
    }

    /// Stored bounds of a row group that has some.
    async fn chunk(
        &self,
        workers: &CallerWorkers,
        file: &StoredFile,
        entry: &GroupEntry,
    ) -> Result<Bytes, StorageFailure> {
        let bytes = self.read(workers, file, entry.range.clone()).await?;
        let verified = bytes.and_then(|bytes| entry.verify(bytes));
        verified.ok_or_else(|| damaged(file, "a checksum differs"))
    }

    async fn read(
        &self,
        workers: &CallerWorkers,
        file: &StoredFile,
        range: Range<u64>,
    ) -> Result<Option<Bytes>, StorageFailure> {
        if !self.files.is_local() {
            return self.files.get_sidecar_range(file, Sidecar::Bounds, range).await;
        }
        let (files, stored) = (self.files.clone(), file.clone());
        let job = move || files.get_sidecar_range_blocking(&stored, Sidecar::Bounds, range);
        let read = workers.run(job).await;
        read.map_err(|_| StorageFailure::ShuttingDown { what: ObjectStorage::key(file) })?
    }
}

fn damaged(file: &StoredFile, why: &str) -> StorageFailure {
    StorageFailure::damaged(&Sidecar::Bounds.key(file), why)
}
