//! Whose key is it? The checksum is asked first, then memory, then the database. Key texts go no
//! further than this file: what is cached and looked up is their hash.
//!
//! What is known of keys holds until one is revoked or altered anywhere, which the database counts, and for a stated time while the
//! database is away.

use std::sync::Arc;
use std::time::{Duration, Instant};

use moka::Expiry;
use moka::future::Cache;
use yearbook_domain::Caller;

use crate::generation::Generations;
use crate::{DatabaseSettings, Failure, KeyHash, Live, Store, key};

/// Keys remembered, good and bad together. One takes some hundred bytes.
const REMEMBERED: u64 = 16_384;

/// A well-formed key that does not exist is looked up again after this long: one that is made meanwhile works within the 2 s of
/// contract 6.
const BAD_FOR: Duration = Duration::from_secs(1);

/// The keys of a running server.
pub struct KeyRing {
    store: Arc<dyn Store>,
    live: Arc<Live>,
    known: Generations<KeyHash, Option<Caller>>,
    /// [`DatabaseSettings::stale_keys_s`].
    stale: Duration,
}

impl KeyRing {
    /// Follows the revisions that `live` sees in `store`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, live: Arc<Live>, settings: &DatabaseSettings) -> Self {
        let known = Generations::new(live.keys_revision(), || Cache::builder().max_capacity(REMEMBERED).expire_after(Lifetimes).build());
        Self { store, live, known, stale: Duration::from_secs(settings.stale_keys_s) }
    }

    /// Who holds the key `text`; none when it is malformed, mistyped, unknown or revoked. A malformed
    /// or mistyped one costs no query; concurrent checks of one key cost one.
    ///
    /// # Errors
    /// [`Failure`] when the database has to be asked and fails, or has been away for longer than what is known of keys holds.
    pub async fn check(&self, text: &str) -> Result<Option<Caller>, Failure> {
        let Some(hash) = key::parse(text) else { return Ok(None) };
        let age = self.live.counts().age;
        if !self.live.healthy() && age > self.stale {
            return Err(Failure::TimedOut { location: self.store.describe().location, after: age });
        }
        let known = self.known.at(self.live.keys_revision());
        known.try_get_with(hash, self.look_up(hash)).await.map_err(Failure::Shared)
    }

    async fn look_up(&self, hash: KeyHash) -> Result<Option<Caller>, Failure> {
        let found = self.store.key(&hash).await?;
        let valid = found.filter(|record| record.revoked_at.is_none());
        Ok(valid.map(|record| Caller { key_id: record.id, plan: record.plan }))
    }
}

struct Lifetimes;

impl Expiry<KeyHash, Option<Caller>> for Lifetimes {
    fn expire_after_create(&self, _: &KeyHash, caller: &Option<Caller>, _: Instant) -> Option<Duration> {
        caller.is_none().then_some(BAD_FOR)
    }
}
