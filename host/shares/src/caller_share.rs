//! Callers and what each holds now. A caller is a key or an address; one request counts for both.
//! An entry lives as long as somebody holds it, and some time longer.

mod usage_map;

use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use self::usage_map::UsageMap;
use crate::byte_budget::{ByteBudget, ByteLease};
use crate::fair_slots::{FairSlots, SlotKind};
use crate::processor_time::RecentProcessorTime;

/// The share of each resource that one caller may hold, percent. 0, and 100 or more: all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharePercent {
    /// Of one key.
    pub key: u32,
    /// Of one address.
    pub address: u32,
}

/// All callers, and the byte budget that they share.
pub struct CallerRegistry {
    keys: Mutex<UsageMap<Box<str>>>,
    addresses: Mutex<UsageMap<IpAddr>>,
    percent: SharePercent,
    bytes: Arc<ByteBudget>,
}

/// On whose account a request holds what it holds: its key's and its address's. Cheap to clone. The
/// default is nobody's: it has no share and no bound.
#[derive(Clone, Default)]
pub struct CallerShare(Option<Arc<RequestUsage>>);

struct RequestUsage {
    callers: [Option<Arc<CallerUsage>>; 2],
    bytes: Arc<ByteBudget>,
    /// Bytes of this request alone.
    own: AtomicUsize,
    /// Steps of its body that the client has taken.
    steps: AtomicUsize,
}

/// Slots and bytes that a key or an address holds now.
pub(crate) struct CallerUsage {
    percent: u32,
    held: [AtomicUsize; SlotKind::COUNT],
    waiting: [AtomicUsize; SlotKind::COUNT],
    bytes: AtomicUsize,
    selection_bytes: AtomicUsize,
    processor: RecentProcessorTime,
    /// Notified when bytes go while the share is used up.
    freed: Notify,
}

impl CallerRegistry {
    /// Nobody yet. `bytes`: the byte budget of all bodies together.
    #[must_use]
    pub fn new(percent: SharePercent, bytes: usize) -> Self {
        Self {
            keys: Mutex::default(),
            addresses: Mutex::default(),
            percent,
            bytes: ByteBudget::new(bytes),
        }
    }

    /// The account of a request with this key, from this address, as far as either is known.
    #[must_use]
    pub fn holder(&self, key: Option<&str>, address: Option<IpAddr>) -> CallerShare {
        let key =
            key.map(|key| lock(&self.keys).get_or_insert(key, |key| key.into(), self.percent.key));
        let address = address.map(|address| {
            lock(&self.addresses).get_or_insert(&address, |own| *own, self.percent.address)
        });
        let account = RequestUsage {
            callers: [key, address],
            bytes: Arc::clone(&self.bytes),
            own: AtomicUsize::new(0),
            steps: AtomicUsize::new(0),
        };
        CallerShare(Some(Arc::new(account)))
    }

    /// The bytes of all bodies in flight.
    #[must_use]
    pub fn bytes(&self) -> &ByteBudget {
        &self.bytes
    }

    /// Keys, and addresses, that hold all of their share of `slots` or of the bytes now.
    #[must_use]
    pub fn exhausted_counts(&self, slots: &FairSlots) -> (usize, usize) {
        let full = |caller: &Arc<CallerUsage>| {
            let of_bytes = share_of_total(self.bytes.total(), caller.percent);
            !caller.has_slot(slots.resource(), slots.total())
                || caller.bytes.load(Ordering::Relaxed) >= of_bytes
        };
        let count = |callers: &mut dyn Iterator<Item = &Arc<CallerUsage>>| {
            callers.filter(|caller| full(caller)).count()
        };
        (count(&mut lock(&self.keys).callers()), count(&mut lock(&self.addresses).callers()))
    }
}

impl CallerShare {
    /// Counts `bytes` of a body that lie in memory, until the lease is dropped.
    #[must_use]
    pub fn lease(&self, bytes: usize) -> ByteLease {
        ByteLease::new(self.clone(), bytes)
    }

    /// Bytes that bodies of this account may still read ahead; 0 when budget or share is used up.
    #[must_use]
    pub fn room(&self) -> usize {
        let Some(account) = &self.0 else { return usize::MAX };
        self.share_left(account.bytes.total(), |caller| &caller.bytes).min(account.bytes.free())
    }

    /// Returns true when a body of this request that has begun may go on: there is room, or its
    /// client has taken everything so far.
    #[must_use]
    pub fn may_continue(&self) -> bool {
        self.room() > 0
            || self.0.as_ref().is_some_and(|account| account.own.load(Ordering::Relaxed) == 0)
    }

