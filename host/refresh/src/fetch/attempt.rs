//! One attempt: a request, the redirects that may be followed, and the body.

use bytes::Bytes;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LOCATION,
};
use reqwest::{Response, Url};
use tokio::sync::mpsc;
use yearbook_domain::FailureCause;

use super::answer::{self, BodyFraming};
use super::{ByteListener, FetchedAnswer, RequestConditions, SourceClient};
use crate::address_policy::PrivateAddress;
use crate::download::{self, DownloadedFile, too_large};
use crate::failure::CheckFailure;

/// Redirects that are followed, as many as browsers follow within reason.
const MAX_REDIRECTS: usize = 10;

/// Chunks between the network and the disk; each is some ten kilobytes.
const QUEUED_CHUNKS: usize = 16;

impl SourceClient {
    pub(super) async fn attempt(
        &self,
        address: &Url,
        conditions: &RequestConditions,
        listener: ByteListener<'_>,
    ) -> Result<FetchedAnswer, CheckFailure> {
        let headers = request_headers(conditions);
        let mut url = address.clone();
        for _ in 0..=MAX_REDIRECTS {
            self.policy.check_literal(&url).map_err(private_failure)?;
            let request = self.client.get(url.clone()).headers(headers.clone());
            let response = request.send().await.map_err(|error| explain(error, &url))?;
            match redirect_target(&url, &response)? {
                Some(next) => url = next,
                None => return self.read(response, conditions, listener).await,
            }
        }
        let reason = format!("{} redirects more than {MAX_REDIRECTS} times", shown(address));
        Err(CheckFailure::new(FailureCause::Answer, reason))
    }

    async fn read(
        &self,
        response: Response,
        conditions: &RequestConditions,
        listener: ByteListener<'_>,
    ) -> Result<FetchedAnswer, CheckFailure> {
        let url = response.url().clone();
        let asked = !conditions.is_empty();
        if answer::is_not_modified(response.status().as_u16(), response.headers(), asked, &url)? {
            return Ok(FetchedAnswer::NotModified);
        }
        let framing = BodyFraming::read(&response)?;
        let max_bytes = self.bounds.max_bytes;
        if framing.length.is_some_and(|length| length > max_bytes) {
            return Err(too_large(max_bytes));
        }
        let validators = answer::validators(response.headers());
        let download = receive(response, &framing, max_bytes, listener).await?;
        framing.check_digest(&download.content)?;
        Ok(FetchedAnswer::Body { download, validators })
    }
}

/// Reads the body to its end, bytes as they are sent and decoded ones within `max_bytes` each.
async fn receive(
    mut response: Response,
    framing: &BodyFraming,
    max_bytes: u64,
    listener: ByteListener<'_>,
) -> Result<DownloadedFile, CheckFailure> {
    let url = response.url().clone();
    let (sender, receiver) = mpsc::channel::<Bytes>(QUEUED_CHUNKS);
    let coding = framing.coding;
    let writer =
        tokio::task::spawn_blocking(move || download::write_body(receiver, coding, max_bytes));
    let mut received = 0_u64;
    while let Some(chunk) = response.chunk().await.map_err(|error| explain(error, &url))? {
        received = received.saturating_add(chunk.len() as u64);
        if received > max_bytes {
            return Err(too_large(max_bytes));
        }
        listener(received);
        if sender.send(chunk).await.is_err() {
            // The writer has given up and says why.
            break;
        }
    }
    drop(sender);
    writer.await.unwrap_or_else(|_| {
        Err(CheckFailure::new(FailureCause::Internal, "the answer could not be written to disk"))
    })
}

/// Reads an address, which must be one that can be asked here.
pub(super) fn parse_address(address: &str) -> Result<Url, CheckFailure> {
    let url = Url::parse(address).map_err(|error| {
        let reason = format!("resources[0].path is no address: {error}; correct the descriptor");
        CheckFailure::new(FailureCause::Descriptor, reason)
    })?;
    check_scheme(&url)?;
    Ok(url)
}

fn check_scheme(url: &Url) -> Result<(), CheckFailure> {
    match url.scheme() {
        "http" => Ok(()),
        #[cfg(feature = "https")]
        "https" => Ok(()),
        #[cfg(not(feature = "https"))]
        "https" => Err(CheckFailure::new(
            FailureCause::Internal,
            "this build of yearbook has no TLS: take a release build, or build it with `cargo build --release`",
        )),
        other => Err(CheckFailure::new(
            FailureCause::Answer,
            format!("leads to an address of the kind {other:?}; only http and https are asked"),
        )),
    }
}

