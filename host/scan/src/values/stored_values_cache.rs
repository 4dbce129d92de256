//! Values that publishing stored, in memory.

use std::sync::Arc;
use std::time::Duration;

use yearbook_cache::Cache;
use yearbook_domain::values::StoredValues;
use yearbook_domain::{Digest, Snapshot};
use yearbook_storage::{ObjectStorage, Sidecar};

use super::compression::inflate;
use crate::StorageFailure;
use crate::decode::CallerWorkers;

/// Bytes of values in memory.
const MAX_BYTES: u64 = 64 << 20;

/// Bytes in memory of a byte of JSON, at most: a value in eighty, which takes sixteen
/// there.
const EXPANSION: usize = 5;

/// Time after which they are looked for again: publishing again repairs what is damaged.
const REFRESH: Duration = Duration::from_secs(600);

/// Files whose numbers of values are in memory: those of every dataset, for lists of them.
const COUNTED_FILES: u64 = 10_000;

/// Numbers of the stored values of each column; `None` where those of a column are not stored.
pub type DistinctCounts = Arc<[Option<u32>]>;

/// Stored values by digest of the snapshot's file, those that were counted or are missing too.
#[derive(Clone)]
pub(crate) struct StoredValuesCache {
    files: ObjectStorage,
    known: Cache<Digest, Entry>,
    counts: Cache<Digest, DistinctCounts>,
}

#[derive(Clone, Default)]
struct Entry {
    values: Option<Arc<StoredValues>>,
    bytes: usize,
}

impl StoredValuesCache {
    pub(crate) fn new(files: ObjectStorage) -> Self {
        let weigh = |_: &Digest, entry: &Entry| {
            u32::try_from(size_of::<Entry>() + EXPANSION * entry.bytes).unwrap_or(u32::MAX)
        };
        let known = Cache::weighted_and_expiring(MAX_BYTES, weigh, REFRESH);
        Self { files, known, counts: Cache::new(COUNTED_FILES) }
    }

    /// Returns the values stored beside the file of `snapshot`, or what `count` makes where none
    /// are; one load at a time.
    ///
    /// # Errors
    /// The store's refusal, and failures of `count`.
    pub(crate) async fn get(
        &self,
        snapshot: &Snapshot,
        workers: &CallerWorkers,
        count: impl Future<Output = Result<Option<StoredValues>, StorageFailure>> + Send,
    ) -> Result<Option<Arc<StoredValues>>, StorageFailure> {
        let load = async {
            let stored = self.load(snapshot, workers).await?;
            if stored.values.is_some() {
                return Ok(stored);
            }
            let counted = count.await?;
            Ok(counted.map_or(stored, |values| Entry {
                bytes: values.to_json().len(),
                values: Some(Arc::new(values)),
            }))
        };
        let entry = self.known.try_get_with(snapshot.file.sha256, load).await;
        match entry {
            Ok(entry) => Ok(entry.values),
            Err(shared) => Err(StorageFailure::clone(&shared)),
        }
    }

    /// Returns how many values of each column of `snapshot` are stored; none of any where they are
    /// missing.
    ///
    /// # Errors
    /// The store's refusal.
    pub(crate) async fn counts(
        &self,
        snapshot: &Snapshot,
        workers: &CallerWorkers,
    ) -> Result<DistinctCounts, StorageFailure> {
        let digest = snapshot.file.sha256;
        if let Some(counts) = self.counts.get(&digest).await {
            return Ok(counts);
        }
        // A list of all datasets would drive everybody's values out of memory.
        let values = match self.known.get(&digest).await {
            Some(entry) => entry.values,
            None => self.load(snapshot, workers).await?.values,
        };
        let Some(values) = values else { return Ok(vec![None; snapshot.columns.len()].into()) };
        let count =
            |position| values.column(position).and_then(|column| u32::try_from(column.len()).ok());
        let counts: DistinctCounts = (0..snapshot.columns.len()).map(count).collect();
        self.counts.insert(digest, Arc::clone(&counts)).await;
        Ok(counts)
    }

    async fn load(
        &self,
        snapshot: &Snapshot,
        workers: &CallerWorkers,
    ) -> Result<Entry, StorageFailure> {
        let found = self.files.get_sidecar(&snapshot.file, Sidecar::Values).await;
        let stored = match found {
            Ok(Some(stored)) => stored,
            Ok(None) => return Ok(Entry::default()),
            Err(failure) if failure.is_of_one_object() => {
                tracing::warn!(%failure, "values are counted instead");
                return Ok(Entry::default());
            }
            Err(failure) => return Err(failure),
        };
        let parse = move || {
            let json = inflate(&stored).map_err(|failure| failure.to_string())?;
            let values = StoredValues::from_json(&json).map_err(|failure| failure.to_string())?;
            Ok::<_, String>(Entry { values: Some(Arc::new(values)), bytes: json.len() })
        };
        let parsed = workers.run(parse).await;
        let parsed = parsed.map_err(|_| StorageFailure::ShuttingDown {
            what: ObjectStorage::key(&snapshot.file),
        })?;
        Ok(parsed.unwrap_or_else(|failure| {
            tracing::warn!(snapshot = %snapshot.id, failure, "stored values of another version");
            Entry::default()
        }))
    }
}
