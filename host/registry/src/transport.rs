//! HTTP to one registry and to where it leads: TLS but for loopback, redirects followed by hand and
//! checked, every body bounded. Owns addresses and bytes; knows nothing of manifests or tokens.

use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderName, LOCATION};
use http::{HeaderMap, Method, StatusCode};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use yearbook_domain::NetworkZone;

use crate::address::{AllowedZones, RefusedName, ZoneResolver};
use crate::limits::{CONNECT, ERROR_BYTES, REDIRECTS};
use crate::reference::{ip_literal, is_loopback_host};
use crate::{RegistryError, RegistryLimits, RegistryReference};

/// A request: everything but who asks.
#[derive(Clone, Debug)]
pub(crate) struct RegistryRequest {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: Vec<(HeaderName, String)>,
    /// Shared: a request is sent again after a challenge.
    pub(crate) body: Option<Bytes>,
}

impl RegistryRequest {
    pub(crate) fn new(method: Method, url: Url) -> Self {
        Self { method, url, headers: Vec::new(), body: None }
    }

    pub(crate) fn with_header(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn with_body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = Some(body.into());
        self
    }
}

/// An answer whose head has arrived.
pub(crate) struct RegistryResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// Address that answered, after redirects.
    pub(crate) url: Url,
    body: Response,
    host: String,
    idle: Duration,
}

/// Connections to one registry.
pub(crate) struct Transport {
    client: Client,
    zones: AllowedZones,
    idle: Duration,
    /// Scheme, host and port of the registry.
    base: Url,
    host: String,
    plain: bool,
}

impl Transport {
    /// Looks the registry's host up and makes a client for it.
    pub(crate) async fn open(
        reference: &RegistryReference,
        limits: &RegistryLimits,
    ) -> Result<Self, RegistryError> {
        let plain = reference.is_loopback();
        let host = reference.authority();
        if !plain && !cfg!(feature = "tls") {
            return Err(RegistryError::NoTls { host });
        }
        let scheme = if plain { "http" } else { "https" };
        // Docker Hub's interface has another name than the references to it.
        let authority = match reference.host() {
            "docker.io" | "index.docker.io" => "registry-1.docker.io".to_owned(),
            _ => host.clone(),
        };
        let text = format!("{scheme}://{authority}/");
        let base = Url::parse(&text).map_err(|error| RegistryError::Unreachable {
            url: text.clone(),
            reason: error.to_string(),
        })?;
        let addresses = lookup(&base).await?;
        if plain && !addresses.iter().all(|ip| NetworkZone::of(*ip) == NetworkZone::Loopback) {
            return Err(RegistryError::Redirect {
                target: host.clone(),
                host,
                reason: "is to be this machine and is another one",
            });
        }
        let zones = AllowedZones::new(&addresses);
        let client = new_client(zones, plain)?;
        Ok(Self { client, zones, idle: limits.idle, base, host, plain })
    }

