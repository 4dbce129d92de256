//! Tables of the past: versions whose file retention dropped, and tables of revisions, made on this
//! machine when they are asked for and kept while there is room (contract-21-history). One at a
//! time for a dataset; who waits too long is told to come again. Never touches a request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use tokio::sync::Semaphore;
use yearbook_catalog::{Catalog, CatalogError, KnownHistory, PastVersion};
use yearbook_domain::{Dataset, DatasetName, Namespace, Snapshot, SnapshotId};
use yearbook_http::Error;
use yearbook_http::past_files::PastFiles;
use yearbook_publish::{PublishError, PublishMemory, RestoredVersion, RevisionRange};
use yearbook_storage::{MadeFile, MadeFiles, ObjectStorage, StorageFailure};
use yearbook_workers::Workers;

/// Time that a request waits for a table.
const WAIT: Duration = Duration::from_secs(10);

/// Seconds after which a client may come again.
const RETRY_AFTER: u64 = 5;

/// Seconds after which files that are read may have been given up.
const RETRY_WHEN_FULL: u64 = 60;

/// Memory of one table that is being made.
const MEMORY_BYTES: u64 = 256 << 20;

/// Tables that are made at the same time.
const AT_ONCE: usize = 2;

/// Tables that are being made and that are there.
pub struct History {
    maker: Arc<Maker>,
    /// Table that is being made of each dataset.
    running: Mutex<HashMap<DatasetName, (Wanted, Making)>>,
}

type Making = Shared<BoxFuture<'static, Result<Arc<Snapshot>, Failure>>>;

/// A table of a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Wanted {
    /// A version by its id.
    Version(SnapshotId),
    /// Revisions from a version to another, the newest, and the oldest that is known.
    Revisions { newest: u64, since: Option<u64>, oldest: Option<u64> },
}

/// Reason for which a table was not made.
#[derive(Clone, Debug)]
enum Failure {
    /// The history changed meanwhile.
    Changed,
    /// There is no room.
    Full,
    /// The catalog does not answer; it was logged.
    Catalog,
    /// The store does not answer, or what it has is damaged.
    Storage(StorageFailure),
    /// Our fault; it was logged.
    Internal,
}

impl From<CatalogError> for Failure {
    fn from(failure: CatalogError) -> Self {
        tracing::error!(%failure, "the catalog does not answer");
        Self::Catalog
    }
}

impl From<PublishError> for Failure {
    fn from(error: PublishError) -> Self {
        match error {
            PublishError::Storage(failure) => Self::Storage(failure),
            failure => {
                tracing::error!(%failure, "cannot make a table of the past");
                Self::Internal
            }
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Changed => Self::Rebuilding { retry_after: 1 },
            Failure::Full => Self::Rebuilding { retry_after: RETRY_WHEN_FULL },
            Failure::Catalog => Self::Unavailable,
            Failure::Storage(failure) => failure.into(),
            Failure::Internal => Self::Internal,
        }
    }
}

/// Maker of tables, which has those that it made.
struct Maker {
    catalog: Arc<Catalog>,
    files: ObjectStorage,
    workers: Arc<Workers>,
    made: MadeFiles,
    /// Bounds the memory of all tables that are being made.
    turns: Semaphore,
    ready: Mutex<HashMap<(DatasetName, Wanted), Arc<Snapshot>>>,
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
        let maker = Maker { catalog, files, workers, made, turns, ready: Mutex::default() };
        Self { maker: Arc::new(maker), running: Mutex::default() }
    }

    /// Returns the table `wanted`, which `make` makes where it is not there.
    async fn table(
        &self,
        dataset: DatasetName,
        wanted: Wanted,
        make: impl FnOnce(Arc<Maker>) -> BoxFuture<'static, Result<Table, Failure>>,
    ) -> Result<Arc<Snapshot>, Error> {
        let mut make = Some(make);
        let found = tokio::time::timeout(WAIT, async {
            loop {
                if let Some(ready) = self.maker.find_ready(&dataset, &wanted) {
                    return Ok(ready);
                }
                let (own, making) = self.join(&dataset, &wanted, &mut make);
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

    /// Returns what is being made of a dataset, and whether it is `wanted`; begins with that where
    /// nothing is.
    fn join(
        &self,
        dataset: &DatasetName,
        wanted: &Wanted,
        make: &mut Option<impl FnOnce(Arc<Maker>) -> BoxFuture<'static, Result<Table, Failure>>>,
    ) -> (bool, Making) {
        let mut running = lock(&self.running);
        running.retain(|_, (_, making)| making.peek().is_none());
        if let Some((other, making)) = running.get(dataset) {
            return (other == wanted, making.clone());
        }
        let maker = Arc::clone(&self.maker);
        let begun = make.take().map(|make| make(Arc::clone(&maker)));
        let key = (dataset.clone(), wanted.clone());
        // Whoever asked may leave; others wait for it.
        let task = tokio::spawn(async move {
            let Some(begun) = begun else { return Err(Failure::Internal) };
            let _turn = maker.turns.acquire().await;
            let table = begun.await?;
            maker.add_ready(key, table)
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
        let make = {
            let name = name.clone();
            move |maker: Arc<Maker>| {
                async move { maker.restore(name, namespace, past).await }.boxed()
            }
        };
        self.table(name, wanted, make).boxed()
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
    fn find_ready(&self, dataset: &DatasetName, wanted: &Wanted) -> Option<Arc<Snapshot>> {
        let ready = lock(&self.ready);
        let snapshot = ready.get(&(dataset.clone(), wanted.clone()))?;
        self.made.find(&snapshot.file.sha256)?;
        Some(Arc::clone(snapshot))
    }

    fn add_ready(
        &self,
        key: (DatasetName, Wanted),
        table: Table,
    ) -> Result<Arc<Snapshot>, Failure> {
        let bytes = table.snapshot.file.bytes;
        if !self.made.insert(table.file) {
            tracing::warn!(
                bytes,
                "there is no room for a table of the past; raise retention.cache_bytes where this repeats"
            );
            return Err(Failure::Full);
        }
        let snapshot = Arc::new(table.snapshot);
        let mut ready = lock(&self.ready);
        ready.retain(|_, snapshot| self.made.contains(&snapshot.file.sha256));
        ready.insert(key, Arc::clone(&snapshot));
        Ok(snapshot)
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
