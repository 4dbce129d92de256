//! Tokens that addresses get back. A bucket of `governor` takes tokens and never returns one, so
//! what is returned is kept beside it. The bucket fills meanwhile, which makes up for the token
//! that was taken: what is returned fades as fast as a bucket fills, so that both together never
//! hold more than a bucket does.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Addresses with a refund at once. Each stands for a valid key that was seen for the first time,
/// so few are ever needed; beyond it all are forgotten, which costs an address some tokens.
const ADDRESSES: usize = 4_096;

/// Returned tokens by address.
pub(super) struct TokenRefunds {
    /// The time at which the last token of an address has faded.
    until: Mutex<HashMap<IpAddr, Instant>>,
    /// The time in which a bucket earns a token.
    per_token: Duration,
}

impl TokenRefunds {
    /// For buckets that earn a token in `per_token`.
    pub(super) fn new(per_token: Duration) -> Self {
        Self { until: Mutex::default(), per_token }
    }

    /// Returns a token to `address`.
    pub(super) fn add(&self, address: IpAddr) {
        self.add_at(address, Instant::now());
    }

    /// Takes a token that was returned to `address`, if there is one.
    pub(super) fn take(&self, address: IpAddr) -> bool {
        self.take_at(address, Instant::now())
    }

    fn add_at(&self, address: IpAddr, now: Instant) {
        let mut until = self.lock();
        if until.len() >= ADDRESSES {
            until.retain(|_, until| *until > now);
            if until.len() >= ADDRESSES {
                until.clear();
            }
        }
        let last = until.entry(address).or_insert(now);
        *last = (*last).max(now) + self.per_token;
    }

    fn take_at(&self, address: IpAddr, now: Instant) -> bool {
        let mut until = self.lock();
        let Some(last) = until.get_mut(&address) else { return false };
        let counts = *last > now;
        match last.checked_sub(self.per_token) {
            Some(rest) if rest > now => *last = rest,
            _ => {
                until.remove(&address);
            }
        }
        counts
    }

    /// Nothing under the lock can fail half-way.
    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, Instant>> {
        self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_returned_token_is_taken_once_and_fades_as_the_bucket_fills_contract_5() {
        let [one, other] = [1, 2].map(|last| IpAddr::from([192, 0, 2, last]));
        let (refunds, now) = (TokenRefunds::new(SECOND), Instant::now());
        refunds.add_at(one, now);
        refunds.add_at(one, now);
        assert_eq!(
            [one, other, one, one].map(|address| refunds.take_at(address, now)),
            [true, false, true, false]
        );
        (0..5).for_each(|_| refunds.add_at(one, now));
        let later = now + 3 * SECOND;
        assert_eq!(
            [(); 3].map(|()| refunds.take_at(one, later)),
            [true, true, false],
            "the bucket has earned three of five"
        );
        refunds.add_at(one, now);
        assert!(!refunds.take_at(one, later));
    }

    #[test]
    fn refunds_of_many_addresses_take_bounded_memory_contract_5() {
        let refunds = TokenRefunds::new(3_600 * SECOND);
        (0..3 * 4_096_u32).for_each(|address| refunds.add(IpAddr::from(address.to_be_bytes())));
        assert!(refunds.lock().len() <= ADDRESSES);
    }
}
