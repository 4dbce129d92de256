//! The pace of refusals, of requests and of connections. A refusal costs little, and a hundred
//! thousand a second cost all cores: a client that does nothing but collect them gets them later,
//! and so asks less.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::token_buckets::TokenBuckets;
use crate::settings::LimitSettings;

/// Time by which a refusal beyond the pace is late, at least.
const DELAY_FROM: Duration = Duration::from_millis(500);

/// Span over which late refusals are spread: callers that waited together would ask together.
const SPREAD: Duration = Duration::from_secs(1);

/// Share of a second's refusals that are sent at once to whoever collected none for a while: one
/// tenth. A whole second of them keeps all cores busy until the last is sent.
const BURST_SHARE: u32 = 10;

/// Refusals that wait at a time, each with its request's some 10 kB or its connection's descriptor.
/// Further ones do not wait.
pub const WAITING_REFUSALS: usize = 4_096;

/// Refusals of each address, in memory and of this host alone.
pub struct RefusalPace {
    /// None when `refusals_per_second` is 0.
    addresses: Option<TokenBuckets<IpAddr>>,
    waiting: Arc<Semaphore>,
    /// Place of the next late refusal in the spread; all of `u32` is the spread.
    phase: AtomicU32,
}

/// A place in which a refusal waits, and for how long.
pub struct WaitingPlace {
    _permit: OwnedSemaphorePermit,
    delay: Duration,
}

impl WaitingPlace {
    /// Waits until the refusal is due.
    pub async fn wait(self) {
        tokio::time::sleep(self.delay).await;
    }
}

impl RefusalPace {
    /// Creates the pace of an operator's `settings`.
    pub fn new(settings: LimitSettings) -> Self {
        let addresses = NonZeroU32::new(settings.refusals_per_second).map(|per_second| {
            let burst = per_second.div_ceil(const { NonZeroU32::new(BURST_SHARE).unwrap() });
            TokenBuckets::new(per_second, burst)
        });
        Self {
            addresses,
            waiting: Arc::new(Semaphore::new(WAITING_REFUSALS)),
            phase: AtomicU32::new(0),
        }
    }

    /// Returns the place in which a refusal of `address` waits; none where it is sent at once.
    pub fn place(&self, address: IpAddr) -> Option<WaitingPlace> {
        self.addresses.as_ref()?.take(&address)?;
        let permit = Arc::clone(&self.waiting).try_acquire_owned().ok()?;
        Some(WaitingPlace { _permit: permit, delay: self.next_delay() })
    }

    /// Returns the delay of the next late refusal. Steps of the golden ratio spread any number of
    /// them evenly.
    fn next_delay(&self) -> Duration {
        const GOLDEN_RATIO: u32 = 0x9e37_79b9;
        let phase = self.phase.fetch_add(GOLDEN_RATIO, Ordering::Relaxed);
        DELAY_FROM + SPREAD.mul_f64(f64::from(phase) / f64::from(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(refusals_per_second: u32) -> RefusalPace {
        RefusalPace::new(LimitSettings { refusals_per_second, ..LimitSettings::default() })
    }

    #[test]
    fn whoever_collects_refusals_waits_for_them_and_nobody_else_does() {
        let pace = pace(100);
        let [hostile, polite] = [1, 2].map(|last| IpAddr::from([192, 0, 2, last]));
        let at_once = (0..1000).take_while(|_| pace.place(hostile).is_none()).count();
        // What took longer than a tenth of a second has earned more.
        assert!((10..20).contains(&at_once), "{at_once}");
        assert!(pace.place(polite).is_none());
    }

    #[test]
    fn refusals_that_came_together_are_sent_at_different_times() {
        let pace = pace(1);
        let mut delays: Vec<_> = (0..100).map(|_| pace.next_delay()).collect();
        delays.sort();
        assert!(delays[0] >= DELAY_FROM && delays[99] <= DELAY_FROM + SPREAD);
        let gaps = delays.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.max() < Some(3 * SPREAD / 100), "{delays:?}");
    }

    #[test]
    fn refusals_that_wait_are_bounded_and_zero_switches_waiting_off() {
        let address = IpAddr::from([192, 0, 2, 1]);
        let off = pace(0);
        assert!((0..1000).all(|_| off.place(address).is_none()));
        let pace = pace(1);
        let places = (0..2 * WAITING_REFUSALS).filter_map(|_| pace.place(address)).count();
        assert!(places > WAITING_REFUSALS, "given back, a place is free again");
        let places: Vec<_> =
            (0..2 * WAITING_REFUSALS).filter_map(|_| pace.place(address)).collect();
        assert_eq!(places.len(), WAITING_REFUSALS);
    }
}
