//! Bodies on their way to clients: how many are open and for whom, how many bytes of them lie in
//! memory, and which are cut because their client takes nothing, or too little (decisions 0225 and
//! 0226). What a body holds is let go from outside: a transport whose client does not read asks its
//! body for nothing more, so no body can notice by itself.

mod monitored_body;
mod pace;
mod transport;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use tokio::time::{MissedTickBehavior, interval};
use yearbook_counters::{Counter, Metric as _};
use yearbook_domain::Refusal;
use yearbook_shares::{
    AcquireError, ByteLease, CallerRegistry, CallerShare, FairSlots, SharePercent, SlotKind,
    SlotPermit,
};

use self::monitored_body::{BodyState, MonitoredBody};
use self::pace::{PaceLimits, PaceTracker};
use crate::CoreSettings;
use crate::Error;

pub use self::pace::CutReason;
pub use self::transport::{TransportExecutor, spawn_transport};

/// Bodies of known length up to this many bytes are not watched: a hundred rows as JSON have some
/// 20 KiB, and watching them costs 3 % of the requests a second. Unread ones go with their
/// connection, and burst limits bound how many a key has until then: 50 a second for 80 s, 128 MiB.
const UNMONITORED_BYTES: u64 = 32 << 10;

/// The least byte budget: one batch of each kind has to fit.
const MIN_BUDGET_BYTES: usize = 1 << 20;

/// Bytes that a response is counted with until it is made: those of a first chunk as a rule.
/// Without them, many that begin at once would find room that all of them take.
const ADVANCE_BYTES: usize = 512 << 10;

/// Seconds until a caller whose share is used up should try again: some of its bodies end by then.
const SHARE_RETRY_AFTER_S: u64 = 5;

/// Every open body, and what callers hold of them.
pub struct OpenResponses {
    callers: CallerRegistry,
    slots: Arc<FairSlots>,
    watched: Arc<BodyMonitor>,
    refused: [Counter; 2],
}

/// An open response, from before it is charged until its body has ended. In the response's
/// extensions on its way to [`OpenResponses::watch`].
#[derive(Clone)]
pub struct OpenResponse(Arc<OpenResponseInner>);

struct OpenResponseInner {
    holder: CallerShare,
    _slot: SlotPermit,
    /// Bytes for its first chunk, until those are counted themselves.
    advance: Mutex<Option<ByteLease>>,
}

/// Open bodies, which are checked periodically.
struct BodyMonitor {
    pace: PaceLimits,
    /// Checks so far: the clock of bodies, which costs them nothing to read.
    now: AtomicU64,
    bodies: Mutex<HashMap<u64, (Arc<BodyState>, PaceTracker)>>,
    next: AtomicU64,
    cut: [Counter; CutReason::ALL.len()],
}

impl OpenResponses {
    /// None yet. Starts a task that ends when this is dropped.
    pub fn start(settings: &CoreSettings) -> Self {
        let (server, limits) = (&settings.server, &settings.limits);
        let percent =
            SharePercent { key: limits.key_share_percent, address: limits.address_share_percent };
        let watched = Arc::new(BodyMonitor {
            pace: PaceLimits::new(server),
            now: AtomicU64::new(0),
            bodies: Mutex::default(),
            next: AtomicU64::new(0),
            cut: Default::default(),
        });
        tokio::spawn(run_checks(watched.pace.period(), Arc::downgrade(&watched)));
        Self {
            callers: CallerRegistry::new(percent, server.body_bytes.max(MIN_BUDGET_BYTES)),
            slots: FairSlots::new(SlotKind::Responses, server.open_responses.max(1)),
            watched,
            refused: Default::default(),
        }
    }

    /// The account of a request with this key, from this address, as far as either is known.
    pub fn holder(&self, key_id: Option<&str>, address: Option<IpAddr>) -> CallerShare {
        self.callers.holder(key_id, address)
    }

    /// Opens a response on the account of `holder`: at once, or when its turn has come and bytes
    /// are free. `patience`: how long that may take; none: as long as the caller waits.
    ///
    /// # Errors
    /// 429 when it is the caller's own share that is used up, else 503.
    pub async fn open(
        &self,
        holder: &CallerShare,
        patience: Option<Duration>,
    ) -> Result<OpenResponse, Error> {
        let opened =
            |slot| OpenResponse::new(slot, holder.clone(), Some(holder.lease(ADVANCE_BYTES)));
        if holder.room() > 0
            && let Ok(slot) = self.slots.try_acquire(holder)
        {
            return Ok(opened(slot));
        }
        let turn = async {
            let slot = self.slots.acquire(holder, patience.is_none()).await?;
            loop {
                // Listens before it looks, so that bytes that go in between are not missed.
                let freed = holder.wait_for_bytes();
                if holder.room() > 0 {
                    return Ok(slot);
                }
                freed.await;
            }
        };
        // On the heap: most responses need not wait.
        let waited = match patience {
            Some(patience) => Box::pin(tokio::time::timeout(patience, turn))
                .await
                .unwrap_or_else(|_| Err(self.denial_reason(holder))),
            None => Box::pin(turn).await,
        };
        waited.map(opened).map_err(|denied| self.refuse(denied))
    }

