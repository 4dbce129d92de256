//! Routes that need a key (spec 5): 401 before anything else, then the key's burst limit, which asks no database; afterwards the
//! headers that say how much of the month is left.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use yearbook_catalog::Usage;
use yearbook_domain::{Caller, PlanLimits, Refusal};
use yearbook_shares::Holder;

use crate::error::Error;
use crate::headers::API_KEY;
use crate::limits;
use crate::metrics::Facts;
use crate::state::AppState;

/// Who asks, in the request's extensions. Only [`check`] puts one there, so a handler that takes it cannot be reached
/// without a key.
#[derive(Clone)]
pub(crate) struct Keyed {
    /// The holder of the key.
    pub(crate) caller: Caller,
    /// What the plan allows.
    pub(crate) limits: PlanLimits,
    /// On whose account the request holds what it holds.
    pub(crate) holder: Holder,
}

/// Checks the key, runs the handler, adds rate-limit headers. A handler that knows the month's usage leaves a [`Usage`]
/// in the response's extensions; otherwise it is looked up.
pub(crate) async fn check(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    let caller = match authenticate(&state, request.headers()).await {
        Ok(caller) => caller,
        // Guessing keys is bounded by address, since there is no key to bound it by.
        Err(error) => return state.own().bursts.of_address(&request).unwrap_or_else(|| error.into_response()),
    };
    let limits = state.settings.plans.of(caller.plan);
    if let Some(facts) = request.extensions().get::<Facts>() {
        facts.set_plan(caller.plan);
    }
    // Says the bucket's numbers: the month's would cost a query, just where queries have to be saved.
    if let Some(refused) = state.own().bursts.of_key(&caller.key_id) {
        return refused;
    }
    let holder = state.own().bodies.holder(Some(&caller.key_id), limits::household_of(&request));
    request.extensions_mut().insert(Keyed { caller: caller.clone(), limits, holder });
    let mut response = next.run(request).await;
    if limits.requests_per_month.is_some() {
        let usage = match response.extensions().get::<Usage>() {
            Some(usage) => Some(*usage),
            // Without the database there are no numbers to tell; the answer itself stands.
            None => state.meter.usage(&caller, limits).await.ok(),
        };
        if let Some(usage) = usage {
            limits::month(response.headers_mut(), &usage);
        }
    }
    response
}

async fn authenticate(state: &AppState, headers: &HeaderMap) -> Result<Caller, Error> {
    let value = headers.get(&API_KEY).filter(|value| !value.is_empty()).ok_or(Refusal::KeyMissing)?;
    let text = value.to_str().map_err(|_| Refusal::KeyInvalid)?;
    Ok(state.keys.check(text.trim()).await?.ok_or(Refusal::KeyInvalid)?)
}