/// Address that `response` redirects to; none where it does not.
fn redirect_target(url: &Url, response: &Response) -> Result<Option<Url>, CheckFailure> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let Some(next) = location.and_then(|location| url.join(location).ok()) else {
        let reason = format!("{} redirects to nowhere", shown(url));
        return Err(CheckFailure::new(FailureCause::Answer, reason));
    };
    check_redirect(url, &next)?;
    Ok(Some(next))
}

/// Refuses to go where a descriptor could not, or where what comes back could be anybody's.
fn check_redirect(url: &Url, next: &Url) -> Result<(), CheckFailure> {
    let refuse = |reason: String| Err(CheckFailure::new(FailureCause::Answer, reason));
    check_scheme(next)?;
    if url.scheme() == "https" && next.scheme() == "http" {
        return refuse(format!(
            "{} redirects to {}, which has no TLS; write that address into the descriptor if it is right",
            shown(url),
            shown(next)
        ));
    }
    if !next.username().is_empty() || next.password().is_some() {
        return refuse(format!("{} redirects to an address with a user", shown(url)));
    }
    Ok(())
}

fn request_headers(conditions: &RequestConditions) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    let kept = [(IF_NONE_MATCH, &conditions.etag), (IF_MODIFIED_SINCE, &conditions.last_modified)];
    for (name, value) in kept {
        if let Some(value) = value.as_ref().and_then(|value| HeaderValue::from_str(value).ok()) {
            headers.insert(name, value);
        }
    }
    headers
}

/// An address as reports show it: without a user and a password, and without what follows `?` and
/// `#`, which may hold a key.
pub(super) fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    // Both fail only for addresses without a host, which have neither.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_query(None);
    shown.set_fragment(None);
    shown.to_string()
}

fn private_failure(private: PrivateAddress) -> CheckFailure {
    CheckFailure::new(FailureCause::PrivateAddress, private.to_string())
}

/// An error of the client as a sentence, without the library's layers between.
fn explain(error: reqwest::Error, url: &Url) -> CheckFailure {
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    loop {
        if let Some(private) = cause.downcast_ref::<PrivateAddress>() {
            return private_failure(private.clone());
        }
        match cause.source() {
            Some(deeper) => cause = deeper,
            None => break,
        }
    }
    let place = shown(url);
    let reason = if error.is_timeout() {
        format!("{place} was silent for too long")
    } else if error.is_connect() {
        format!("cannot connect to {place}: {cause}")
    } else if error.is_body() || error.is_decode() {
        format!("the answer of {place} broke off: {cause}")
    } else {
        format!("{place} does not answer as HTTP has it: {cause}")
    };
    CheckFailure::temporary(FailureCause::Connection, reason)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_redirect_never_takes_tls_away_contract_8() {
        let check = |from: &str, to: &str| {
            check_redirect(&Url::parse(from).unwrap(), &Url::parse(to).unwrap())
        };
        assert_eq!(check("http://a.org/", "https://a.org/"), Ok(()));
        assert_eq!(check("https://a.org/", "https://b.org/x?key=1"), Ok(()));
        assert_eq!(check("http://a.org/", "http://b.org/"), Ok(()));
        let refused = check("https://a.org/", "http://a.org/x?key=secret").unwrap_err();
        assert_eq!(refused.cause, FailureCause::Answer);
        assert!(refused.reason.contains("has no TLS") && !refused.reason.contains("secret"));
        for to in ["ftp://a.org/", "data:text/csv,a", "https://user@a.org/", "https://:pw@a.org/"] {
            assert!(check("https://a.org/", to).is_err(), "{to}");
        }
    }

    #[test]
    fn an_address_is_shown_without_what_may_be_secret_contract_8() {
        for (address, expected) in [
            ("https://a.org/x.csv", "https://a.org/x.csv"),
            ("https://ann:secret@a.org:8443/x.csv", "https://a.org:8443/x.csv"),
            ("https://secret@a.org/x", "https://a.org/x"),
            ("https://:secret@a.org/x", "https://a.org/x"),
            ("https://a.org/x?key=secret&token=secret", "https://a.org/x"),
            ("https://a.org/x#access_token=secret", "https://a.org/x"),
            ("https://ann:secret@[2606:4700::1]/x?secret#secret", "https://[2606:4700::1]/x"),
        ] {
            assert_eq!(shown(&Url::parse(address).unwrap()), expected, "{address}");
        }
        let (from, to) = ("https://ann:secret@a.org/", "http://bob:secret@b.org/?secret");
        let refused = check_redirect(&Url::parse(from).unwrap(), &Url::parse(to).unwrap());
        let reason = refused.unwrap_err().reason;
        assert!(reason.contains("has no TLS") && !reason.contains("secret"), "{reason}");
    }
}
