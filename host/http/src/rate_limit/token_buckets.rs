//! Token buckets, one for each key that is asked with. Buckets that are full again are forgotten.

use std::hash::Hash;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

/// Requests between two sweeps of full buckets: what bounds the memory of buckets that nobody uses
/// any more.
const SWEEP_EVERY: u32 = 16_384;

/// The buckets.
pub(super) struct TokenBuckets<K: Hash + Eq + Clone> {
    limiter: DefaultKeyedRateLimiter<K>,
    requests: AtomicU32,
}

impl<K: Hash + Eq + Clone> TokenBuckets<K> {
    /// Creates buckets that fill as `quota` says.
    pub(super) fn new(quota: Quota) -> Self {
        Self { limiter: RateLimiter::keyed(quota), requests: AtomicU32::new(0) }
    }

    /// Takes a token of the bucket of `key`; the time until there is one when it is empty.
    pub(super) fn take(&self, key: &K) -> Option<Duration> {
        if self.requests.fetch_add(1, Ordering::Relaxed) % SWEEP_EVERY == SWEEP_EVERY - 1 {
            self.limiter.retain_recent();
            self.limiter.shrink_to_fit();
        }
        let refused = self.limiter.check_key(key).err()?;
        Some(refused.wait_time_from(DefaultClock::default().now()))
    }
}