    /// Returns true when the budget of all bodies is used up, and not a share of it alone.
    #[must_use]
    pub fn is_budget_exhausted(&self) -> bool {
        self.0.as_ref().is_some_and(|account| account.bytes.free() == 0)
    }

    /// Waits until bytes go of whatever is used up: the budget, or a share of this account. Bytes
    /// that go between this call and its first poll count.
    pub fn wait_for_bytes(&self) -> impl Future<Output = ()> + '_ {
        let of_all = self.0.as_ref().map(|account| account.bytes.wait_for_release());
        let mut of_callers = self.callers().map(|caller| caller.freed.notified());
        let (one, other) = (of_callers.next(), of_callers.next());
        async move {
            tokio::select! {
                () = notified_or_pending(of_all) => {}
                () = notified_or_pending(one) => {}
                () = notified_or_pending(other) => {}
            }
        }
    }

    /// Counts a step of this request's body that its client has taken.
    pub fn record_step(&self) {
        if let Some(account) = &self.0 {
            account.steps.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns how many steps of this request's body its client has taken; 0 for nobody.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.0.as_ref().map_or(0, |account| account.steps.load(Ordering::Relaxed))
    }

    /// Returns the share of `total`, the smaller one of key and address; all of it for nobody.
    #[must_use]
    pub fn share_of(&self, total: usize) -> usize {
        let share = |caller: &CallerUsage| share_of_total(total, caller.percent);
        self.callers().map(share).fold(total, usize::min)
    }

    /// Bytes that selections of this account may still hold of `total`.
    #[must_use]
    pub fn selection_room(&self, total: usize) -> usize {
        self.share_left(total, |caller| &caller.selection_bytes)
    }

    /// Returns what the shares of `total` leave beside what `counter` has.
    fn share_left(&self, total: usize, counter: impl Fn(&CallerUsage) -> &AtomicUsize) -> usize {
        let left = |caller: &CallerUsage| {
            let held = counter(caller).load(Ordering::Relaxed);
            share_of_total(total, caller.percent).saturating_sub(held)
        };
        self.callers().map(left).fold(total, usize::min)
    }

    /// Bytes that selections of the key hold now, or those of the address where they are more.
    #[must_use]
    pub fn selection_bytes(&self) -> usize {
        let held = |caller: &CallerUsage| caller.selection_bytes.load(Ordering::Relaxed);
        self.callers().map(held).max().unwrap_or(0)
    }

    /// Counts `bytes` that a selection holds, until [`CallerShare::release_selection`].
    pub fn count_selection(&self, bytes: usize) {
        self.add(|caller| &caller.selection_bytes, bytes);
    }

    /// Takes back what [`CallerShare::count_selection`] counted.
    pub fn release_selection(&self, bytes: usize) {
        self.subtract(|caller| &caller.selection_bytes, bytes);
    }

    /// Returns true for an account that nothing is counted on.
    #[must_use]
    pub fn is_nobody(&self) -> bool {
        self.0.is_none()
    }

    /// Adds `spent` processor time, which ended at `now`, to key and address.
    pub fn add_processor_time(&self, spent: Duration, now: Instant) {
        for caller in self.callers() {
            caller.processor.add(spent, now);
        }
    }

    /// Returns the processor time that the key used recently, or the address where there is no key:
    /// a sum that halves every second. None for nobody's account.
    #[must_use]
    pub fn recent_processor_time(&self, now: Instant) -> Option<Duration> {
        self.callers().next().map(|caller| caller.processor.get(now))
    }

    pub(crate) fn count(&self, bytes: usize) {
        let Some(account) = self.0.as_deref() else { return };
        account.own.fetch_add(bytes, Ordering::Relaxed);
        account.bytes.count(bytes);
        self.add(|caller| &caller.bytes, bytes);
    }

    pub(crate) fn release_bytes(&self, bytes: usize) {
        let Some(account) = self.0.as_deref() else { return };
        account.own.fetch_sub(bytes, Ordering::Relaxed);
        account.bytes.release(bytes);
        for caller in self.callers() {
            let before = caller.bytes.fetch_sub(bytes, Ordering::Relaxed);
            // Nobody waits for it otherwise, and others' bodies are not to be woken by this one's.
            if before >= share_of_total(account.bytes.total(), caller.percent) {
                caller.freed.notify_waiters();
            }
        }
    }

    pub(crate) fn callers(&self) -> impl Iterator<Item = &CallerUsage> {
        self.0.iter().flat_map(|account| account.callers.iter().flatten()).map(AsRef::as_ref)
    }

    /// Counts `more` in `counter` of every caller.
    pub(crate) fn add(&self, counter: impl Fn(&CallerUsage) -> &AtomicUsize, more: usize) {
        for caller in self.callers() {
            counter(caller).fetch_add(more, Ordering::Relaxed);
        }
    }

    /// Takes back what [`CallerShare::add`] counted.
    pub(crate) fn subtract(&self, counter: impl Fn(&CallerUsage) -> &AtomicUsize, less: usize) {
        for caller in self.callers() {
            counter(caller).fetch_sub(less, Ordering::Relaxed);
        }
    }
}

