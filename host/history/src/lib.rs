//! Tables of the past: versions whose file retention dropped, and tables of revisions, made on this
//! machine when they are asked for and kept while there is room (contract-21-history). One at a
//! time for a dataset; who waits too long is told to come again. Never touches a request.

mod failure;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, Shared};
use futures::{FutureExt as _, TryFutureExt as _};
use tokio::sync::Semaphore;
use yearbook_catalog::{Catalog, KnownHistory, PastVersion};
use yearbook_domain::{Dataset, DatasetName, Namespace, Refusal, Snapshot, SnapshotId};
use yearbook_http::Error;
use yearbook_http::past_files::PastFiles;
use yearbook_publish::{PublishMemory, RestoredVersion, RevisionRange};
use yearbook_storage::{MadeFile, MadeFiles, ObjectStorage};
use yearbook_workers::Workers;

use crate::failure::Failure;

/// Time that a request waits for a table.
const WAIT: Duration = Duration::from_secs(10);

/// Seconds after which a client may come again.
const RETRY_AFTER: u64 = 5;

/// Memory of one table that is being made.
const MEMORY_BYTES: u64 = 256 << 20;

/// Tables that are made at the same time.
const AT_ONCE: usize = 2;

/// Tables that are known to be larger than all the room.
const TOO_LARGE: usize = 256;

/// A file that is made again, by another release of the writer say, is not this many times smaller
/// than the one that was dropped.
const TIMES_SMALLER: u64 = 2;

/// Tables that are being made and that are there.
pub struct History {
    maker: Arc<Maker>,
    /// Table that is being made of each dataset.
    running: Mutex<HashMap<DatasetName, (Wanted, Making)>>,
}

/// A table among those of all datasets.
type Key = (DatasetName, Wanted);

type Making = Shared<BoxFuture<'static, Result<Arc<Snapshot>, Failure>>>;

/// A table of a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Wanted {
    /// A version by its id.
    Version(SnapshotId),
    /// Revisions from a version to another, the newest, and the oldest that is known.
    Revisions { newest: u64, since: Option<u64>, oldest: Option<u64> },
}

/// Maker of tables, which has those that it made.
struct Maker {
    catalog: Arc<Catalog>,
    files: ObjectStorage,
    workers: Arc<Workers>,
    made: MadeFiles,
    /// Bounds the memory of all tables that are being made.
    turns: Semaphore,
    ready: Mutex<HashMap<Key, Arc<Snapshot>>>,
    /// Tables that are larger than all the room, those found last first: none is made once more.
    too_large: Mutex<VecDeque<Key>>,
}

impl History {
    /// Makes tables from `files`; readers find them where they read through `made` too.
    #[must_use]
    pub fn new(
        catalog: Arc<Catalog>,
        files: ObjectStorage,
        workers: Arc<Workers>,
        made: MadeFiles,
    ) -> Self {
        let turns = Semaphore::new(AT_ONCE);
        let (ready, too_large) = (Mutex::default(), Mutex::default());
        let maker = Maker { catalog, files, workers, made, turns, ready, too_large };
        Self { maker: Arc::new(maker), running: Mutex::default() }
    }

    /// Returns the table `wanted`, which `make` makes where it is not there.
    async fn table(
        &self,
        dataset: DatasetName,
        wanted: Wanted,
        make: impl FnOnce(Arc<Maker>) -> BoxFuture<'static, Result<Table, Failure>>,
    ) -> Result<Arc<Snapshot>, Error> {
        let key = (dataset, wanted);
        if lock(&self.maker.too_large).contains(&key) {
            return Err(Refusal::HistoryTooLarge.into());
        }
        let mut make = Some(make);
        let found = tokio::time::timeout(WAIT, async {
            loop {
                if let Some(ready) = self.maker.find_ready(&key) {
                    return Ok(ready);
                }
                let (own, making) = self.join(&key, &mut make);
                let made = making.await;
                // After another table of the dataset it is this one's turn.
                if own {
                    return made;
                }
            }
        });
        match found.await {
            Ok(made) => made.map_err(Error::from),
            Err(_) => Err(Error::Rebuilding { retry_after: RETRY_AFTER }),
        }
    }