    /// `body`, watched until it ends, unless it is small. `open`: the response that it belongs to;
    /// a body without one is opened for `address`, where there is room at this moment.
    ///
    /// # Errors
    /// As for [`OpenResponses::open`].
    pub fn watch(
        &self,
        body: Body,
        open: Option<OpenResponse>,
        address: Option<IpAddr>,
    ) -> Result<Body, Error> {
        if body.is_end_stream()
            || body.size_hint().exact().is_some_and(|bytes| bytes <= UNMONITORED_BYTES)
        {
            return Ok(body);
        }
        let open = match open {
            Some(open) => open,
            None => {
                let holder = self.callers.holder(None, address);
                let slot = if holder.room() > 0 {
                    self.slots.try_acquire(&holder)
                } else {
                    Err(self.denial_reason(&holder))
                };
                OpenResponse::new(slot.map_err(|denied| self.refuse(denied))?, holder, None)
            }
        };
        open.begin();
        Ok(Body::new(MonitoredBody::new(body, open, &self.watched)))
    }

    /// Slots of open responses.
    pub fn slots(&self) -> &FairSlots {
        &self.slots
    }

    /// Shares that callers hold.
    pub fn callers(&self) -> &CallerRegistry {
        &self.callers
    }

    /// Bodies that were cut for this reason.
    pub fn cut(&self, reason: CutReason) -> u64 {
        self.watched.cut[reason as usize].read()
    }

    /// Responses that were refused before they were made: because the caller's share was used up,
    /// and because there was no room for anybody.
    pub fn refusal_counts(&self) -> [u64; 2] {
        self.refused.read()
    }

    fn denial_reason(&self, holder: &CallerShare) -> AcquireError {
        match (holder.room(), holder.is_budget_exhausted()) {
            (0, true) => AcquireError::AllTaken,
            (0, false) => AcquireError::ShareExhausted,
            _ => self.slots.reason(holder, 1),
        }
    }

    fn refuse(&self, denied: AcquireError) -> Error {
        let (reason, error) = match denied {
            AcquireError::ShareExhausted => (0, share_used_up()),
            AcquireError::AllTaken => (1, Error::Busy { retry_after: 1 }),
        };
        self.refused[reason].increment();
        error
    }
}

/// 429 for a caller that holds its share.
pub fn share_used_up() -> Error {
    Refusal::CallerShareExceeded { retry_after: SHARE_RETRY_AFTER_S }.into()
}

impl OpenResponse {
    fn new(slot: SlotPermit, holder: CallerShare, advance: Option<ByteLease>) -> Self {
        Self(Arc::new(OpenResponseInner { holder, _slot: slot, advance: Mutex::new(advance) }))
    }

    /// From now on its bytes are counted as they are.
    fn begin(&self) {
        let advance = self.0.advance.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(advance);
    }

    /// The account that the response is open on.
    pub fn holder(&self) -> &CallerShare {
        &self.0.holder
    }
}

impl BodyMonitor {
    fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    /// Watches a body until [`BodyMonitor::unregister`].
    fn begin(&self, watch: Arc<BodyState>) -> u64 {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.lock().insert(id, (watch, PaceTracker::begin(self.now())));
        id
    }

    fn unregister(&self, id: u64) {
        self.lock().remove(&id);
    }

    /// Checks every body once, and cuts those that are too slow.
    fn check_all(&self) {
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        let judge = |(watch, judgement): &mut (Arc<BodyState>, PaceTracker)| {
            let too_slow =
                judgement.check(&self.pace, now, watch.waiting_since(), watch.bytes_taken())?;
            Some((Arc::clone(watch), too_slow))
        };
        let slow: Vec<(Arc<BodyState>, CutReason)> =
            self.lock().values_mut().filter_map(judge).collect();
        // Without the lock: what a body lets go may come back here.
        for (watch, reason) in slow {
            if watch.cut(reason) {
                self.cut[reason as usize].increment();
                tracing::debug!(
                    reason = reason.name(),
                    bytes = watch.bytes_taken(),
                    "a body was cut"
                );
            }
        }
    }

    /// Nothing under the lock can fail half-way.
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, (Arc<BodyState>, PaceTracker)>> {
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn run_checks(period: Duration, watched: Weak<BodyMonitor>) {
    let mut looks = interval(period);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        match watched.upgrade() {
            Some(watched) => watched.check_all(),
            None => return,
        }
    }
}

#[cfg(test)]
mod tests;
