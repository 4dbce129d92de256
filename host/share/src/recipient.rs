//! Recipients of the share (contract-12-plan): holders of an Enterprise key, sent as bearer token.
//! The check of keys is that of every other route.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use yearbook_domain::{Plan, Refusal};
use yearbook_http::authentication::{self, RequestSource};
use yearbook_http::{Core, Error};

use super::ShareRefusal;
use crate::ShareState;

/// Has `route` answer recipients alone.
pub(super) fn guard(
    core: &Arc<Core>,
    route: MethodRouter<Arc<ShareState>>,
) -> MethodRouter<Arc<ShareState>> {
    route.route_layer(from_fn_with_state(Arc::clone(core), check))
}

/// Lets recipients pass.
async fn check(State(core): State<Arc<Core>>, mut request: Request, next: Next) -> Response {
    let source = RequestSource::new(&request);
    let token = bearer_token(request.headers()).map(Cow::Borrowed);
    let authenticated = match authentication::admit(&core, source, token).await {
        Ok(authenticated) => authenticated,
        Err(refused) => return refused,
    };
    if authenticated.caller.plan() != Plan::Enterprise {
        return Error::from(ShareRefusal::PlanForbidden).into_response();
    }
    request.extensions_mut().insert(authenticated);
    next.run(request).await
}

/// Returns the token of `Authorization: Bearer`, whose scheme has any case (RFC 9110, 11.1).
fn bearer_token(headers: &HeaderMap) -> Result<&str, Refusal> {
    let value = headers.get(AUTHORIZATION).ok_or(Refusal::KeyMissing)?;
    let text = value.to_str().map_err(|_| Refusal::KeyInvalid)?.trim();
    let (scheme, token) = text.split_once(' ').ok_or(Refusal::KeyMissing)?;
    if scheme.eq_ignore_ascii_case("bearer") { Ok(token.trim()) } else { Err(Refusal::KeyMissing) }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn the_token_is_what_follows_bearer_rfc_6750() {
        for (text, expected) in [
            ("Bearer yb_1", Some("yb_1")),
            ("bearer  yb_1 ", Some("yb_1")),
            ("Basic yb_1", None),
            ("yb_1", None),
            ("", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, HeaderValue::from_static(text));
            assert_eq!(bearer_token(&headers).ok(), expected, "{text}");
        }
        assert_eq!(bearer_token(&HeaderMap::new()).ok(), None);
    }
}
