//! HTTP to one registry and to where it leads, as errors of a registry. Knows nothing of manifests
//! or tokens.

use http::StatusCode;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use yearbook_outbound::{
    AddressRules, NetworkZone, OutboundClient, OutboundError, OutboundRequest, OutboundResponse,
    OutboundSettings, Schemes, Url, look_up,
};

use crate::limits::{CONNECT, ERROR_BYTES, REDIRECTS};
use crate::{RegistryError, RegistryLimits, RegistryReference};

/// Connections to one registry. The one who names a registry decides that its own host is asked,
/// wherever that is; an address that the *registry* names is public, or in the same zone as the
/// registry.
pub(crate) struct Transport {
    client: OutboundClient,
    /// Scheme, host and port of the registry.
    base: Url,
    host: String,
}

/// An answer whose head has arrived.
pub(crate) struct RegistryResponse {
    response: OutboundResponse,
    host: String,
}

impl Transport {
    /// Looks the registry's host up and makes a client for it.
    pub(crate) async fn open(
        reference: &RegistryReference,
        limits: &RegistryLimits,
    ) -> Result<Self, RegistryError> {
        let plain = reference.is_loopback();
        let host = reference.authority();
        let scheme = if plain { "http" } else { "https" };
        // Docker Hub's interface has another name than the references to it.
        let authority = match reference.host() {
            "docker.io" | "index.docker.io" => "registry-1.docker.io".to_owned(),
            _ => host.clone(),
        };
        let text = format!("{scheme}://{authority}/");
        let unknown =
            |reason: String| RegistryError::Unreachable { reason: format!("{text}: {reason}") };
        let base = Url::parse(&text).map_err(|error| unknown(error.to_string()))?;
        let addresses = look_up(base.host_str().unwrap_or_default(), CONNECT).await;
        let addresses = addresses.map_err(|error| unknown(error.to_string()))?;
        if plain
            && !addresses.iter().all(|ip| NetworkZone::from_address(*ip) == NetworkZone::Loopback)
        {
            let reason = "is to be this machine and is another one".to_owned();
            return Err(RegistryError::Redirect { target: host.clone(), host, reason });
        }
        let client = OutboundClient::new(OutboundSettings {
            rules: AddressRules::beside(&addresses),
            schemes: if plain { Schemes::HttpsOrLoopback } else { Schemes::Https },
            redirects: REDIRECTS,
            connect: CONNECT,
            idle: limits.idle,
            keep_alive: true,
        })?;
        Ok(Self { client, base, host })
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

    /// Sends `request`, with `authorization` where it goes to the registry itself: blobs lie
    /// elsewhere.
    pub(crate) async fn send(
        &self,
        request: &OutboundRequest,
        authorization: Option<&HeaderValue>,
    ) -> Result<RegistryResponse, RegistryError> {
        let mut request = request.clone();
        if let Some(authorization) = authorization
            && request.url.origin() == self.base.origin()
        {
            request.headers.insert(AUTHORIZATION, authorization.clone());
        }
        let response = self.client.send(&request).await;
        let response = response.map_err(|error| explain(error, self.host.clone()))?;
        Ok(RegistryResponse { response, host: self.host.clone() })
    }

    /// Address that a header names, relative to the one that sent it.
    pub(crate) fn join(&self, from: &Url, target: &str) -> Result<Url, RegistryError> {
        self.client.join(from, target).map_err(|error| explain(error, self.host.clone()))
    }
}

impl RegistryResponse {
    pub(crate) fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Header as text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.response.header(name)
    }

    /// Address that answered, after redirects.
    pub(crate) fn url(&self) -> &Url {
        self.response.url()
    }

    /// Bytes that the head announces.
    pub(crate) fn announced(&self) -> Option<u64> {
        self.response.content_length()
    }

    /// The whole body, of `limit` bytes at most.
    pub(crate) async fn body(
        self,
        what: &'static str,
        limit: usize,
    ) -> Result<Vec<u8>, RegistryError> {
        let host = self.host;
        let read = async { self.response.into_body(limit as u64)?.read().await };
        read.await.map_err(|error| match error {
            OutboundError::TooLarge { found, limit, .. } => {
                RegistryError::Size { host, what, found, allowed: format!("{limit} are allowed") }
            }
            error => explain(error, host),
        })
    }

    /// The error for a status that the protocol does not have for `what`, with the registry's own
    /// sentence.
    pub(crate) async fn unexpected(self, what: &'static str) -> RegistryError {
        let (host, status) = (self.host.clone(), self.status().as_u16());
        let detail = self.sentence().await.map_or_else(String::new, |said| format!(" ({said})"));
        RegistryError::Status { host, status, what, detail }
    }

    /// The registry's own words in the body of an error.
    pub(crate) async fn sentence(self) -> Option<String> {
        first_message(&self.body("error", ERROR_BYTES).await.ok()?)
    }
}

/// An error of HTTP as one of the registry `host`.
fn explain(error: OutboundError, host: String) -> RegistryError {
    match error {
        OutboundError::NoTls { .. } => RegistryError::NoTls { host },
        OutboundError::Refused { place: target, reason } => {
            RegistryError::Redirect { host, target, reason }
        }
        OutboundError::Forbidden(forbidden) => RegistryError::Redirect {
            host,
            target: forbidden.host,
            reason: format!(
                "is {}, on a network that this registry may not lead to",
                forbidden.address
            ),
        },
        error => RegistryError::Unreachable { reason: error.to_string() },
    }
}

/// First message of an error body (OCI distribution, "Error Codes"), cut and without controls.
fn first_message(body: &[u8]) -> Option<String> {
    let body: serde_json::Value = serde_json::from_slice(body).ok()?;
    let first = body.get("errors")?.get(0)?;
    let text = |name: &str| first.get(name).and_then(|value| value.as_str()).unwrap_or_default();
    let sentence = format!("{} {}", text("code"), text("message"));
    let sentence =
        sentence.trim().chars().filter(|c| !c.is_control()).take(200).collect::<String>();
    (!sentence.is_empty()).then_some(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registrys_own_sentence_is_cut_and_cleaned() {
        let body = br#"{"errors":[{"code":"DENIED","message":"no\u001b[31m entry"}]}"#;
        assert_eq!(first_message(body).as_deref(), Some("DENIED no[31m entry"));
        assert_eq!(first_message(b"<html>"), None);
        assert_eq!(first_message(br#"{"errors":[]}"#), None);
    }
}
