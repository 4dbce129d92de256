//! Routes that need a key (spec-5-header): 401 before anything else, then the key's burst limit,
//! which asks no database; afterwards the headers that say how much of the month is left.

mod authorization;

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use http::request::Parts;
use yearbook_catalog::{Caller, KeyLookup, QuotaUsage};
use yearbook_domain::Refusal;
use yearbook_shares::CallerShare;

use crate::Core;
use crate::Error;
use crate::client_address::{ClientAddress, address_block_of};
use crate::headers::API_KEY;
use crate::metrics::RequestLabels;
use crate::rate_limit;

/// Text in place of a key's id, which holds no space, of requests without a key that run plugins.
const WITHOUT_KEY: &str = "without a key";

/// The caller of a request, in its extensions. Only [`check`] puts one there, so a handler that
/// takes it cannot be reached without a key.
#[derive(Clone)]
pub struct AuthenticatedCaller {
    /// The holder of the key.
    pub caller: Caller,
    /// On whose account the request holds what it holds.
    pub holder: CallerShare,
}

/// A handler takes [`AuthenticatedCaller`] as an argument, once: it is moved out of the extensions.
impl<S: Send + Sync> FromRequestParts<S> for AuthenticatedCaller {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        let missing = || {
            Error::internal("answer", &"a route that needs a key stands outside of the key check")
        };
        parts.extensions.remove::<Self>().ok_or_else(missing)
    }
}

/// Checks the key, runs the handler, adds rate-limit headers. A handler that knows the month's
/// usage leaves a [`QuotaUsage`] in the response's extensions; otherwise it is looked up.
pub async fn check(State(state): State<Arc<Core>>, mut request: Request, next: Next) -> Response {
    let authenticated =
        match admit(&state, RequestSource::new(&request), key_text(request.headers())).await {
            Ok(authenticated) => authenticated,
            Err(refused) => return refused,
        };
    let limit = authenticated.caller.limits().requests_per_month;
    let limited = limit.map(|_| authenticated.caller.clone());
    request.extensions_mut().insert(authenticated);
    let mut response = next.run(request).await;
    if let Some(caller) = limited {
        write_usage(&state, &caller, &mut response).await;
    }
    response
}

/// Writes how much of the month `caller` has left into `response`.
pub async fn write_usage(state: &Core, caller: &Caller, response: &mut Response) {
    if caller.limits().requests_per_month.is_none() {
        return;
    }
    let usage = match response.extensions().get::<QuotaUsage>() {
        Some(usage) => Some(*usage),
        // Without the database there are no numbers to tell; the answer itself stands.
        None => state.quota.usage(caller).await.ok(),
    };
    if let Some(usage) = usage {
        rate_limit::write_month_quota(response.headers_mut(), &usage);
    }
}

/// Origin of a request, as far as the check of its key needs it. A request itself cannot be held
/// while the database is asked.
pub struct RequestSource {
    client: ClientAddress,
    address: Option<IpAddr>,
    labels: Option<RequestLabels>,
}

impl RequestSource {
    /// Of `request`.
    pub fn new(request: &Request) -> Self {
        Self {
            client: ClientAddress::from_request(request),
            address: address_block_of(request),
            labels: request.extensions().get().cloned(),
        }
    }

    /// Admits the request in the name of `caller`, for whose key a link stands, and takes a token
    /// of the bucket of all links of that key.
    ///
    /// # Errors
    /// 429 for a burst.
    #[expect(clippy::result_large_err, reason = "a response is what the caller answers with")]
    pub fn admit_by_link(
        self,
        state: &Core,
        caller: Caller,
    ) -> Result<AuthenticatedCaller, Response> {
        let refused = state.burst_limiter.take_for_links(caller.id());
        self.admit(state, caller, refused)
    }

    /// Admits the request without a key, and takes a token of the bucket of its address.
    ///
    /// # Errors
    /// 429 for a burst.
    #[expect(clippy::result_large_err, reason = "a response is what the caller answers with")]
    pub fn admit_without_key(self, state: &Core) -> Result<(), Response> {
        state.burst_limiter.take_for_client(self.client).map_or(Ok(()), Err)
    }

