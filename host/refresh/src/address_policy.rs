//! Addresses that a source may have (contract-8-private): those of the public Internet. Each
//! connection goes to an address that was checked here, so a name that resolves differently a
//! moment later changes nothing.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use ipnet::{Ipv4Net, Ipv6Net};
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Networks of IPv4 that are not the public Internet (IANA IPv4 Special-Purpose Address Registry).
const PRIVATE_V4: [Ipv4Net; 15] = [
    v4([0, 0, 0, 0], 8),
    v4([10, 0, 0, 0], 8),
    v4([100, 64, 0, 0], 10),
    v4([127, 0, 0, 0], 8),
    v4([169, 254, 0, 0], 16),
    v4([172, 16, 0, 0], 12),
    v4([192, 0, 0, 0], 24),
    v4([192, 0, 2, 0], 24),
    v4([192, 88, 99, 0], 24),
    v4([192, 168, 0, 0], 16),
    v4([198, 18, 0, 0], 15),
    v4([198, 51, 100, 0], 24),
    v4([203, 0, 113, 0], 24),
    v4([224, 0, 0, 0], 4),
    v4([240, 0, 0, 0], 4),
];

/// Global unicast addresses of IPv6: nothing outside is the public Internet.
const GLOBAL_V6: Ipv6Net = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// Networks within [`GLOBAL_V6`] that are not (IANA IPv6 Special-Purpose Address Registry).
const PRIVATE_V6: [Ipv6Net; 3] = [
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32),
    v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20),
];

/// Networks of IPv6 whose addresses stand for one of IPv4: translation (RFC 6052) and 6to4 (RFC
/// 3056), with the place of its first byte.
const EMBEDDED_V4: [(Ipv6Net, usize); 2] =
    [(v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96), 12), (v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), 2)];

const fn v4(octets: [u8; 4], prefix: u8) -> Ipv4Net {
    let [a, b, c, d] = octets;
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(segments: [u16; 8], prefix: u8) -> Ipv6Net {
    let [a, b, c, d, e, f, g, h] = segments;
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), prefix)
}

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
        if self.allow_private || is_public(address) {
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

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !PRIVATE_V4.iter().any(|network| network.contains(&address)),
        IpAddr::V6(address) => {
            if let Some(mapped) = address.to_ipv4_mapped() {
                return is_public(mapped.into());
            }
            let octets = address.octets();
            for (network, at) in EMBEDDED_V4 {
                if network.contains(&address)
                    && let Some([a, b, c, d]) = octets.get(at..at + 4)
                {
                    return is_public(Ipv4Addr::new(*a, *b, *c, *d).into());
                }
            }
            GLOBAL_V6.contains(&address)
                && !PRIVATE_V6.iter().any(|network| network.contains(&address))
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
    fn addresses_of_private_networks_are_known_in_every_spelling_contract_8() {
        for (address, public) in [
            ("8.8.8.8", true),
            ("172.15.0.1", true),
            ("172.32.0.1", true),
            ("100.128.0.1", true),
            ("127.0.0.1", false),
            ("127.255.255.254", false),
            ("0.0.0.0", false),
            ("10.1.2.3", false),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("192.168.1.1", false),
            ("169.254.169.254", false),
            ("100.64.0.1", false),
            ("198.19.0.1", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("2606:4700::1111", true),
            ("2a00:1450::1", true),
            ("::1", false),
            ("::", false),
            ("fe80::1", false),
            ("fd00::1", false),
            ("ff02::1", false),
            ("2001:db8::1", false),
            // Teredo and others of 2001::/23.
            ("2001::1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:8.8.8.8", true),
            ("::127.0.0.1", false),
            ("64:ff9b::7f00:1", false),
            ("64:ff9b::808:808", true),
            ("2002:a00:1::", false),
            ("2002:808:808::", true),
        ] {
            assert_eq!(is_public(address.parse().unwrap()), public, "{address}");
        }
    }

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