    /// Returns what is being made of the dataset of `key`, and whether it is this table; begins
    /// with that where nothing is.
    fn join(
        &self,
        key: &Key,
        make: &mut Option<impl FnOnce(Arc<Maker>) -> BoxFuture<'static, Result<Table, Failure>>>,
    ) -> (bool, Making) {
        let (dataset, wanted) = key;
        let mut running = lock(&self.running);
        forget_ended(&mut running);
        if let Some((other, making)) = running.get(dataset) {
            return (other == wanted, making.clone());
        }
        let maker = Arc::clone(&self.maker);
        let begun = make.take().map(|make| make(Arc::clone(&maker)));
        let key = key.clone();
        // Whoever asked may leave; others wait for it.
        let task = tokio::spawn(async move {
            let Some(begun) = begun else { return Err(Failure::Internal) };
            let _turn = maker.turns.acquire().await;
            let made = begun.await.and_then(|table| maker.add_ready(&key, table));
            if let Err(Failure::TooLarge(bytes)) = made {
                maker.add_too_large(key, bytes);
            }
            made
        });
        let making = async move {
            task.await.unwrap_or_else(|failure| {
                tracing::error!(%failure, "making a table of the past ended early");
                Err(Failure::Internal)
            })
        };
        let making = making.boxed().shared();
        running.insert(dataset.clone(), (wanted.clone(), making.clone()));
        (true, making)
    }
}

/// A table that was made.
struct Table {
    file: Arc<MadeFile>,
    snapshot: Snapshot,
}

impl PastFiles for History {
    fn open(
        &self,
        dataset: &Dataset,
        past: PastVersion,
    ) -> BoxFuture<'_, Result<Arc<Snapshot>, Error>> {
        if past.file_kept {
            return async move { Ok(Arc::new(past.snapshot)) }.boxed();
        }
        let (name, namespace) = (dataset.name.clone(), dataset.namespace.clone());
        let wanted = Wanted::Version(past.snapshot.id);
        let then = past.snapshot.clone();
        let make = {
            let name = name.clone();
            move |maker: Arc<Maker>| {
                async move { maker.restore(name, namespace, past).await }.boxed()
            }
        };
        let found = self.table(name, wanted, make);
        // Data may have gone back to what it was: all these versions have the file, and everything
        // else is of this one.
        found.map_ok(move |found| Arc::new(Snapshot { file: found.file.clone(), ..then })).boxed()
    }

    fn revisions(
        &self,
        dataset: &Dataset,
        newest: Arc<Snapshot>,
        (newest_version, since): (u64, Option<u64>),
        history: Arc<KnownHistory>,
    ) -> BoxFuture<'_, Result<Arc<Snapshot>, Error>> {
        let (name, namespace) = (dataset.name.clone(), dataset.namespace.clone());
        let oldest = history.times.keys().next().copied();
        let wanted = Wanted::Revisions { newest: newest_version, since, oldest };
        let make = {
            let name = name.clone();
            move |maker: Arc<Maker>| {
                async move {
                    maker.revise(name, namespace, newest, (newest_version, since), history).await
                }
                .boxed()
            }
        };
        self.table(name, wanted, make).boxed()
    }
}

impl Maker {
    async fn restore(
        &self,
        name: DatasetName,
        namespace: Namespace,
        past: PastVersion,
    ) -> Result<Table, Failure> {
        let bytes = past.snapshot.file.bytes;
        let least = bytes / TIMES_SMALLER;
        if least > self.made.capacity() {
            return Err(Failure::TooLarge(bytes));
        }
        if !self.made.has_room(least) {
            return Err(self.explain_no_room(least));
        }
        let segment = self.catalog.restoration(&name, &past).await?.ok_or(Failure::Changed)?;
        tracing::info!(dataset = %name, version = past.version, "making an old version again");
        let version = RestoredVersion {
            name: &name,
            namespace: &namespace,
            snapshot: &past.snapshot,
            digest: past.digest,
        };
        let memory = PublishMemory::new(MEMORY_BYTES);
        let making =
            yearbook_publish::restore(memory, &self.files, &self.workers, version, &segment);
        let file = Box::pin(making).await?;
        let snapshot = Snapshot { file: file.stored().clone(), ..past.snapshot };
        Ok(Table { file, snapshot })
    }

