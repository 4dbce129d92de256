//! Routes that need a key (spec-5-header): 401 before anything else, then the key's burst limit,
//! which asks no database; afterwards the headers that say how much of the month is left.

use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use http::request::Parts;
use yearbook_catalog::{Caller, KeyLookup, QuotaUsage};
use yearbook_domain::Refusal;
use yearbook_shares::CallerShare;

use crate::error::Error;
use crate::http::client_address::{ClientAddress, address_block_of};
use crate::http::headers::API_KEY;
use crate::http::rate_limit;
use crate::metrics::RequestLabels;
use crate::state::AppState;

/// The caller of a request, in its extensions. Only [`check`] puts one there, so a handler that
/// takes it cannot be reached without a key.
#[derive(Clone)]
pub(crate) struct Authenticated {
    /// The holder of the key.
    pub(crate) caller: Caller,
    /// On whose account the request holds what it holds.
    pub(crate) holder: CallerShare,
}

/// A handler takes [`Authenticated`] as an argument.
impl<S: Send + Sync> FromRequestParts<S> for Authenticated {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        let missing = || {
            Error::internal("answer", &"a route that needs a key stands outside of the key check")
        };
        parts.extensions.get::<Self>().cloned().ok_or_else(missing)
    }
}

/// Checks the key, runs the handler, adds rate-limit headers. A handler that knows the month's
/// usage leaves a [`QuotaUsage`] in the response's extensions; otherwise it is looked up.
pub(crate) async fn check(
    State(state): State<AppState>,
    mut request: Request,
    next: Next,
) -> Response {
    let client = ClientAddress::from_request(&request);
    let caller = match find_caller(&state, client, request.headers()).await {
        Ok(caller) => caller,
        Err(refused) => return refused,
    };
    if let Some(facts) = request.extensions().get::<RequestLabels>() {
        facts.set_plan(caller.plan());
    }
    // Says the bucket's numbers: the month's would cost a query, just where queries have to be
    // saved.
    if let Some(refused) = state.burst_limiter.take_for_key(caller.id()) {
        return refused;
    }
    let holder =
        state.open_responses.holder(Some(caller.id().as_str()), address_block_of(&request));
    request.extensions_mut().insert(Authenticated { caller: caller.clone(), holder });
    let mut response = next.run(request).await;
    if caller.limits().requests_per_month.is_some() {
        let usage = match response.extensions().get::<QuotaUsage>() {
            Some(usage) => Some(*usage),
            // Without the database there are no numbers to tell; the answer itself stands.
            None => state.quota.usage(&caller).await.ok(),
        };
        if let Some(usage) = usage {
            rate_limit::write_month_quota(response.headers_mut(), &usage);
        }
    }
    response
}

/// The holder of the request's key. What is refused is bounded by address, since there is no key to
/// bound it by, and a key that only the database knows is looked up only after the address has been
/// found to have a token for it.
async fn find_caller(
    state: &AppState,
    client: ClientAddress,
    headers: &HeaderMap,
) -> Result<Caller, Response> {
    let bursts = &state.burst_limiter;
    let refuse =
        |error: Error| bursts.take_for_client(client).unwrap_or_else(|| error.into_response());
    let text = key_text(headers).map_err(|refusal| refuse(refusal.into()))?;
    let key = match state.keys.check_cached(text).await {
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

fn key_text(headers: &HeaderMap) -> Result<&str, Refusal> {
    let value =
        headers.get(&API_KEY).filter(|value| !value.is_empty()).ok_or(Refusal::KeyMissing)?;
    value.to_str().map(str::trim).map_err(|_| Refusal::KeyInvalid)
}
