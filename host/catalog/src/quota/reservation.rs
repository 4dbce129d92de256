//! One request taken off a month. [`QuotaReservation::commit`] charges it;
//! [`QuotaReservation::release`] gives it back, and so does dropping it: a panic, a timeout, a
//! client that went away before the answer began.

use std::sync::Arc;

use yearbook_domain::{KeyId, Millis};

use crate::{CatalogError, Quota, QuotaUsage};

/// The month's requests are used up: 429.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{used} of {limit} requests of the month are used up")]
pub struct QuotaExceeded {
    /// Charged requests of the month.
    pub used: u64,
    /// Requests a month.
    pub limit: u64,
    /// Start of the next month.
    pub resets_at: Millis,
}

/// No reservation.
#[derive(Debug, thiserror::Error)]
pub enum ReserveError {
    /// The quota is exceeded.
    #[error(transparent)]
    Exceeded(#[from] QuotaExceeded),
    /// The database cannot count.
    #[error(transparent)]
    Failed(#[from] CatalogError),
}

/// A request that may be answered.
#[must_use = "a reservation that is dropped is given back"]
pub struct QuotaReservation {
    usage: QuotaUsage,
    /// None once it is committed or released.
    open: Option<PendingReservation>,
}

struct PendingReservation {
    meter: Arc<Quota>,
    key_id: KeyId,
    month: String,
}

impl QuotaReservation {
    pub(crate) fn new(meter: Arc<Quota>, key_id: KeyId, month: String, usage: QuotaUsage) -> Self {
        Self { usage, open: Some(PendingReservation { meter, key_id, month }) }
    }

    /// Charged requests of the month, this one included. 0 on an unlimited plan, where nothing is
    /// read to find out.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.usage.used
    }

    /// Requests a month; `None` if they are unlimited.
    #[must_use]
    pub fn limit(&self) -> Option<u64> {
        self.usage.limit
    }

    /// Requests left after this one; `None` if they are unlimited.
    #[must_use]
    pub fn left(&self) -> Option<u64> {
        self.usage.left()
    }

    /// Start of the next month.
    #[must_use]
    pub fn resets_at(&self) -> Millis {
        self.usage.resets_at
    }

    /// Charges the request and returns the usage that its response tells.
    pub fn commit(mut self) -> QuotaUsage {
        let usage = self.usage;
        if let Some(PendingReservation { meter, key_id, month }) = self.open.take()
            && usage.limit.is_none()
        {
            meter.count(key_id, month);
        }
        usage
    }

    /// Gives the request back before it returns. When the database fails, it stays owed and is
    /// given back as soon as the database answers.
    pub async fn release(mut self) {
        let Some(PendingReservation { meter, key_id, month }) = self.open.take() else { return };
        if self.usage.limit.is_none() {
            return;
        }
        // In a task of its own, which a caller that goes away does not stop half-way.
        let giving_back = tokio::spawn(async move { meter.refund(key_id, month).await });
        // It only fails when the runtime is shutting down; then the request stays charged.
        let _ = giving_back.await;
    }
}

impl Drop for QuotaReservation {
    fn drop(&mut self) {
        let Some(PendingReservation { meter, key_id, month }) = self.open.take() else { return };
        if self.usage.limit.is_some() {
            meter.queue_refund(key_id, month);
        }
    }
}
