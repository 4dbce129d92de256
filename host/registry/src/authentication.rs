//! Answers to a registry's challenge: Basic credentials, or a token from the address that it names
//! (the token authentication of the distribution project). Owns headers and tokens; where
//! credentials come from stands in `credentials`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Method;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use serde::Deserialize;
use yearbook_outbound::{OutboundRequest, Url};

use crate::limits::TOKEN_BYTES;
use crate::token_host::authority;
use crate::transport::Transport;
use crate::{Credentials, RegistryError, status};

/// Name by which token servers know this program.
const CLIENT: &str = "yearbook";

/// A challenge in `WWW-Authenticate` (RFC 9110, section 11.6.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Challenge {
    Basic,
    /// Its scope is not read: a registry could name more than the request needs.
    Bearer {
        realm: String,
        service: Option<String>,
    },
}

#[derive(Deserialize)]
struct TokenAnswer {
    token: Option<String>,
    access_token: Option<String>,
}

impl Challenge {
    /// The first challenge of a header that this program can meet.
    pub(crate) fn parse(header: &str) -> Option<Self> {
        let (scheme, rest) = header.trim().split_once(' ').unwrap_or((header.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let value = |wanted: &str| {
            parameters(rest)
                .into_iter()
                .find_map(|(name, value)| name.eq_ignore_ascii_case(wanted).then_some(value))
        };
        Some(Self::Bearer { realm: value("realm")?, service: value("service") })
    }
}

/// `name="value"` pairs with commas between them; a value without quotes ends at the comma.
fn parameters(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once('=') {
        let name = name.trim_matches([' ', ',', '\t']).to_owned();
        let (value, left) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_once(',').unwrap_or((after, "")),
        };
        found.push((name, value.trim().to_owned()));
        rest = left;
    }
    found
}

/// The header `Authorization` that meets `challenge`, for `scope`; `None` if credentials are wanted
/// and there are none. Credentials go for a token where `may_see` says so.
pub(crate) async fn authorize(
    transport: &Transport,
    challenge: &Challenge,
    credentials: Option<&Credentials>,
    scope: &str,
    may_see: impl Fn(&Url) -> bool,
) -> Result<Option<HeaderValue>, RegistryError> {
    match challenge {
        Challenge::Basic => Ok(credentials.and_then(basic)),
        Challenge::Bearer { realm, service } => {
            if let Some(Credentials::RegistryToken(token)) = credentials {
                return Ok(bearer(token));
            }
            let url = transport.join(&transport.url("/"), realm)?;
            if credentials.is_some() && !may_see(&url) {
                let host = transport.host().to_owned();
                return Err(RegistryError::TokenHost { host, target: authority(&url) });
            }
            let request = token_request(url, service.as_deref(), scope, credentials);
            let response = transport.send(&request, None).await?;
            if status::refuses_token(response.status()) {
                return Ok(None);
            }
            if !response.status().is_success() {
                return Err(response.unexpected("a request for a token").await);
            }
            let body = response.body("token", TOKEN_BYTES).await?;
            let answer: Option<TokenAnswer> = serde_json::from_slice(&body).ok();
            let token = answer.and_then(|answer| answer.token.or(answer.access_token));
            Ok(token.and_then(|token| bearer(&token)))
        }
    }
}

fn token_request(
    mut url: Url,
    service: Option<&str>,
    scope: &str,
    credentials: Option<&Credentials>,
) -> OutboundRequest {
    if let Some(Credentials::IdentityToken(token)) = credentials {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("grant_type", "refresh_token").append_pair("client_id", CLIENT);
        form.append_pair("scope", scope).append_pair("refresh_token", token);
        if let Some(service) = service {
            form.append_pair("service", service);
        }
        return OutboundRequest::new(Method::POST, url)
            .with_header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .with_body(form.finish().into_bytes());
    }
    {
        let mut query = url.query_pairs_mut();
        if let Some(service) = service {
            query.append_pair("service", service);
        }
        query.append_pair("scope", scope);
    }
    let mut request = OutboundRequest::new(Method::GET, url);
    if let Some(header) = credentials.and_then(basic) {
        request.headers.insert(AUTHORIZATION, header);
    }
    request
}

/// The header for a token, if it is one that a header may hold.
fn bearer(token: &str) -> Option<HeaderValue> {
    let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    is_token.then(|| HeaderValue::from_str(&format!("Bearer {token}")).ok()).flatten()
}

fn basic(credentials: &Credentials) -> Option<HeaderValue> {
    match credentials {
        Credentials::Basic { username, secret } => {
            let encoded = STANDARD.encode(format!("{username}:{secret}"));
            HeaderValue::from_str(&format!("Basic {encoded}")).ok()
        }
        Credentials::IdentityToken(_) | Credentials::RegistryToken(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_read_with_and_without_quotes() {
        let bearer = |realm: &str, service: Option<&str>| {
            Some(Challenge::Bearer { realm: realm.to_owned(), service: service.map(str::to_owned) })
        };
        for (header, expected) in [
            (
                "Bearer realm=\"https://auth.example.org/token\",service=\"registry, main\",scope=\"repository:a/b:pull,push\"",
                bearer("https://auth.example.org/token", Some("registry, main")),
            ),
            (
                "bearer Realm=https://a.example.org/t, service=x",
                bearer("https://a.example.org/t", Some("x")),
            ),
            ("Basic realm=\"Registry\"", Some(Challenge::Basic)),
            ("BASIC", Some(Challenge::Basic)),
            ("Bearer service=\"x\"", None),
            ("Negotiate abc", None),
            ("", None),
        ] {
            assert_eq!(Challenge::parse(header), expected, "{header}");
        }
    }
}