    /// Host of the reference, for messages.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Address of `path` at the registry.
    pub(crate) fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(path);
        url
    }

    /// Sends `request`, with `authorization` as long as it stays with the registry. Follows
    /// redirects of GET and HEAD.
    pub(crate) async fn send(
        &self,
        request: &RegistryRequest,
        authorization: Option<&str>,
    ) -> Result<RegistryResponse, RegistryError> {
        let mut url = request.url.clone();
        let may_follow = matches!(request.method, Method::GET | Method::HEAD);
        for _ in 0..=REDIRECTS {
            self.check_target(&url)?;
            let mut call = self.client.request(request.method.clone(), url.clone());
            let same_origin = url.origin() == request.url.origin();
            for (name, value) in &request.headers {
                if same_origin || *name != AUTHORIZATION {
                    call = call.header(name, value);
                }
            }
            // Never to another origin: it is the registry's, and blobs lie elsewhere.
            if let Some(authorization) =
                authorization.filter(|_| url.origin() == self.base.origin())
            {
                call = call.header(AUTHORIZATION, authorization);
            }
            // A body takes the time that the line takes; the transfer as a whole is bounded.
            let patience = if request.body.is_some() { Duration::MAX } else { CONNECT + self.idle };
            if let Some(body) = &request.body {
                call = call.body(body.clone());
            }
            let response = match tokio::time::timeout(patience, call.send()).await {
                Ok(response) => response.map_err(|error| self.explain(&url, &error))?,
                Err(_) => return Err(silent(&url)),
            };
            let status = response.status();
            let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            match target.filter(|_| status.is_redirection() && may_follow) {
                Some(target) => url = self.join(&url, target)?,
                None => {
                    let headers = response.headers().clone();
                    let (host, idle) = (self.host.clone(), self.idle);
                    return Ok(RegistryResponse {
                        status,
                        headers,
                        url,
                        body: response,
                        host,
                        idle,
                    });
                }
            }
        }
        Err(self.refused(&url, "is one of more than 5 redirects"))
    }

    /// Address that a header names, relative to the one that sent it.
    pub(crate) fn join(&self, from: &Url, target: &str) -> Result<Url, RegistryError> {
        from.join(target).map_err(|_| self.refused(from, "names no address to go on at"))
    }

    /// Refuses an address that the registry may not lead to. Names are judged when they are looked
    /// up.
    fn check_target(&self, url: &Url) -> Result<(), RegistryError> {
        let host = url.host_str().unwrap_or_default();
        let own = url.origin() == self.base.origin();
        match url.scheme() {
            "https" if cfg!(feature = "tls") => {}
            "https" => return Err(RegistryError::NoTls { host: host.to_owned() }),
            "http" if self.plain && is_loopback_host(host) => {}
            "http" => return Err(self.refused(url, "has no TLS and is not on this machine")),
            _ => return Err(self.refused(url, "is no web address")),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(self.refused(url, "carries a user name"));
        }
        match ip_literal(host) {
            Some(ip) if !own && !self.zones.allow(ip) => {
                Err(self.refused(url, "is on a network that this registry may not lead to"))
            }
            _ => Ok(()),
        }
    }

    fn refused(&self, url: &Url, reason: &'static str) -> RegistryError {
        RegistryError::Redirect { host: self.host.clone(), target: without_query(url), reason }
    }

    fn explain(&self, url: &Url, error: &reqwest::Error) -> RegistryError {
        let mut cause: &dyn Error = error;
        loop {
            if let Some(refused) = cause.downcast_ref::<RefusedName>() {
                return RegistryError::Address { name: refused.name.clone(), found: refused.found };
            }
            match cause.source() {
                Some(deeper) => cause = deeper,
                None => break,
            }
        }
        if error.is_timeout() {
            return silent(url);
        }
        RegistryError::Unreachable { url: without_query(url), reason: cause.to_string() }
    }
}

impl RegistryResponse {
    /// Header as text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Bytes that the head announces.
    pub(crate) fn announced(&self) -> Option<u64> {
        self.body.content_length()
    }

