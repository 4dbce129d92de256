//! Addresses that a source may have (contract-8-private): those of the public Internet. Each
//! connection goes to an address that was checked here, so a name that resolves differently a
//! moment later changes nothing.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use yearbook_domain::NetworkZone;

/// Decides which addresses may be connected to.
#[derive(Clone, Debug)]
pub(crate) struct AddressPolicy {
    allow_private: bool,
    /// Stand for public addresses, which tests do not have.
    #[cfg(test)]
    pub(crate) taken_for_public: Vec<IpAddr>,
}

/// The host leads into a private network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PrivateAddress {
    host: String,
    address: IpAddr,
}

impl fmt::Display for PrivateAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, address } = self;
        write!(f, "{host} leads to {address}, which is not on the public Internet")?;
        f.write_str("; set refresh.allow_private if every package may reach private networks")
    }
}

impl std::error::Error for PrivateAddress {}

impl AddressPolicy {
    pub(crate) fn new(allow_private: bool) -> Self {
        Self {
            allow_private,
            #[cfg(test)]
            taken_for_public: Vec::new(),
        }
    }

    /// Checks the host of `url` where it is an address itself; names are checked when they are
    /// resolved.
    pub(crate) fn check_literal(&self, url: &Url) -> Result<(), PrivateAddress> {
        let host = url.host_str().unwrap_or_default();
        match host.trim_start_matches('[').trim_end_matches(']').parse() {
            Ok(address) => self.check(host, address),
            Err(_) => Ok(()),
        }
    }

    fn check(&self, host: &str, address: IpAddr) -> Result<(), PrivateAddress> {
        #[cfg(test)]
        if self.taken_for_public.contains(&address) {
            return Ok(());
        }
        if self.allow_private || NetworkZone::of(address).is_public() {
            Ok(())
        } else {
            Err(PrivateAddress { host: host.to_owned(), address })
        }
    }

    /// Keeps the addresses of `host` that may be connected to.
    fn select(&self, host: &str, found: Vec<IpAddr>) -> Result<Vec<SocketAddr>, PrivateAddress> {
        let mut refusal = None;
        let mut allowed = Vec::new();
        for address in found {
            match self.check(host, address) {
                // Port 0 becomes that of the URL.
                Ok(()) => allowed.push(SocketAddr::new(address, 0)),
                Err(private) => refusal = refusal.or(Some(private)),
            }
        }
        match refusal {
            Some(private) if allowed.is_empty() => Err(private),
            _ => Ok(allowed),
        }
    }
}

/// Lookups of names.
pub(crate) trait Lookup: Send + Sync {
    /// Addresses of `host`.
    fn lookup(&self, host: String) -> LookupFuture;
}

/// Addresses of a name, to come.
pub(crate) type LookupFuture =
    std::pin::Pin<Box<dyn Future<Output = std::io::Result<Vec<IpAddr>>> + Send>>;

/// The system's resolver.
pub(crate) struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, host: String) -> LookupFuture {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// A resolver that hands on only addresses that may be connected to: the connection goes to one of
/// them and nothing is resolved twice.
pub(crate) struct CheckedResolver {
    pub(crate) policy: AddressPolicy,
    pub(crate) lookup: Arc<dyn Lookup>,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (policy, lookup) = (self.policy.clone(), Arc::clone(&self.lookup));
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found = lookup.lookup(host.clone()).await?;
            let allowed = policy.select(&host, found)?;
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_host_that_is_an_address_is_checked_however_it_is_written_contract_8() {
        let policy = AddressPolicy::new(false);
        for url in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1:8080/",
            "http://0177.0.0.1/",
            "http://127.0.0.1./",
            "http://[::1]/",
            "http://[::ffff:10.0.0.1]/",
            "https://192.168.0.1/a.csv",
        ] {
            let url = Url::parse(url).unwrap();
            let refused = policy.check_literal(&url).unwrap_err().to_string();
            assert!(refused.contains("refresh.allow_private"), "{url}: {refused}");
            assert_eq!(AddressPolicy::new(true).check_literal(&url), Ok(()));
        }
        for url in ["https://example.org/", "http://9.9.9.9/", "http://[2606:4700::1]/"] {
            assert_eq!(policy.check_literal(&Url::parse(url).unwrap()), Ok(()), "{url}");
        }
    }

    #[test]
    fn a_name_with_one_public_address_is_reached_there_alone() {
        let policy = AddressPolicy::new(false);
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let mixed = policy.select("x.org", vec![ip("10.0.0.1"), ip("9.9.9.9")]).unwrap();
        assert_eq!(mixed, [SocketAddr::new(ip("9.9.9.9"), 0)]);
        let refused = policy.select("x.org", vec![ip("10.0.0.1"), ip("::1")]).unwrap_err();
        assert!(refused.to_string().starts_with("x.org leads to 10.0.0.1"), "{refused}");
        assert_eq!(policy.select("x.org", Vec::new()), Ok(Vec::new()));
    }
}
