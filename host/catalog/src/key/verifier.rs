//! Callers of keys. The checksum is validated first, then memory answers, then the database. Key
//! texts go no further than this file: caches and lookups have their hashes.
//!
//! A cached valid key holds until a key is revoked or altered anywhere, which the database counts,
//! and for a stated time while the database is down.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use yearbook_cache::Cache;
use yearbook_domain::{KeyId, Millis, Plan, PlanLimits, PlanTable};

use crate::cache::revisioned::RevisionedCache;
use crate::key::uses::KeyUses;
use crate::{Catalog, CatalogCache, CatalogError, DatabaseSettings, FoundKey, KeyHash, key};

/// Valid keys in memory. One takes some hundred bytes.
const MAX_VALID_KEYS: u64 = 16_384;

/// Keys in memory that do not exist, apart from the valid ones so that they evict none of those.
const MAX_UNKNOWN_KEYS: u64 = 16_384;

/// Time after which a well-formed key that does not exist is looked up again: one that is issued
/// meanwhile works within the 2 s of contract-6-two-seconds.
const NEGATIVE_CACHE_TTL: Duration = Duration::from_secs(1);

/// Longest time, milliseconds, that a key works after it was replaced: a day, and an hour by which
/// the clocks of hosts may differ.
const LONGEST_OVERLAP_MS: i64 = 25 * 3_600_000;

/// Part of the database's connections that lookups of keys that were never valid here may take: one
/// in four.
const CONNECTIONS_PER_LOOKUP: u32 = 4;

/// A caller whose key has been checked. Only this check makes one, so a step that takes a `Caller`
/// cannot be reached without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    id: KeyId,
    /// Key under which requests are counted: that of the account, where there is one.
    usage_key: KeyId,
    plan: Plan,
    limits: PlanLimits,
    link_epoch: i64,
    /// Time from which the key does not work any more, where that is known beforehand.
    ends_at: Option<Millis>,
}

impl Caller {
    /// Identifier of the key (not the key).
    #[must_use]
    pub fn id(&self) -> &KeyId {
        &self.id
    }

    /// Identifier of the key under which the requests of the month are counted: the same for every
    /// key of an account, however often it is replaced (contract-10-count).
    #[must_use]
    pub fn usage_key(&self) -> &KeyId {
        &self.usage_key
    }

    /// Plan that the key was issued for.
    #[must_use]
    pub fn plan(&self) -> Plan {
        self.plan
    }

    /// Limits of that plan.
    #[must_use]
    pub fn limits(&self) -> PlanLimits {
        self.limits
    }

    /// Returns the number that the working links of the key have (contract-15-link-ends).
    #[must_use]
    pub fn link_epoch(&self) -> i64 {
        self.link_epoch
    }

    /// A caller without a key.
    #[cfg(test)]
    pub(crate) fn for_test(id: KeyId, plan: Plan) -> Self {
        let limits = PlanTable::default().limits(plan);
        Self { usage_key: id.clone(), id, plan, limits, link_epoch: 0, ends_at: None }
    }

    /// Returns true when the key was revoked, or replaced and has worked for as long as it was to.
    /// An end further ahead than that is of a revocation by a clock that was ahead.
    fn has_ended(&self) -> bool {
        let left = self.ends_at.map(|ends_at| ends_at.0.saturating_sub(crate::clock::now().0));
        left.is_some_and(|left| !(1..=LONGEST_OVERLAP_MS).contains(&left))
    }
}

/// The keys of a running server.
pub struct KeyVerifier {
    store: Arc<Catalog>,
    live: Arc<CatalogCache>,
    plans: PlanTable,
    valid: RevisionedCache<KeyHash, Caller>,
    /// Keys that were valid when they were last looked up, whatever was revoked since.
    once_valid: Cache<KeyHash, ()>,
    unknown: Cache<KeyHash, ()>,
    /// Callers by the identifiers that signed addresses carry; `None` if the key does not work.
    by_id: RevisionedCache<KeyId, Option<Caller>>,
    /// The last use of each key.
    uses: Arc<KeyUses>,
    /// Permits to look up keys that have never been valid here.
    lookups: Semaphore,
    /// Longest wait for such a permit: [`DatabaseSettings::acquire_ms`].
    patience: Duration,
    /// [`DatabaseSettings::stale_keys_s`].
    stale: Duration,
}

