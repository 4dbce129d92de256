//! Forms that a browser posts: read within a bound, and only where they come from a page of ours
//! (contract-10-same-origin). Never touches what a form asks for.

use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::Request;
use http::header::{HeaderName, ORIGIN};
use http::request::Parts;

use crate::error::Error;
use crate::http::request_origin::request_origin;
use crate::settings::ServerSettings;
use crate::state::AppState;

/// Time within which a form has to arrive.
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of a form: every field of sign-up at its longest, escaped, fits three times.
const MAX_FORM_BYTES: usize = 4_096;


/// Relation of the page that sends to the page that is asked (Fetch Metadata).
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Fields of the forms of sign-up; those that a form does not have are empty.
#[derive(Debug, Default)]
pub(super) struct PostedForm {
    /// The address.
    pub(super) email: String,
    /// The hidden field, which people leave empty.
    pub(super) website: String,
    /// Signed time of the form.
    pub(super) stamp: String,
    /// Secret of a mailed link.
    pub(super) token: String,
    /// The button that was pressed.
    pub(super) action: String,
    /// End of a replaced key: `now` or `later`.
    pub(super) old_key: String,
}

impl PostedForm {
    /// Reads the form of `request`.
    ///
    /// # Errors
    /// 403 where it does not come from a page of ours, 422 where it is no form of ours.
    pub(super) async fn read(app: &AppState, request: Request) -> Result<(Parts, Self), Error> {
        let (parts, body) = request.into_parts();
        if !is_from_own_page(&parts, &app.settings.server) {
            return Err(Error::ForeignForm);
        }
        let bytes = tokio::time::timeout(READ_TIMEOUT, to_bytes(body, MAX_FORM_BYTES)).await;
        let Ok(Ok(bytes)) = bytes else { return Err(Error::UnreadableForm) };
        if std::str::from_utf8(&bytes).is_err() {
            return Err(Error::UnreadableForm);
        }
        let mut form = Self::default();
        for (name, value) in form_urlencoded::parse(&bytes) {
            let field = match &*name {
                "email" => &mut form.email,
                "website" => &mut form.website,
                "stamp" => &mut form.stamp,
                "token" => &mut form.token,
                "action" => &mut form.action,
                "old_key" => &mut form.old_key,
                _ => continue,
            };
            *field = value.into_owned();
        }
        Ok((parts, form))
    }
}

/// Returns whether a browser says that the form stands on a page of ours. Programs that say nothing
/// are refused with it: they have no business here.
fn is_from_own_page(parts: &Parts, settings: &ServerSettings) -> bool {
    let header = |name: HeaderName| {
        parts.headers.get(name).and_then(|value: &http::HeaderValue| value.to_str().ok())
    };
    if matches!(header(SEC_FETCH_SITE), Some("same-origin" | "none")) {
        return true;
    }
    let Some(origin) = header(ORIGIN) else { return false };
    let public = settings.public_url.as_ref().and_then(|url| url_origin(url.as_str()));
    let own = public.or_else(|| request_origin(parts, settings));
    own.is_some_and(|own| origin.eq_ignore_ascii_case(&own))
}

/// Scheme, host and port of an address, as browsers write an origin.
fn url_origin(url: &str) -> Option<String> {
    let uri: http::Uri = url.parse().ok()?;
    Some(format!("{}://{}", uri.scheme_str()?, uri.authority()?))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::settings::PublicUrl;

    #[test]
    fn forms_of_other_pages_are_not_taken_contract_10() {
        let check = |public_url: Option<&str>, headers: &[(&str, &str)]| {
            let settings = ServerSettings {
                public_url: public_url.map(|url| PublicUrl::try_from(url.to_owned()).unwrap()),
                ..ServerSettings::default()
            };
            let mut request = http::Request::builder().header("host", "inner:8080");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            is_from_own_page(&request.body(()).unwrap().into_parts().0, &settings)
        };
        let public = Some("https://data.example.org/statistics");
        for (public_url, headers, expected) in [
            (None, &[][..], false),
            (None, &[("sec-fetch-site", "same-origin")], true),
            (None, &[("sec-fetch-site", "none")], true),
            (None, &[("sec-fetch-site", "same-site")], false),
            (None, &[("sec-fetch-site", "cross-site")], false),
            (None, &[("origin", "http://inner:8080")], true),
            (None, &[("origin", "https://inner:8080")], false),
            (None, &[("origin", "null")], false),
            (None, &[("origin", "http://evil.example")], false),
            (public, &[("origin", "https://data.example.org")], true),
            (public, &[("origin", "http://inner:8080")], false),
            (public, &[("origin", "https://data.example.org.evil.example")], false),
            (
                public,
                &[("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")],
                false,
            ),
        ] {
            assert_eq!(check(public_url, headers), expected, "{public_url:?} {headers:?}");
        }
    }
}