    /// The account of a request without a key: all of them have the share of one key, and each
    /// that of its address.
    pub fn stranger(&self, state: &Core) -> CallerShare {
        state.open_responses.holder(Some(WITHOUT_KEY), self.address)
    }

    /// Admits `caller`, unless a bucket `refused`.
    #[expect(clippy::result_large_err, reason = "a response is what the caller answers with")]
    fn admit(
        self,
        state: &Core,
        caller: Caller,
        refused: Option<Response>,
    ) -> Result<AuthenticatedCaller, Response> {
        if let Some(labels) = &self.labels {
            labels.set_plan(caller.plan());
        }
        if let Some(refused) = refused {
            return Err(refused);
        }
        state.keys.note_use(&caller);
        let holder = state.open_responses.holder(Some(caller.id().as_str()), self.address);
        Ok(AuthenticatedCaller { caller, holder })
    }
}

/// Checks the key `text` of a request and takes a token of its bucket.
///
/// # Errors
/// The refusal: 401 for the key, 429 for a burst, 503 where the database does not answer.
pub async fn admit(
    state: &Core,
    source: RequestSource,
    text: Result<Cow<'_, str>, Refusal>,
) -> Result<AuthenticatedCaller, Response> {
    let caller = find_caller(state, source.client, text).await?;
    // Says the bucket's numbers: the month's would cost a query, just where queries have to be
    // saved.
    let refused = state.burst_limiter.take_for_key(caller.id());
    source.admit(state, caller, refused)
}

/// The holder of the request's key. What is refused is bounded by address, since there is no key to
/// bound it by, and a key that only the database knows is looked up only after the address has been
/// found to have a token for it.
async fn find_caller(
    state: &Core,
    client: ClientAddress,
    text: Result<Cow<'_, str>, Refusal>,
) -> Result<Caller, Response> {
    let bursts = &state.burst_limiter;
    let refuse =
        |error: Error| bursts.take_for_client(client).unwrap_or_else(|| error.into_response());
    let text = text.map_err(|refusal| refuse(refusal.into()))?;
    let key = match state.keys.check_cached(&text).await {
        Ok(KeyLookup::Valid(caller)) => return Ok(caller),
        Ok(KeyLookup::Invalid) => return Err(refuse(Refusal::KeyInvalid.into())),
        Ok(KeyLookup::Uncached(key)) => key,
        // Becomes an error, which is logged, only where the address has a token for it.
        Err(failure) => {
            return Err(bursts
                .take_for_client(client)
                .unwrap_or_else(|| Error::from(failure).into_response()));
        }
    };
    // A revocation of some other key must not make this one count against its address.
    let by_address = !key.was_previously_valid();
    if by_address && let Some(refused) = bursts.take_for_client(client) {
        return Err(refused);
    }
    match state.keys.fetch_caller(key).await {
        Ok(Some(caller)) => {
            if by_address {
                bursts.refund(client);
            }
            Ok(caller)
        }
        Ok(None) if by_address => Err(Error::from(Refusal::KeyInvalid).into_response()),
        Ok(None) => Err(refuse(Refusal::KeyInvalid.into())),
        Err(failure) => Err(Error::from(failure).into_response()),
    }
}

/// Returns the text of `X-API-Key`; where that is missing or empty, of `Authorization`.
///
/// # Errors
/// [`Refusal::KeyMissing`] without a key, [`Refusal::KeyInvalid`] where no text can be read.
pub fn key_text(headers: &HeaderMap) -> Result<Cow<'_, str>, Refusal> {
    match headers.get(&API_KEY).filter(|value| !value.is_empty()) {
        Some(value) => {
            let text = value.to_str().map_err(|_| Refusal::KeyInvalid)?;
            Ok(Cow::Borrowed(text.trim()))
        }
        None => authorization::key_text(headers),
    }
}