/// Result of a check of a key without the database.
#[derive(Debug)]
pub enum KeyLookup {
    /// The key is valid, and this is its caller.
    Valid(Caller),
    /// The key is malformed or mistyped, or did not exist a moment ago.
    Invalid,
    /// Only the database knows: [`KeyVerifier::fetch_caller`].
    Uncached(UncachedKey),
}

/// A well-formed key that is in no cache.
#[derive(Debug)]
pub struct UncachedKey {
    hash: KeyHash,
    once_valid: bool,
}

impl UncachedKey {
    /// Returns true when this host has found the key valid before. It is looked up again because
    /// some key was revoked, which need not be this one.
    #[must_use]
    pub fn was_previously_valid(&self) -> bool {
        self.once_valid
    }
}

impl KeyVerifier {
    /// Checks keys of `store`, following the revisions that `live` sees in it. `plans` are the
    /// limits that callers get.
    #[must_use]
    pub fn new(
        store: Arc<Catalog>,
        live: Arc<CatalogCache>,
        settings: &DatabaseSettings,
        plans: PlanTable,
    ) -> Self {
        let valid = RevisionedCache::new(live.keys_revision(), || Cache::new(MAX_VALID_KEYS));
        let by_id = RevisionedCache::new(live.keys_revision(), || Cache::new(MAX_VALID_KEYS));
        let permits =
            usize::try_from(settings.connections / CONNECTIONS_PER_LOOKUP).unwrap_or(usize::MAX);
        Self {
            uses: KeyUses::start(Arc::clone(&store)),
            store,
            live,
            plans,
            valid,
            by_id,
            once_valid: Cache::new(MAX_VALID_KEYS),
            unknown: Cache::expiring(MAX_UNKNOWN_KEYS, NEGATIVE_CACHE_TTL),
            lookups: Semaphore::new(permits.clamp(1, Semaphore::MAX_PERMITS)),
            patience: settings.acquire_timeout(),
            stale: Duration::from_secs(settings.stale_keys_s),
        }
    }

    /// Checks the key `text` without a query.
    ///
    /// # Errors
    /// [`CatalogError::TimedOut`] when the database has been down for longer than cached keys hold.
    pub async fn check_cached(&self, text: &str) -> Result<KeyLookup, CatalogError> {
        let Some(hash) = key::parse(text) else { return Ok(KeyLookup::Invalid) };
        self.check_staleness()?;
        if let Some(caller) = self.valid.for_revision(self.live.keys_revision()).get(&hash).await {
            let ended = caller.has_ended();
            return Ok(if ended { KeyLookup::Invalid } else { KeyLookup::Valid(caller) });
        }
        if self.unknown.contains_key(&hash) {
            return Ok(KeyLookup::Invalid);
        }
        Ok(KeyLookup::Uncached(UncachedKey {
            hash,
            once_valid: self.once_valid.contains_key(&hash),
        }))
    }

    /// Reads the caller whose key has the identifier `id`, from memory where possible; `None` when
    /// there is no such key or it does not work any more. Only for identifiers under a signature of
    /// this installation: others would fill the memory and tell what keys there are.
    ///
    /// # Errors
    /// [`CatalogError::TimedOut`] when the database has been down for longer than cached keys hold,
    /// [`CatalogError::Shared`] when it has to be read and fails.
    pub async fn caller_of_signed_id(&self, id: &KeyId) -> Result<Option<Caller>, CatalogError> {
        self.check_staleness()?;
        let known = self.by_id.for_revision(self.live.keys_revision());
        let fetch = async {
            let found = self.store.key_by_id(id).await?;
            Ok(found.map(|found| self.caller(found)))
        };
        let caller = known.try_get_with(id.clone(), fetch).await.map_err(CatalogError::Shared)?;
        Ok(caller.filter(|caller| !caller.has_ended()))
    }

