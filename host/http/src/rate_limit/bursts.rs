//! Token buckets per key and per address (contract-5-burst), in memory and of this host alone: they
//! shield it from a client in a tight loop and are no quota.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use yearbook_domain::{KeyId, Refusal};

use super::headers::RateLimitWindow;
use super::token_buckets::TokenBuckets;
use crate::Error;
use crate::client_address::{ClientAddress, address_block};
use crate::settings::LimitSettings;

/// The buckets.
pub struct BurstLimiter {
    /// None when `burst_per_second` is 0.
    on: Option<BurstBuckets>,
}

struct BurstBuckets {
    per_second: NonZeroU32,
    size: NonZeroU32,
    keys: TokenBuckets<KeyId>,
    /// Of all links of a key together, beside its own.
    links: TokenBuckets<KeyId>,
    addresses: TokenBuckets<IpAddr>,
}

impl BurstLimiter {
    /// With the operator's numbers.
    pub fn new(settings: LimitSettings) -> Self {
        let on = NonZeroU32::new(settings.burst_per_second).map(|per_second| {
            let size = NonZeroU32::new(settings.burst_size).unwrap_or(NonZeroU32::MIN);
            BurstBuckets {
                per_second,
                size,
                keys: TokenBuckets::new(per_second, size),
                links: TokenBuckets::new(per_second, size),
                addresses: TokenBuckets::new(per_second, size),
            }
        });
        Self { on }
    }

    /// Takes a token of the key's bucket; the refusal when there is none.
    pub fn take_for_key(&self, key_id: &KeyId) -> Option<Response> {
        let on = self.on.as_ref()?;
        Some(on.refuse(on.keys.take(key_id)?))
    }

    /// Takes a token of the bucket that all links of the key have; the refusal when there is none.
    pub fn take_for_links(&self, key_id: &KeyId) -> Option<Response> {
        let on = self.on.as_ref()?;
        Some(on.refuse(on.links.take(key_id)?))
    }

    /// Takes a token of the bucket of the address that the request came from; the refusal when
    /// there is none.
    pub fn take_for_address(&self, request: &Request) -> Option<Response> {
        self.take_for_client(ClientAddress::from_request(request))
    }

    /// The same for whoever has been found to ask. Without a connection (a test) everybody shares
    /// one bucket.
    pub fn take_for_client(&self, client: ClientAddress) -> Option<Response> {
        let on = self.on.as_ref()?;
        Some(on.refuse(on.addresses.take(&address_block(client.address))?))
    }

    /// Gives back the token that [`BurstLimiter::take_for_client`] took, since what it was taken
    /// for turned out to count against a key.
    pub fn refund(&self, client: ClientAddress) {
        if let Some(on) = &self.on {
            on.addresses.give_back(&address_block(client.address));
        }
    }
}

impl BurstBuckets {
    fn refuse(&self, wait: Duration) -> Response {
        let wait = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1);
        let mut response = Error::from(Refusal::RateLimited { retry_after: wait }).into_response();
        let (limit, per_second) = (u64::from(self.size.get()), u64::from(self.per_second.get()));
        let length = limit.div_ceil(per_second);
        let reset = yearbook_catalog::clock::now().0.div_euclid(1000).saturating_add_unsigned(wait);
        RateLimitWindow { policy: "burst", limit, left: 0, length, wait, reset }
            .write(response.headers_mut());
        response
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::net::SocketAddr;

    use axum::extract::ConnectInfo;

    use super::*;

    fn key(id: &str) -> KeyId {
        KeyId::parse(id).unwrap()
    }
    use crate::client_address;
    use crate::headers::{IETF_RATE_LIMIT_POLICY, RATE_LIMIT, RATE_REMAINING};
    use crate::settings::{ServerSettings, TrustedProxies};

    #[test]
    fn a_burst_beyond_the_bucket_is_refused_with_its_wait_contract_5() {
        let bursts = BurstLimiter::new(LimitSettings {
            burst_per_second: 1,
            burst_size: 3,
            ..LimitSettings::default()
        });
        for _ in 0..3 {
            assert!(bursts.take_for_key(&key("a")).is_none());
        }
        let refused = bursts.take_for_key(&key("a")).unwrap();
        assert_eq!(refused.status(), http::StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(refused.headers()[RATE_LIMIT], "3");
        assert_eq!(refused.headers()[RATE_REMAINING], "0");
        assert!(bursts.take_for_key(&key("b")).is_none(), "another key has its own bucket");
        assert!(
            bursts.take_for_address(&Request::default()).is_none(),
            "addresses have their own buckets"
        );
    }

    #[test]
    fn by_default_a_hundred_may_come_at_once_and_fifty_a_second_contract_5() {
        let bursts = BurstLimiter::new(LimitSettings::default());
        let passed = (0..1000).take_while(|_| bursts.take_for_key(&key("a")).is_none()).count();
        // What took longer than a fiftieth of a second has earned more.
        assert!((100..200).contains(&passed), "{passed}");
        let refused = bursts.take_for_key(&key("a")).unwrap();
        assert_eq!(
            (&refused.headers()[RATE_LIMIT], &refused.headers()[RATE_REMAINING]),
            (&"100".parse().unwrap(), &"0".parse().unwrap())
        );
        // A hundred in two seconds is fifty a second.
        assert_eq!(refused.headers()[IETF_RATE_LIMIT_POLICY], "\"burst\";q=100;w=2");
    }

    #[test]
    fn zero_a_second_switches_burst_limits_off_contract_6() {
        let bursts = BurstLimiter::new(LimitSettings {
            burst_per_second: 0,
            burst_size: 1,
            ..LimitSettings::default()
        });
        assert!((0..1000).all(|_| bursts.take_for_key(&key("a")).is_none()
            && bursts.take_for_address(&Request::default()).is_none()));
    }

    #[test]
    fn clients_behind_a_trusted_proxy_have_buckets_of_their_own() {
        let trusted_proxies = TrustedProxies::try_from(vec!["10.0.0.1".to_owned()]).unwrap();
        let settings = ServerSettings { trusted_proxies, ..ServerSettings::default() };
        let bursts = BurstLimiter::new(LimitSettings {
            burst_per_second: 1,
            burst_size: 1,
            ..LimitSettings::default()
        });
        let refused = |peer: &str, client: &str| {
            let mut request = Request::default();
            request.headers_mut().insert("x-forwarded-for", client.parse().unwrap());
            request.extensions_mut().insert(ConnectInfo(SocketAddr::new(peer.parse().unwrap(), 1)));
            client_address::mark(&mut request, &settings);
            bursts.take_for_address(&request).is_some()
        };
        assert!(
            !refused("10.0.0.1", "192.0.2.1")
                && refused("10.0.0.1", "192.0.2.1")
                && !refused("10.0.0.1", "192.0.2.2")
        );
        assert!(
            !refused("10.0.0.2", "192.0.2.3") && refused("10.0.0.2", "192.0.2.4"),
            "a stranger's word counts nothing"
        );
    }
}
