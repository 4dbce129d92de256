//! The pace of refusals. A refusal costs little, and a hundred thousand a second cost all cores: a
//! client that does nothing but collect them gets them later, and so asks less.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use governor::Quota;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::token_buckets::TokenBuckets;
use crate::http::client_address::address_block_of;
use crate::settings::LimitSettings;
use crate::state::AppState;

/// Time by which a refusal beyond the pace is late.
const DELAY: Duration = Duration::from_secs(1);

/// Refusals that wait at a time, each with its request's some 10 kB. Further ones do not wait.
const WAITING: usize = 4_096;

/// Refusals of each address, in memory and of this host alone.
pub(crate) struct RefusalPace {
    /// None when `refusals_per_second` is 0.
    addresses: Option<TokenBuckets<IpAddr>>,
    waiting: Semaphore,
}

impl RefusalPace {
    /// Creates the pace of an operator's `settings`.
    pub(crate) fn new(settings: LimitSettings) -> Self {
        let addresses = NonZeroU32::new(settings.refusals_per_second)
            .map(|per_second| TokenBuckets::new(Quota::per_second(per_second)));
        Self { addresses, waiting: Semaphore::new(WAITING) }
    }

    /// Returns the place in which a refusal of `address` waits; none where it is sent at once.
    fn place(&self, address: IpAddr) -> Option<SemaphorePermit<'_>> {
        self.addresses.as_ref()?.take(&address)?;
        self.waiting.try_acquire().ok()
    }
}

/// Delays refusals for whoever collects them.
pub(crate) async fn pace_refusals(
    State(app): State<AppState>,
    request: Request,
    next: Next,
) -> Response {
    let address = address_block_of(&request);
    let response = next.run(request).await;
    if response.status().is_client_error()
        && let Some(_place) = address.and_then(|address| app.refusal_pace.place(address))
    {
        tokio::time::sleep(DELAY).await;
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(refusals_per_second: u32) -> RefusalPace {
        RefusalPace::new(LimitSettings { refusals_per_second, ..LimitSettings::default() })
    }

    #[test]
    fn whoever_collects_refusals_waits_for_them_and_nobody_else_does() {
        let pace = pace(10);
        let [hostile, polite] = [1, 2].map(|last| IpAddr::from([192, 0, 2, last]));
        let at_once = (0..1000).take_while(|_| pace.place(hostile).is_none()).count();
        // What took longer than a tenth of a second has earned more.
        assert!((10..20).contains(&at_once), "{at_once}");
        assert!(pace.place(polite).is_none());
    }

    #[test]
    fn refusals_that_wait_are_bounded_and_zero_switches_waiting_off() {
        let address = IpAddr::from([192, 0, 2, 1]);
        let off = pace(0);
        assert!((0..1000).all(|_| off.place(address).is_none()));
        let pace = pace(1);
        let places = (0..2 * WAITING).filter_map(|_| pace.place(address)).count();
        assert!(places > WAITING, "given back, a place is free again");
        let places: Vec<_> = (0..2 * WAITING).filter_map(|_| pace.place(address)).collect();
        assert_eq!(places.len(), WAITING);
    }
}