    /// The whole body, of `limit` bytes at most.
    pub(crate) async fn body(
        mut self,
        what: &'static str,
        limit: usize,
    ) -> Result<Vec<u8>, RegistryError> {
        let too_large = |found: String| RegistryError::Size {
            host: self.host.clone(),
            what,
            found,
            allowed: format!("{limit} are allowed"),
        };
        if let Some(announced) = self.announced().filter(|bytes| *bytes > limit as u64) {
            return Err(too_large(announced.to_string()));
        }
        let mut body = Vec::new();
        loop {
            let Ok(chunk) = tokio::time::timeout(self.idle, self.body.chunk()).await else {
                return Err(silent(&self.url));
            };
            match chunk {
                Ok(Some(chunk)) if body.len() + chunk.len() > limit => {
                    return Err(too_large(format!("more than {limit}")));
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => return Ok(body),
                Err(_) => {
                    let (url, reason) =
                        (without_query(&self.url), "the answer broke off".to_owned());
                    return Err(RegistryError::Unreachable { url, reason });
                }
            }
        }
    }

    /// The error for a status that the protocol does not have for `what`, with the registry's own
    /// sentence.
    pub(crate) async fn unexpected(self, what: &'static str) -> RegistryError {
        let (host, status) = (self.host.clone(), self.status.as_u16());
        let detail = self.body("error", ERROR_BYTES).await.ok().and_then(|body| sentence(&body));
        let detail = detail.map_or_else(String::new, |detail| format!(" ({detail})"));
        RegistryError::Status { host, status, what, detail }
    }
}

/// First message of an error body (OCI distribution, "Error Codes"), cut and without controls.
pub(crate) fn sentence(body: &[u8]) -> Option<String> {
    let body: serde_json::Value = serde_json::from_slice(body).ok()?;
    let first = body.get("errors")?.get(0)?;
    let text = |name: &str| first.get(name).and_then(|value| value.as_str()).unwrap_or_default();
    let sentence = format!("{} {}", text("code"), text("message"));
    let sentence =
        sentence.trim().chars().filter(|c| !c.is_control()).take(200).collect::<String>();
    (!sentence.is_empty()).then_some(sentence)
}

/// An address for messages: queries of signed addresses are secrets.
fn without_query(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    let _ = url.set_password(None);
    let _ = url.set_username("");
    url.to_string()
}

/// The error for an address from which no more bytes come.
fn silent(url: &Url) -> RegistryError {
    let reason = "nothing arrives any more".to_owned();
    RegistryError::Unreachable { url: without_query(url), reason }
}

/// Addresses of a host.
async fn lookup(url: &Url) -> Result<Vec<IpAddr>, RegistryError> {
    let host = url.host_str().unwrap_or_default();
    if let Some(ip) = ip_literal(host) {
        return Ok(vec![ip]);
    }
    let unknown = |reason: String| RegistryError::Unreachable { url: url.to_string(), reason };
    match tokio::time::timeout(CONNECT, tokio::net::lookup_host((host, 0))).await {
        Ok(Ok(found)) => {
            let found: Vec<IpAddr> = found.map(|address| address.ip()).collect();
            if found.is_empty() {
                Err(unknown("the name has no address".to_owned()))
            } else {
                Ok(found)
            }
        }
        Ok(Err(error)) => Err(unknown(error.to_string())),
        Err(_) => Err(unknown("the name cannot be looked up in time".to_owned())),
    }
}

fn new_client(zones: AllowedZones, plain: bool) -> Result<Client, RegistryError> {
    let builder = || {
        Client::builder()
            .user_agent(concat!("yearbook/", env!("CARGO_PKG_VERSION")))
            .no_proxy()
            .redirect(Policy::none())
            .connect_timeout(CONNECT)
            .dns_resolver(Arc::new(ZoneResolver(zones)))
    };
    #[cfg(feature = "tls")]
    let built = {
        // Fails where another part of the program has chosen one already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A machine without certificates can still ask a registry of its own.
        builder()
            .build()
            .or_else(|error| if plain { builder().tls_certs_only([]).build() } else { Err(error) })
    };
    #[cfg(not(feature = "tls"))]
    let built = {
        let _ = plain;
        builder().build()
    };
    built.map_err(|error| RegistryError::Client { reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registrys_own_sentence_is_cut_and_cleaned() {
        let body = br#"{"errors":[{"code":"DENIED","message":"no\u001b[31m entry"}]}"#;
        assert_eq!(sentence(body).as_deref(), Some("DENIED no[31m entry"));
        assert_eq!(sentence(b"<html>"), None);
        assert_eq!(sentence(br#"{"errors":[]}"#), None);
    }
}