impl CallerUsage {
    /// Slots of `resource` that are held.
    pub(crate) fn held(&self, resource: SlotKind) -> &AtomicUsize {
        &self.held[resource as usize]
    }

    /// Requests that wait for a slot of `resource`.
    pub(crate) fn waiting(&self, resource: SlotKind) -> &AtomicUsize {
        &self.waiting[resource as usize]
    }

    /// Slots of `total` that may be held at most, one at least.
    pub(crate) fn max_slots(&self, total: usize) -> usize {
        share_of_total(total, self.percent).max(1)
    }

    /// Returns true when the share has a slot left.
    pub(crate) fn has_slot(&self, resource: SlotKind, total: usize) -> bool {
        self.has_slots(resource, total, 1)
    }

    /// Returns true when the share has so many slots left, or when none of it are held: one request
    /// may have all that it needs.
    pub(crate) fn has_slots(&self, resource: SlotKind, total: usize, count: usize) -> bool {
        let held = self.held(resource).load(Ordering::Relaxed);
        held == 0 || held.saturating_add(count) <= self.max_slots(total)
    }
}

async fn notified_or_pending(freed: Option<Notified<'_>>) {
    match freed {
        Some(freed) => freed.await,
        None => std::future::pending().await,
    }
}

/// So many percent of `total`.
fn share_of_total(total: usize, percent: u32) -> usize {
    match percent {
        0 | 100.. => total,
        percent => total / 100 * percent as usize + total % 100 * percent as usize / 100,
    }
}

/// Nothing under the lock can fail half-way.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn a_share_is_a_percentage_and_zero_or_all_is_no_bound() {
        for (total, percent, expected) in [
            (512, 25, 128),
            (1_024, 50, 512),
            (10, 25, 2),
            (usize::MAX, 50, usize::MAX / 2),
            (7, 0, 7),
            (7, 100, 7),
            (7, 400, 7),
        ] {
            assert!(share_of_total(total, percent).abs_diff(expected) <= 1, "{total} {percent}");
        }
    }

    #[test]
    fn a_key_and_an_address_have_shares_of_their_own() {
        let callers = CallerRegistry::new(SharePercent { key: 25, address: 50 }, 1_000);
        let address: IpAddr = [192, 0, 2, 1].into();
        let one = callers.holder(Some("one"), Some(address));
        let lease = one.lease(250);
        assert_eq!(one.room(), 0);
        let again = callers.holder(Some("one"), Some(address));
        assert!(
            !one.may_continue() && again.may_continue(),
            "a request whose client has taken everything goes on"
        );
        assert_eq!(callers.holder(Some("two"), Some(address)).room(), 250);
        let more = callers.holder(Some("two"), Some(address)).lease(250);
        assert_eq!(callers.holder(Some("three"), Some(address)).room(), 0, "the address has half");
        assert_eq!(callers.holder(Some("three"), Some([192, 0, 2, 2].into())).room(), 250);
        let mut freed = [Box::pin(one.wait_for_bytes()), Box::pin(one.wait_for_bytes())];
        assert!(freed[0].as_mut().now_or_never().is_none());
        drop((lease, more));
        assert!(freed[0].as_mut().now_or_never().is_some(), "who waits is told");
        assert!(
            freed[1].as_mut().now_or_never().is_some(),
            "what goes before the first look counts"
        );
        drop(freed);
        assert_eq!((one.room(), callers.bytes().used()), (250, 0));
        let freed = one.wait_for_bytes();
        drop(one.lease(7));
        assert!(freed.now_or_never().is_none(), "where there is room nobody is woken");
        assert_eq!(CallerShare::default().room(), usize::MAX, "nobody has no bound");
    }
}
