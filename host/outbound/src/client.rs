//! One client: a request, and the redirects that may be followed. Each address is checked before it
//! is asked, and no proxy stands in between, which would resolve names itself.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Url};

use crate::address_rules::{AddressRules, is_loopback_host};
use crate::error::{ClientSetupError, OutboundError};
use crate::redact;
use crate::resolver::{CheckedResolver, Lookup, system_lookup};
use crate::response::OutboundResponse;

/// Schemes that a client asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schemes {
    /// TLS alone.
    Https,
    /// TLS, and plain HTTP to this machine.
    HttpsOrLoopback,
    /// TLS or plain HTTP.
    HttpsOrHttp,
    /// Plain HTTP alone: no certificate is read.
    Http,
}

/// Bounds and rules of a client.
#[derive(Clone, Copy, Debug)]
pub struct OutboundSettings {
    /// Addresses that may be connected to.
    pub rules: AddressRules,
    /// Schemes that may be asked.
    pub schemes: Schemes,
    /// Redirects of GET and HEAD that are followed. With 0, a redirect is an answer like others.
    pub redirects: usize,
    /// Longest time until a connection stands.
    pub connect: Duration,
    /// Longest time in which no byte of an answer comes.
    pub idle: Duration,
    /// Keeps connections for the next request to the same host.
    pub keep_alive: bool,
}

/// A request.
#[derive(Clone, Debug)]
pub struct OutboundRequest {
    /// Method.
    pub method: Method,
    /// Address.
    pub url: Url,
    /// Headers. `Authorization` does not follow a redirect to another origin.
    pub headers: HeaderMap,
    /// Body.
    pub body: Option<Bytes>,
}

impl OutboundRequest {
    /// A request without headers and body.
    #[must_use]
    pub fn new(method: Method, url: Url) -> Self {
        Self { method, url, headers: HeaderMap::new(), body: None }
    }

    /// The same with one more header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: &'static str) -> Self {
        self.headers.append(name, HeaderValue::from_static(value));
        self
    }

    /// The same with a body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = Some(body.into());
        self
    }
}

/// A client for one kind of stranger.
#[derive(Debug)]
pub struct OutboundClient {
    client: Client,
    settings: OutboundSettings,
}

impl OutboundClient {
    /// A client with these bounds.
    ///
    /// # Errors
    /// [`ClientSetupError`] for want of certificates above all.
    pub fn new(settings: OutboundSettings) -> Result<Self, ClientSetupError> {
        Self::with_lookup(settings, &system_lookup())
    }

    pub(crate) fn with_lookup(
        settings: OutboundSettings,
        lookup: &Lookup,
    ) -> Result<Self, ClientSetupError> {
        let builder = || {
            let resolver = CheckedResolver { rules: settings.rules, lookup: Arc::clone(lookup) };
            let builder = Client::builder()
                .user_agent(concat!("yearbook/", env!("CARGO_PKG_VERSION")))
                .dns_resolver(Arc::new(resolver))
                .no_proxy()
                // Each redirect is checked before it is followed.
                .redirect(Policy::none())
                .http1_only()
                .connect_timeout(settings.connect);
            if settings.keep_alive { builder } else { builder.pool_max_idle_per_host(0) }
        };
        let client = build(builder, settings.schemes).map_err(ClientSetupError)?;
        Ok(Self { client, settings })
    }

    /// Sends `request` and follows redirects. A body takes the time that the line takes.
    ///
    /// # Errors
    /// [`OutboundError`].
    pub async fn send(&self, request: &OutboundRequest) -> Result<OutboundResponse, OutboundError> {
        let OutboundSettings { redirects, connect, idle, .. } = self.settings;
        let may_follow = redirects > 0 && matches!(request.method, Method::GET | Method::HEAD);
        let origin = request.url.origin();
        let mut url = request.url.clone();
        self.check(&url)?;
        for _ in 0..=redirects {
            let mut headers = request.headers.clone();
            if url.origin() != origin {
                headers.remove(AUTHORIZATION);
            }
            let call = self.client.request(request.method.clone(), url.clone()).headers(headers);
            let (call, patience) = match &request.body {
                Some(body) => (call.body(body.clone()), Duration::MAX),
                None => (call, connect + idle),
            };
            let response = tokio::time::timeout(patience, call.send()).await;
            let response = response
                .map_err(|_| OutboundError::silent(&url))?
                .map_err(|error| OutboundError::new(error, &url))?;
            if !may_follow || !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                return Ok(OutboundResponse { response, idle });
            }
            let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            url = self.join(&url, target.unwrap_or_default())?;
        }
        Err(OutboundError::refused(&url, format!("is one of more than {redirects} redirects")))
    }

    /// Address that an answer of `from` names, if it may be asked.
    ///
    /// # Errors
    /// [`OutboundError::Refused`], [`OutboundError::Forbidden`], [`OutboundError::NoTls`].
    pub fn join(&self, from: &Url, target: &str) -> Result<Url, OutboundError> {
        let next = Some(target).filter(|target| !target.is_empty());
        let Some(next) = next.and_then(|target| from.join(target).ok()) else {
            return Err(OutboundError::refused(from, "names no address to go on at"));
        };
        if from.scheme() == "https" && next.scheme() == "http" {
            return Err(OutboundError::refused(&next, "has no TLS"));
        }
        if !next.username().is_empty() || next.password().is_some() {
            return Err(OutboundError::refused(&next, "carries a user name"));
        }
        self.check(&next)?;
        Ok(next)
    }

    /// Checks an address but for its name, which is checked when it is resolved.
    fn check(&self, url: &Url) -> Result<(), OutboundError> {
        use Schemes::{Http, Https, HttpsOrHttp, HttpsOrLoopback};
        match (url.scheme(), self.settings.schemes) {
            ("https", Https | HttpsOrLoopback | HttpsOrHttp) if cfg!(feature = "tls") => {}
            ("https", Http) => {
                return Err(OutboundError::refused(url, "is asked without TLS alone"));
            }
            ("https", _) => return Err(OutboundError::NoTls { place: redact(url) }),
            ("http", HttpsOrHttp | Http) => {}
            ("http", HttpsOrLoopback) if is_loopback_host(url.host_str().unwrap_or_default()) => {}
            ("http", _) => {
                return Err(OutboundError::refused(url, "has no TLS and is not on this machine"));
            }
            _ => return Err(OutboundError::refused(url, "is no web address")),
        }
        Ok(self.settings.rules.check_literal(url)?)
    }
}

/// Builds a client. One without TLS to speak wants a provider and certificates all the same where
/// the library has TLS: none is trusted then, and none is read.
fn build(builder: impl Fn() -> ClientBuilder, schemes: Schemes) -> reqwest::Result<Client> {
    #[cfg(feature = "tls")]
    {
        // Fails where another part of the program has chosen one already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        if schemes == Schemes::Http {
            return builder().tls_certs_only([]).build();
        }
        // A machine without certificates can still ask itself.
        builder().build().or_else(|error| match schemes {
            Schemes::HttpsOrLoopback => builder().tls_certs_only([]).build(),
            _ => Err(error),
        })
    }
    #[cfg(not(feature = "tls"))]
    {
        let _ = schemes;
        builder().build()
    }
}

#[cfg(test)]
mod tests;
