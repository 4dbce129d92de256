//! Look-ups of names. A client resolves through its rules and connects to an address that was
//! checked, so a name that resolves differently a moment later changes nothing
//! (contract-8-private).

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::address_rules::{AddressRules, ip_literal};

/// Addresses of a name, to come.
pub(crate) type LookupFuture = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// Source of the addresses of names.
pub(crate) type Lookup = Arc<dyn Fn(String) -> LookupFuture + Send + Sync>;

/// The system's resolver.
pub(crate) fn system_lookup() -> Lookup {
    Arc::new(|host| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    })
}

/// Addresses of a host, one at least; of an address itself.
///
/// # Errors
/// Fails for a name without addresses, and when the look-up takes longer than `limit`.
pub async fn look_up(host: &str, limit: Duration) -> io::Result<Vec<IpAddr>> {
    if let Some(address) = ip_literal(host) {
        return Ok(vec![address]);
    }
    let found = tokio::time::timeout(limit, system_lookup()(host.to_owned())).await;
    let found = found.map_err(|_| io::Error::other("the name cannot be looked up in time"))??;
    if found.is_empty() {
        return Err(io::Error::other("the name has no address"));
    }
    Ok(found)
}

/// A resolver that gives only addresses that may be connected to.
pub(crate) struct CheckedResolver {
    pub(crate) rules: AddressRules,
    pub(crate) lookup: Lookup,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (rules, found) = (self.rules, (self.lookup)(name.as_str().to_owned()));
        Box::pin(async move {
            let allowed = rules.select(name.as_str(), &found.await?)?;
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}
