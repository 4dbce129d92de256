//! Monthly quotas (contract-5-exact). A request of a limited plan is counted in the database before
//! its work begins, exactly, however many hosts there are. Requests of unlimited plans are counted
//! in memory and written once a second.

pub(crate) mod reservation;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{MissedTickBehavior, interval};
use yearbook_domain::{KeyId, Millis, PlanLimits};

use crate::{
    Caller, Catalog, CatalogError, QuotaExceeded, QuotaReservation, ReserveError, ReserveOutcome,
    UsageIncrement,
};

/// Interval between writes of the counts of unlimited plans. A crash loses at most one interval.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);

/// Counts by key and month. Bounded by the keys in use since the database last answered.
type RequestCounts = HashMap<(KeyId, String), u64>;

/// Usage of a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaUsage {
    /// Charged requests of the month.
    pub used: u64,
    /// Requests a month; `None` if they are unlimited.
    pub limit: Option<u64>,
    /// Start of the next month.
    pub resets_at: Millis,
}

impl QuotaUsage {
    /// Requests left; `None` if they are unlimited.
    #[must_use]
    pub fn left(&self) -> Option<u64> {
        self.limit.map(|limit| limit.saturating_sub(self.used))
    }
}

/// Monthly quotas of all keys.
pub struct Quota {
    store: Arc<Catalog>,
    /// Requests of unlimited plans, not yet written.
    counted: Mutex<RequestCounts>,
    /// Requests of limited plans to be given back.
    owed: Mutex<RequestCounts>,
    /// Wakes the flush when something is owed.
    bell: Arc<Notify>,
    /// One flush at a time, so that shutdown waits for one under way.
    flushing: tokio::sync::Mutex<()>,
}

impl Quota {
    /// Starts a task that writes counts and refunds; it ends when the last `Arc` is dropped. Call
    /// [`Quota::shutdown`] before, or the counts of the last second are lost.
    #[must_use]
    pub fn new(store: Arc<Catalog>) -> Arc<Self> {
        let meter = Arc::new(Self {
            store,
            counted: Mutex::default(),
            owed: Mutex::default(),
            bell: Arc::default(),
            flushing: tokio::sync::Mutex::new(()),
        });
        tokio::spawn(flush_loop(Arc::downgrade(&meter), Arc::clone(&meter.bell)));
        meter
    }

    /// Takes one request off the caller's month.
    ///
    /// Cancellation: a caller that goes away while this waits is charged nothing.
    ///
    /// # Errors
    /// [`ReserveError::Exceeded`] when there is none left; [`ReserveError::Failed`] when the
    /// database cannot count, and the request must be refused as our fault.
    pub async fn reserve(
        self: &Arc<Self>,
        caller: &Caller,
    ) -> Result<QuotaReservation, ReserveError> {
        self.reserve_at(caller, crate::clock::now()).await
    }

    pub(crate) async fn reserve_at(
        self: &Arc<Self>,
        caller: &Caller,
        now: Millis,
    ) -> Result<QuotaReservation, ReserveError> {
        let (meter, key_id, month, resets_at) =
            (Arc::clone(self), caller.usage_key().clone(), now.month(), now.next_month());
        let Some(limit) = caller.limits().requests_per_month else {
            let usage = QuotaUsage { used: 0, limit: None, resets_at };
            return Ok(QuotaReservation::new(meter, key_id, month, usage));
        };
        // In a task of its own, which a caller that goes away does not stop half-way: the
        // reservation is then dropped and given back.
        let counting = tokio::spawn(async move {
            match meter.store.reserve_request(&key_id, &month, limit).await? {
                ReserveOutcome::Granted { used } => {
                    let usage = QuotaUsage { used, limit: Some(limit), resets_at };
                    Ok(QuotaReservation::new(Arc::clone(&meter), key_id, month, usage))
                }
                ReserveOutcome::Exhausted { used } => {
                    Err(QuotaExceeded { used, limit, resets_at }.into())
                }
            }
        });
        counting.await.map_err(CatalogError::from)?
    }

    /// Reads what the caller used of this month, without charging (`/v1/me`). For unlimited plans
    /// this includes what this host has not written yet, not what other hosts have not.
    ///
    /// # Errors
    /// [`CatalogError`] when the database fails.
    pub async fn usage(&self, caller: &Caller) -> Result<QuotaUsage, CatalogError> {
        let now = crate::clock::now();
        let entry = (caller.usage_key().clone(), now.month());
        let limit = caller.limits().requests_per_month;
        // While no flush is under way, a request is either in memory or written, not between.
        let _no_flush = if limit.is_none() { Some(self.flushing.lock().await) } else { None };
        let waiting = lock(&self.counted).get(&entry).copied().unwrap_or(0);
        let written = self.store.used_requests(&entry.0, &entry.1).await?;
        Ok(QuotaUsage { used: written + waiting, limit, resets_at: now.next_month() })
    }

