//! A request as its adapter sees it, and as the host answers it (contract-17-request). The key and
//! its parameter go no further than this file.

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::HeaderName;
use http::request::Parts;
use http::{Method, Uri};
use http_body_util::{BodyExt, Limited};
use percent_encoding::percent_decode_str;
use tokio::time::timeout;
use yearbook_domain::{KeyId, Refusal};
use yearbook_http::reservation::{Patience, Reservation};
use yearbook_http::{AuthenticatedCaller, Error, status};
use yearbook_sandbox::{AdapterDescription, PluginAdapter, adapter};

use crate::AdaptersState;
use crate::document::PreparedDocument;
use crate::refusal::AdapterRefusal;

/// Longest body of a POST.
pub(crate) const BODY_BYTES: usize = 64 << 10;
/// Time within which it has to arrive: nobody is known to have sent it, and what follows has the
/// time of a first byte.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// Most segments of a path below the mount.
const MAX_SEGMENTS: usize = 32;
/// Most parameters.
const MAX_PARAMETERS: usize = 256;
/// Longest value of a header that an adapter is given.
const HEADER_BYTES: usize = 1_024;
/// Headers that every adapter is given.
const GIVEN_HEADERS: [&str; 3] = ["accept", "accept-language", "content-type"];

/// One request to an adapter.
pub(crate) struct Exchange {
    /// Method, address and headers; the address without the key's parameter.
    pub(crate) parts: Parts,
    /// The caller; `None` without a key.
    pub(crate) auth: Option<AuthenticatedCaller>,
    reservation: Option<Reservation>,
    /// Set once something was asked that is no lasting fact of the catalogue.
    is_passing: bool,
}

impl Exchange {
    /// A request that has read nothing.
    pub(crate) fn new(parts: Parts, auth: Option<AuthenticatedCaller>) -> Self {
        Self { parts, auth, reservation: None, is_passing: false }
    }

    /// Owner of the request's key.
    pub(crate) fn key_id(&self) -> Option<&KeyId> {
        self.auth.as_ref().map(|auth| auth.caller.id())
    }

    /// Answers with `document`, which `plugin` wrote.
    ///
    /// # Errors
    /// 412 to a client that asks for another one.
    pub(crate) async fn respond(
        &self,
        app: &AdaptersState,
        plugin: &PluginAdapter,
        document: &PreparedDocument,
    ) -> Result<Response, Error> {
        document.respond(&app.core, &self.parts, self.is_passing(), plugin).await
    }

    /// Makes the one reservation of the request, at its first read.
    ///
    /// # Errors
    /// 401 without a key; 429 and 503 as for rows.
    pub(crate) async fn reserve(&mut self, app: &AdaptersState) -> Result<&Reservation, Error> {
        let auth = self.auth.as_ref().ok_or(Refusal::KeyMissing)?;
        let made = match self.reservation.take() {
            Some(made) => made,
            None => app.core.reserve(auth, Patience::Queue).await?,
        };
        Ok(self.reservation.insert(made))
    }

    /// Notes a question whose answer depends on the caller or on the time, be it a refusal before
    /// anything was read.
    pub(crate) fn note_passing(&mut self) {
        self.is_passing = true;
    }

    /// Returns whether the answer depends on the caller or on the time.
    pub(crate) fn is_passing(&self) -> bool {
        self.is_passing || self.reservation.is_some()
    }

    /// Charges for `outcome` once, whatever was read for it. 304 costs what its document would:
    /// everything was read for it. A refusal is not charged.
    ///
    /// # Errors
    /// The error of `outcome`.
    pub(crate) async fn settle(self, outcome: Result<Response, Error>) -> Result<Response, Error> {
        let Some(reservation) = self.reservation else { return outcome };
        let mut response = match outcome {
            Ok(response) => response,
            refused => return reservation.settle(refused).await,
        };
        if response.status() != status::NOT_MODIFIED {
            return reservation.settle(Ok(response)).await;
        }
        *response.status_mut() = status::OK;
        let mut settled = reservation.settle(Ok(response)).await?;
        *settled.status_mut() = status::NOT_MODIFIED;
        Ok(settled)
    }
}

/// A request before anybody asked whose it is: without key and body.
pub(crate) struct SentRequest {
    /// Method, address and headers; the address without the key's parameter.
    pub(crate) parts: Parts,
    /// The request as the adapter sees it, without a body.
    pub(crate) guest: adapter::Request,
    /// Value of the key's parameter.
    pub(crate) key: Option<String>,
}

impl SentRequest {
    /// Reads the head of a request to `plugin`.
    ///
    /// # Errors
    /// 400 for what is not UTF-8, 414 for more segments or parameters than an adapter takes.
    pub(crate) fn parse(
        app: &AdaptersState,
        plugin: &PluginAdapter,
        mut parts: Parts,
    ) -> Result<Self, Error> {
        let description = plugin.description();
        let key = take_key(description, &mut parts.uri)?;
        let mount = format!("/api/{}", description.name);
        let below = parts.uri.path().strip_prefix(&mount).unwrap_or_default();
        let guest = adapter::Request {
            // One that no adapter takes is refused below, as a POST is that this one does not.
            method: if matches!(parts.method, Method::GET | Method::HEAD) {
                adapter::Method::Get
            } else {
                adapter::Method::Post
            },
            base: format!("{}{mount}", origin(app, &parts)),
            path: segments(below)?,
            query: pairs(description, parts.uri.query().unwrap_or_default())?,
            headers: given_headers(description, &parts)?,
            body: Vec::new(),
        };
        Ok(Self { parts, guest, key })
    }
}

