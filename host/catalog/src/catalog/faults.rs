//! Faults that tests inject before the transactions of a catalog, and counts of what reached it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::Catalog;
use crate::CatalogError;
use crate::queries::READ_REVISION;
use crate::queries::citations::LOOK_UP_CITATION;
use crate::queries::keys::LOOK_UP_KEY;
use crate::queries::usage::COUNT_REQUEST;

/// Time that each lookup of a key or a citation takes once a test has injected faults: long enough
/// that concurrent lookups meet.
const LOOKUP_TIME: Duration = Duration::from_millis(20);

/// Faults of one [`Catalog`]. By default there are none.
#[derive(Default)]
pub(crate) struct Faults(Option<Injected>);

struct Injected {
    /// Transactions other than for the revision.
    calls: AtomicU64,
    failing: AtomicBool,
    /// Reservations that have reached the catalog.
    reserving: AtomicU64,
    /// A reservation needs one of these.
    gate: Semaphore,
    /// Lookups of keys and citations under way, and the most that were at once.
    lookups: AtomicU64,
    max_lookups: AtomicU64,
}

impl Catalog {
    /// Another catalog on the same database and under the same name, which fails on demand.
    pub(crate) fn with_faults(&self) -> Arc<Self> {
        let injected = Injected {
            calls: AtomicU64::new(0),
            failing: AtomicBool::new(false),
            reserving: AtomicU64::new(0),
            gate: Semaphore::new(Semaphore::MAX_PERMITS),
            lookups: AtomicU64::new(0),
            max_lookups: AtomicU64::new(0),
        };
        Arc::new(Self {
            database: Arc::clone(&self.database),
            uploader: self.uploader.clone(),
            faults: Arc::new(Faults(Some(injected))),
        })
    }

    /// Number of transactions so far, those for the revision left out.
    pub(crate) fn calls(&self) -> u64 {
        self.read(|injected| injected.calls.load(Ordering::SeqCst))
    }

    /// Makes every transaction fail, or no longer.
    pub(crate) fn fail(&self, failing: bool) {
        self.read(|injected| injected.failing.store(failing, Ordering::SeqCst));
    }

    /// Holds up every reservation from now on.
    pub(crate) fn block_reservations(&self) {
        self.read(|injected| injected.gate.forget_permits(Semaphore::MAX_PERMITS));
    }

    /// Lets reservations pass again.
    pub(crate) fn unblock_reservations(&self) {
        self.read(|injected| injected.gate.add_permits(1_000));
    }

    /// Number of reservations that have reached the catalog.
    pub(crate) fn pending_reservations(&self) -> u64 {
        self.read(|injected| injected.reserving.load(Ordering::SeqCst))
    }

    /// Most lookups of keys and citations that were under way at once.
    pub(crate) fn max_concurrent_lookups(&self) -> u64 {
        self.read(|injected| injected.max_lookups.load(Ordering::SeqCst))
    }

    fn read<T: Default>(&self, read: impl Fn(&Injected) -> T) -> T {
        self.faults.0.as_ref().map(read).unwrap_or_default()
    }
}

impl Faults {
    /// Counts a transaction that is about to begin, delays it and fails it, as the test has asked.
    pub(super) async fn before(&self, operation: &'static str) -> Result<(), CatalogError> {
        let Some(injected) = &self.0 else { return Ok(()) };
        if operation == COUNT_REQUEST {
            injected.reserving.fetch_add(1, Ordering::SeqCst);
            let _permit = injected.gate.acquire().await;
        }
        if operation != READ_REVISION {
            injected.calls.fetch_add(1, Ordering::SeqCst);
        }
        if operation == LOOK_UP_KEY || operation == LOOK_UP_CITATION {
            let lookups = injected.lookups.fetch_add(1, Ordering::SeqCst) + 1;
            injected.max_lookups.fetch_max(lookups, Ordering::SeqCst);
            tokio::time::sleep(LOOKUP_TIME).await;
            injected.lookups.fetch_sub(1, Ordering::SeqCst);
        }
        if injected.failing.load(Ordering::SeqCst) {
            return Err(CatalogError::Query {
                location: "(faults)".to_owned(),
                operation,
                source: sqlx::Error::PoolClosed,
            });
        }
        Ok(())
    }
}