    async fn revise(
        &self,
        name: DatasetName,
        namespace: Namespace,
        newest: Arc<Snapshot>,
        (until, since): (u64, Option<u64>),
        history: Arc<KnownHistory>,
    ) -> Result<Table, Failure> {
        if !self.made.has_room(0) {
            return Err(self.explain_no_room(0));
        }
        tracing::info!(dataset = %name, versions = history.times.len(), "making a table of revisions");
        let making = yearbook_publish::revisions(
            PublishMemory::new(MEMORY_BYTES),
            &self.files,
            &self.workers,
            (&name, &namespace),
            &newest,
            &history.segments,
            (history.times.clone(), RevisionRange { since, until }),
        );
        let revised = Box::pin(making).await?;
        Ok(Table { file: Arc::new(revised.file), snapshot: revised.snapshot })
    }

    /// The table, where it was made and its file is still there.
    fn find_ready(&self, key: &Key) -> Option<Arc<Snapshot>> {
        let ready = lock(&self.ready);
        let snapshot = ready.get(key)?;
        self.made.find(&snapshot.file.sha256)?;
        Some(Arc::clone(snapshot))
    }

    fn add_ready(&self, key: &Key, table: Table) -> Result<Arc<Snapshot>, Failure> {
        let bytes = table.file.bytes();
        if !self.made.insert(table.file) {
            return Err(self.explain_no_room(bytes));
        }
        let snapshot = Arc::new(table.snapshot);
        let mut ready = lock(&self.ready);
        ready.retain(|_, snapshot| self.made.contains(&snapshot.file.sha256));
        ready.insert(key.clone(), Arc::clone(&snapshot));
        Ok(snapshot)
    }

    /// The failure of a table of at least so many bytes for which there is no room.
    fn explain_no_room(&self, bytes: u64) -> Failure {
        if bytes > self.made.capacity() {
            return Failure::TooLarge(bytes);
        }
        tracing::warn!(
            bytes,
            "there is no room for a table of the past beside those that were read of late, by retention.cache_bytes or by their number"
        );
        Failure::Full
    }

    fn add_too_large(&self, key: Key, bytes: u64) {
        tracing::warn!(
            dataset = %key.0,
            bytes,
            capacity = self.made.capacity(),
            "a table of the past is larger than retention.cache_bytes and refused from now on; raise it above that"
        );
        let mut too_large = lock(&self.too_large);
        too_large.truncate(TOO_LARGE - 1);
        too_large.push_front(key);
    }
}

/// Forgets tables that are made or failed, those too whose end nobody has waited for.
fn forget_ended(running: &mut HashMap<DatasetName, (Wanted, Making)>) {
    // Nobody else may have polled it since it ended.
    running.retain(|_, (_, making)| making.clone().now_or_never().is_none());
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn an_outcome_that_nobody_waited_for_is_not_told_later_contract_21() {
        let ended: Making = async { Err(Failure::Full) }.boxed().shared();
        let going: Making = futures::future::pending().boxed().shared();
        let name = |name: &str| DatasetName::parse(name).unwrap();
        let wanted = Wanted::Revisions { newest: 1, since: None, oldest: None };
        let mut running = HashMap::from([
            (name("ended"), (wanted.clone(), ended)),
            (name("going"), (wanted, going)),
        ]);
        forget_ended(&mut running);
        assert_eq!(running.into_keys().collect::<Vec<_>>(), [name("going")]);
    }
}