/// Reads the body of a POST.
///
/// # Errors
/// 413 for one that is too long, 400 for one that ends early or is late.
pub(crate) async fn read_body(body: Body) -> Result<Vec<u8>, Error> {
    read_within(BODY_TIMEOUT, body).await
}

async fn read_within(patience: Duration, body: Body) -> Result<Vec<u8>, Error> {
    let read = timeout(patience, Limited::new(body, BODY_BYTES).collect()).await;
    let collected = read.map_err(|_| AdapterRefusal::BodyLate)?.map_err(|failure| {
        if failure.is::<http_body_util::LengthLimitError>() {
            AdapterRefusal::BodyTooLong
        } else {
            AdapterRefusal::BodyUnreadable
        }
    })?;
    let bytes: Bytes = collected.to_bytes();
    Ok(bytes.into())
}

/// Scheme and host of absolute addresses. A client that does not say what it calls us gets the
/// address that we listen at.
fn origin(app: &AdaptersState, parts: &Parts) -> String {
    let base = app.core.base_url(parts);
    if base.is_empty() { format!("http://{}", app.core.settings.server.listen) } else { base }
}

/// Takes the key's parameter out of `uri`, and returns the first value that is not empty.
fn take_key(description: &AdapterDescription, uri: &mut Uri) -> Result<Option<String>, Error> {
    let (Some(name), Some(query)) = (&description.key_parameter, uri.query()) else {
        return Ok(None);
    };
    let (mut key, mut others) = (None, Vec::new());
    for part in query.split('&') {
        let (sent, value) = part.split_once('=').unwrap_or((part, ""));
        if decode(sent, description.plus_is_space)? == *name {
            let value = decode(value, description.plus_is_space)?;
            key = key.or(Some(value).filter(|value| !value.is_empty()));
        } else {
            others.push(part);
        }
    }
    let others = others.join("&");
    let separator = if others.is_empty() { "" } else { "?" };
    let mut bare = std::mem::take(uri).into_parts();
    let path = bare.path_and_query.as_ref().map_or("/", |whole| whole.path());
    bare.path_and_query = format!("{path}{separator}{others}").parse().ok();
    *uri = Uri::from_parts(bare).unwrap_or_default();
    Ok(key)
}

/// Segments of `path`, which begins with a slash, decoded once. An empty last one is left out.
fn segments(path: &str) -> Result<Vec<String>, Error> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() {
        return Ok(Vec::new());
    }
    if path.split('/').nth(MAX_SEGMENTS).is_some() {
        return Err(AdapterRefusal::TooManySegments.into());
    }
    path.split('/').map(|segment| decode(segment, false)).collect()
}

/// Parameters in order.
fn pairs(description: &AdapterDescription, query: &str) -> Result<Vec<(String, String)>, Error> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    if parts.clone().nth(MAX_PARAMETERS).is_some() {
        return Err(AdapterRefusal::TooManyParameters.into());
    }
    let plus = description.plus_is_space;
    let pair = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        Ok((decode(name, plus)?, decode(value, plus)?))
    };
    parts.map(pair).collect()
}

/// Headers that the adapter is given, each a pair: its lines are one list (RFC 9110, 5.3).
fn given_headers(
    description: &AdapterDescription,
    parts: &Parts,
) -> Result<Vec<(String, String)>, Error> {
    let mut given = Vec::new();
    let declared = description.headers.iter().map(String::as_str);
    for name in GIVEN_HEADERS.into_iter().chain(declared) {
        let Ok(header) = HeaderName::try_from(name) else { continue };
        let lines = parts.headers.get_all(header).iter();
        let lines = lines.map(|line| std::str::from_utf8(line.as_bytes()));
        let lines = lines.collect::<Result<Vec<_>, _>>().map_err(|_| AdapterRefusal::NotText)?;
        if lines.is_empty() {
            continue;
        }
        let text = lines.join(", ");
        if text.len() > HEADER_BYTES {
            return Err(AdapterRefusal::HeaderTooLong.into());
        }
        given.push((name.to_owned(), text));
    }
    Ok(given)
}

fn decode(text: &str, plus_is_space: bool) -> Result<String, Error> {
    let spaced = if plus_is_space { text.replace('+', " ") } else { text.to_owned() };
    let decoded = percent_decode_str(&spaced).decode_utf8();
    Ok(decoded.map_err(|_| AdapterRefusal::NotText)?.into_owned())
}

#[cfg(test)]
mod tests {
    use futures::{StreamExt as _, stream};

    use super::*;

    #[tokio::test]
    async fn a_body_that_trickles_is_refused_in_time_contract_17() {
        let code = async |body: Body| {
            let read = read_within(Duration::from_millis(50), body).await;
            read.map_err(|error| error.code())
        };
        let begun = stream::once(async { Ok::<_, std::io::Error>(Bytes::from_static(b"{")) });
        let trickle = begun.chain(stream::pending());
        assert_eq!(code(Body::from_stream(trickle)).await, Err("body_late"));
        assert_eq!(code(Body::from(vec![0; BODY_BYTES + 1])).await, Err("body_too_long"));
        assert_eq!(code(Body::from("{}")).await, Ok(b"{}".to_vec()));
    }
}