    /// Notes that `caller` uses its key now.
    pub fn note_use(&self, caller: &Caller) {
        self.uses.note(&caller.id);
    }

    /// The last use of each key, to be written before the process ends.
    #[must_use]
    pub fn uses(&self) -> Arc<KeyUses> {
        Arc::clone(&self.uses)
    }

    /// Refuses what is in memory once the database has been down for too long.
    fn check_staleness(&self) -> Result<(), CatalogError> {
        if self.live.healthy() {
            return Ok(());
        }
        let age = self.live.counts().age;
        if age <= self.stale {
            return Ok(());
        }
        Err(CatalogError::TimedOut { location: self.store.describe().location, after: age })
    }

    fn caller(&self, FoundKey { record, usage_key, link_epoch }: FoundKey) -> Caller {
        Caller {
            id: record.id,
            usage_key,
            plan: record.plan,
            limits: self.plans.limits(record.plan),
            link_epoch,
            ends_at: record.revoked_at,
        }
    }

    /// Reads the caller of `key` from the database; `None` when it does not exist or is revoked.
    /// Concurrent lookups of one key cost one query. Keys that have never been valid here share few
    /// connections, so that however many of them come, the other connections are free for callers.
    ///
    /// # Errors
    /// [`CatalogError::Shared`] when the database fails, or with [`CatalogError::TooManyLookups`]
    /// when other lookups have taken all permits for too long.
    pub async fn fetch_caller(&self, key: UncachedKey) -> Result<Option<Caller>, CatalogError> {
        let valid = self.valid.for_revision(self.live.keys_revision());
        match valid.try_get_with(key.hash, self.query_key(key)).await {
            Ok(caller) => Ok(Some(caller)),
            Err(missing) => match &*missing {
                LookupError::Invalid => Ok(None),
                LookupError::Failed(failure) => Err(CatalogError::Shared(Arc::clone(failure))),
            },
        }
    }

    /// Checks the key `text`, with a query where it is needed.
    #[cfg(test)]
    pub(crate) async fn check(&self, text: &str) -> Result<Option<Caller>, CatalogError> {
        match self.check_cached(text).await? {
            KeyLookup::Valid(caller) => Ok(Some(caller)),
            KeyLookup::Invalid => Ok(None),
            KeyLookup::Uncached(key) => self.fetch_caller(key).await,
        }
    }

    fn query_key(
        &self,
        UncachedKey { hash, once_valid }: UncachedKey,
    ) -> BoxFuture<'_, Result<Caller, LookupError>> {
        async move {
            let _permit = if once_valid {
                None
            } else {
                Some(self.acquire_permit().await.map_err(LookupError::failed)?)
            };
            let found = self.store.key(&hash).await.map_err(LookupError::failed)?;
            let caller = found.map(|found| self.caller(found));
            match caller.filter(|caller| !caller.has_ended()) {
                Some(caller) => {
                    self.once_valid.insert(hash, ()).await;
                    Ok(caller)
                }
                None => {
                    self.once_valid.invalidate(&hash).await;
                    self.unknown.insert(hash, ()).await;
                    Err(LookupError::Invalid)
                }
            }
        }
        .boxed()
    }

    async fn acquire_permit(&self) -> Result<tokio::sync::SemaphorePermit<'_>, CatalogError> {
        let late = || CatalogError::TooManyLookups { after: self.patience };
        timeout(self.patience, self.lookups.acquire())
            .await
            .ok()
            .and_then(Result::ok)
            .ok_or_else(late)
    }
}

/// Reason why a lookup gives no caller. Never cached with the valid keys.
enum LookupError {
    Invalid,
    Failed(Arc<CatalogError>),
}

impl LookupError {
    fn failed(failure: CatalogError) -> Self {
        Self::Failed(Arc::new(failure))
    }
}
