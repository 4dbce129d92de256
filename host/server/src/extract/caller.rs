//! The caller, as the key check left it.

use axum::extract::FromRequestParts;
use http::request::Parts;

use crate::error::Error;
use crate::middleware::authentication::Authenticated;

impl<S: Send + Sync> FromRequestParts<S> for Authenticated {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        let missing = || {
            Error::internal("answer", &"a route that needs a key stands outside of the key check")
        };
        parts.extensions.get::<Self>().cloned().ok_or_else(missing)
    }
}
