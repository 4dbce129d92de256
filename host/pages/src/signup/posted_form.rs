//! Forms that a browser posts: read within a bound, and only where they come from a page of ours
//! (contract-10-same-origin). Never touches what a form asks for.

use std::net::IpAddr;
use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::Request;
use http::header::{HeaderName, ORIGIN};
use http::request::Parts;
use yearbook_http::Error;
use yearbook_http::headers::SEC_FETCH_SITE;
use yearbook_http::request_origin::request_origin;
use yearbook_http::settings::ServerSettings;
use yearbook_signup::SignupMode;

use crate::{PageRefusal, PagesState};

/// Bytes of a form: every field of sign-up at its longest, escaped, fits three times.
const MAX_FORM_BYTES: usize = 4_096;

/// Time within which a form has to arrive.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

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
    /// Address of a new webhook.
    pub(super) url: String,
    /// Dataset of a new webhook; empty: all.
    pub(super) dataset: String,
    /// Id of the webhook to remove.
    pub(super) webhook: String,
}

impl PostedForm {
    /// Reads the form of `request`.
    ///
    /// # Errors
    /// 403 where it does not come from a page of ours, 422 where it is no form of ours.
    pub(super) async fn read(app: &PagesState, request: Request) -> Result<(Parts, Self), Error> {
        let (parts, body) = request.into_parts();
        let settings = &app.core.settings.server;
        let shows_keys =
            app.signup.as_ref().is_some_and(|signup| signup.settings().mode == SignupMode::Show);
        if !is_from_own_page(&parts, settings) || (shows_keys && !has_own_host(&parts, settings)) {
            return Err(PageRefusal::ForeignForm.into());
        }
        let bytes = tokio::time::timeout(READ_TIMEOUT, to_bytes(body, MAX_FORM_BYTES)).await;
        let Ok(Ok(bytes)) = bytes else { return Err(PageRefusal::UnreadableForm.into()) };
        if std::str::from_utf8(&bytes).is_err() {
            return Err(PageRefusal::UnreadableForm.into());
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
                "url" => &mut form.url,
                "dataset" => &mut form.dataset,
                "webhook" => &mut form.webhook,
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

/// Returns whether the browser asked a host that nobody else can point at this service: that of
/// `server.public_url`, an IP address, or `localhost`. Pages of any other name may be a stranger's,
/// who would read the key that mode `show` displays (decision 0375).
fn has_own_host(parts: &Parts, settings: &ServerSettings) -> bool {
    let host =
        |address: &str| Some(address.parse::<http::Uri>().ok()?.host()?.to_ascii_lowercase());
    let Some(asked) = request_origin(parts, settings).as_deref().and_then(host) else {
        return false;
    };
    let public = settings.public_url.as_ref().and_then(|url| host(url.as_str()));
    let address = asked.trim_matches(['[', ']']).parse::<IpAddr>();
    asked == "localhost" || address.is_ok() || public.is_some_and(|public| public == asked)
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
    use yearbook_http::settings::PublicUrl;

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

    #[test]
    fn a_name_that_is_not_ours_gets_no_key_contract_10() {
        let check = |public_url: Option<&str>, host: &str| {
            let settings = ServerSettings {
                public_url: public_url.map(|url| PublicUrl::try_from(url.to_owned()).unwrap()),
                ..ServerSettings::default()
            };
            let request = http::Request::builder().header("host", host);
            has_own_host(&request.body(()).unwrap().into_parts().0, &settings)
        };
        let public = Some("https://data.example.org/statistics");
        for (public_url, host, expected) in [
            (None, "localhost:8080", true),
            (None, "LOCALHOST", true),
            (None, "127.0.0.1:8080", true),
            (None, "[::1]:8080", true),
            (None, "192.0.2.7", true),
            (None, "evil.example:8080", false),
            (None, "localhost.evil.example", false),
            (None, "127.0.0.1.evil.example", false),
            (None, "", false),
            (public, "data.example.org", true),
            (public, "Data.Example.org:8080", true),
            (public, "127.0.0.1:8080", true),
            (public, "evil.example", false),
        ] {
            assert_eq!(check(public_url, host), expected, "{public_url:?} {host}");
        }
    }
}