    /// Reads what was used of this month under `usage_key` on a plan with these limits, as a host
    /// that has no request of it open knows it.
    ///
    /// # Errors
    /// [`CatalogError`] when the database fails.
    pub async fn usage_of_key(
        &self,
        usage_key: &KeyId,
        limits: PlanLimits,
    ) -> Result<QuotaUsage, CatalogError> {
        let now = crate::clock::now();
        let used = self.store.used_requests(usage_key, &now.month()).await?;
        Ok(QuotaUsage { used, limit: limits.requests_per_month, resets_at: now.next_month() })
    }

    /// Writes every count and gives back what is owed. Call it once no request is under way.
    ///
    /// # Errors
    /// [`CatalogError`] when the database fails; the counts stay, so that it may be called again.
    pub async fn shutdown(&self) -> Result<(), CatalogError> {
        self.flush().await
    }

    /// Counts a request of an unlimited plan.
    pub(crate) fn count(&self, key_id: KeyId, month: String) {
        *lock(&self.counted).entry((key_id, month)).or_default() += 1;
    }

    /// Gives a request of a limited plan back soon.
    pub(crate) fn queue_refund(&self, key_id: KeyId, month: String) {
        *lock(&self.owed).entry((key_id, month)).or_default() += 1;
        self.bell.notify_one();
    }

    /// Gives a request of a limited plan back now, or owes it when the database fails.
    pub(crate) async fn refund(&self, key_id: KeyId, month: String) {
        if let Err(failure) = self.store.refund_request(&key_id, &month).await {
            tracing::warn!(%failure, %key_id, "a request was not given back");
            if failure.is_safe_to_retry() {
                self.queue_refund(key_id, month);
            }
        }
    }

    async fn flush(&self) -> Result<(), CatalogError> {
        let _one_at_a_time = self.flushing.lock().await;
        let settled = self.flush_refunds().await;
        settled.and(self.flush_counts().await)
    }

    /// Gives back everything owed. What may have been given back already is not tried again: one
    /// request too many charged is better than one too many answered.
    async fn flush_refunds(&self) -> Result<(), CatalogError> {
        while let Some((key_id, month)) = self.take_pending_refund() {
            if let Err(failure) = self.store.refund_request(&key_id, &month).await {
                if failure.is_safe_to_retry() {
                    *lock(&self.owed).entry((key_id, month)).or_default() += 1;
                }
                return Err(failure);
            }
        }
        Ok(())
    }

    fn take_pending_refund(&self) -> Option<(KeyId, String)> {
        let mut owed = lock(&self.owed);
        let entry = owed.keys().next().cloned()?;
        let left = owed.remove(&entry)?.saturating_sub(1);
        if left > 0 {
            owed.insert(entry.clone(), left);
        }
        Some(entry)
    }

    async fn flush_counts(&self) -> Result<(), CatalogError> {
        let taken = std::mem::take(&mut *lock(&self.counted));
        if taken.is_empty() {
            return Ok(());
        }
        let counts: Vec<UsageIncrement> = taken
            .into_iter()
            .map(|((key_id, month), requests)| UsageIncrement { key_id, month, requests })
            .collect();
        let outcome = self.store.add_usage(&counts).await;
        if outcome.as_ref().is_err_and(CatalogError::is_safe_to_retry) {
            let mut counted = lock(&self.counted);
            for UsageIncrement { key_id, month, requests } in counts {
                *counted.entry((key_id, month)).or_default() += requests;
            }
        }
        outcome
    }
}

async fn flush_loop(meter: Weak<Quota>, bell: Arc<Notify>) {
    let mut ticks = interval(FLUSH_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut failing = false;
    loop {
        let rung = tokio::select! {
            _ = ticks.tick() => false,
            () = bell.notified() => true,
        };
        let Some(meter) = meter.upgrade() else { return };
        // After a failure only the clock tries again: the bell may ring with every request.
        if rung && failing {
            continue;
        }
        let outcome = meter.flush().await;
        match &outcome {
            Err(failure) if !failing => {
                tracing::error!(%failure, "usage cannot be written: keeping counts in memory")
            }
            Ok(()) if failing => tracing::info!("usage is being written again"),
            _ => {}
        }
        failing = outcome.is_err();
    }
}

/// Counting cannot fail half-way, so a poisoned lock holds good counts.
fn lock(counts: &Mutex<RequestCounts>) -> MutexGuard<'_, RequestCounts> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}
