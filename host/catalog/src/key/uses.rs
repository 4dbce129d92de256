//! The last use of each key, collected in memory and written a few times a minute, so that a
//! request costs no query (contract-12-records). Never touches the text of a key.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval_at};
use yearbook_domain::{KeyId, Millis};

use crate::{Catalog, CatalogError};

/// Interval of writes.
const FLUSH_INTERVAL: Duration = Duration::from_secs(5);

/// A use this long after a noted one is noted again, milliseconds: the precision of what is stored.
const PRECISION_MS: i64 = 60_000;

/// Uses that this host has noted. Holds the keys of the last minute, and those that could not be
/// written.
pub struct KeyUses {
    store: Arc<Catalog>,
    noted: Mutex<HashMap<KeyId, NotedUse>>,
}

#[derive(Clone, Copy)]
struct NotedUse {
    at: Millis,
    written: bool,
}

impl NotedUse {
    /// Returns true where another use at `now` need not be noted. The clock may have been ahead.
    fn is_recent(&self, now: Millis) -> bool {
        now.0.abs_diff(self.at.0) < PRECISION_MS.unsigned_abs()
    }
}

impl KeyUses {
    /// Starts a task that writes; it ends when the last `Arc` is dropped.
    pub(crate) fn start(store: Arc<Catalog>) -> Arc<Self> {
        let uses = Arc::new(Self { store, noted: Mutex::default() });
        tokio::spawn(flush_loop(Arc::downgrade(&uses)));
        uses
    }

    /// Notes that `key` is used now.
    pub(crate) fn note(&self, key: &KeyId) {
        self.note_at(key, crate::clock::now());
    }

    fn note_at(&self, key: &KeyId, now: Millis) {
        let mut noted = self.lock();
        match noted.get_mut(key) {
            Some(known) if known.is_recent(now) => {}
            Some(known) => *known = NotedUse { at: now, written: false },
            None => drop(noted.insert(key.clone(), NotedUse { at: now, written: false })),
        }
    }

    /// Writes what was noted. Call it once no request is under way.
    ///
    /// # Errors
    /// [`CatalogError`] when the database fails; the uses stay, so that it may be called again.
    pub async fn flush(&self) -> Result<(), CatalogError> {
        let now = crate::clock::now();
        let due: Vec<(KeyId, Millis)> = {
            let mut noted = self.lock();
            noted.retain(|_, noted| !noted.written || noted.is_recent(now));
            let due = noted.iter().filter(|(_, noted)| !noted.written);
            due.map(|(key, noted)| (key.clone(), noted.at)).collect()
        };
        if due.is_empty() {
            return Ok(());
        }
        self.store.record_key_uses(&due).await?;
        let mut noted = self.lock();
        for (key, at) in due {
            if let Some(noted) = noted.get_mut(&key).filter(|noted| noted.at == at) {
                noted.written = true;
            }
        }
        Ok(())
    }

    /// Nothing under the lock can fail half-way.
    fn lock(&self) -> MutexGuard<'_, HashMap<KeyId, NotedUse>> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn flush_loop(uses: Weak<KeyUses>) {
    let mut ticks = interval_at(Instant::now() + FLUSH_INTERVAL, FLUSH_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(uses) = uses.upgrade() else { return };
        if let Err(failure) = uses.flush().await {
            // The polls of the catalog say so, too; nothing is lost.
            tracing::debug!(%failure, "the use of keys cannot be written now");
        }
    }
}
