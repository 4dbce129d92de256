//! The body of `query`: which version, or which changes of files, and hints (contract-12-routes).
//! Never looks at a table.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use serde::Deserialize;
use serde_json::{Map, Value};
use yearbook_http::Error;

use super::ShareRefusal;

/// Longest body, bytes: some thousand predicates.
const MAX_QUERY_BYTES: usize = 256 << 10;

/// Time within which a body has to arrive.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// Fields that have an effect; others are ignored, as the protocol grows.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct QueryRequest {
    /// Version of the table.
    pub(super) version: Option<u64>,
    /// Instant whose version is read.
    pub(super) timestamp: Option<String>,
    /// First version whose files are listed as they came and went.
    pub(super) starting_version: Option<u64>,
    /// Last one; none: the newest.
    pub(super) ending_version: Option<u64>,
    /// Conditions in SQL, all of which hold for the rows that the client wants.
    predicate_hints: Option<Vec<String>>,
    /// A condition as a tree, JSON text.
    pub(super) json_predicate_hints: Option<String>,
    /// Rows that the client wants. A version is one file, so it has no effect.
    limit_hint: Option<i64>,
    /// True where the client wants a token for fresh addresses.
    include_refresh_token: Option<bool>,
    /// Token of an earlier answer: the same version with fresh addresses.
    refresh_token: Option<String>,
}

impl QueryRequest {
    /// Reads the body; an empty one asks for the newest version.
    ///
    /// # Errors
    /// 413 for a long body, however it is framed; 400 where it is late or no JSON object, a field
    /// has another type, or fields exclude each other.
    pub(super) async fn read(body: Body) -> Result<Self, Error> {
        let late = |_| {
            let sentence = "The body did not arrive within 10 s; send it again.";
            ShareRefusal::InvalidParameter(sentence.to_owned())
        };
        let too_long = |_| ShareRefusal::BodyTooLong { limit: MAX_QUERY_BYTES };
        let read = tokio::time::timeout(READ_TIMEOUT, to_bytes(body, MAX_QUERY_BYTES)).await;
        let bytes = read.map_err(late)?.map_err(too_long)?;
        Ok(Self::parse(&bytes)?)
    }

    fn parse(bytes: &[u8]) -> Result<Self, ShareRefusal> {
        let invalid = |sentence: String| ShareRefusal::InvalidParameter(sentence);
        if bytes.trim_ascii().is_empty() {
            return Ok(Self::default());
        }
        // An object first: a list of values in the order of the fields is none of the protocol.
        let fields = serde_json::from_slice::<Map<String, Value>>(bytes);
        let parsed = fields.and_then(|fields| serde_json::from_value(Value::Object(fields)));
        let mut request: Self = parsed.map_err(|failure| {
            invalid(format!(
                "The body is not a query ({failure}); send a JSON object, {{}} for all rows."
            ))
        })?;
        if request.limit_hint.is_some_and(|limit| limit < 0) {
            return Err(invalid("limitHint is negative; send a number from 0 on.".to_owned()));
        }
        if let Some(token) = &request.refresh_token {
            let version = open_refresh_token(token).ok_or_else(|| {
                invalid("refreshToken is not one of this service; leave it out.".to_owned())
            })?;
            if request.version.is_some_and(|named| named != version) {
                return Err(invalid(
                    "refreshToken is of another version; leave one of them out.".to_owned(),
                ));
            }
            request.version = Some(version);
            request.timestamp = None;
        }
        let points = [
            request.version.is_some(),
            request.timestamp.is_some(),
            request.starting_version.is_some(),
        ];
        if points.into_iter().filter(|is_given| *is_given).count() > 1 {
            let sentence = "version, timestamp and startingVersion exclude each other; send one.";
            return Err(invalid(sentence.to_owned()));
        }
        if request.ending_version.is_some() && request.starting_version.is_none() {
            let sentence = "endingVersion needs startingVersion; send both or none.";
            return Err(invalid(sentence.to_owned()));
        }
        Ok(request)
    }

    /// Conditions in SQL.
    pub(super) fn sql_hints(&self) -> &[String] {
        self.predicate_hints.as_deref().unwrap_or_default()
    }

    /// Returns true where there is any hint on rows.
    pub(super) fn has_predicates(&self) -> bool {
        !self.sql_hints().is_empty() || self.json_predicate_hints.is_some()
    }

    /// Returns true where the client wants a token for fresh addresses.
    pub(super) fn wants_refresh_token(&self) -> bool {
        self.include_refresh_token == Some(true) || self.refresh_token.is_some()
    }
}

/// Returns a token for fresh addresses of `version`. It gives no right by itself.
pub(super) fn refresh_token(version: u64) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(format!("refresh 1 {version}"))
}

fn open_refresh_token(token: &str) -> Option<u64> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(token).ok()?;
    std::str::from_utf8(&bytes).ok()?.strip_prefix("refresh 1 ")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_names_one_point_in_time_contract_12() {
        for (text, expected) in [
            ("", true),
            ("{}", true),
            (r#"{"version": 3, "limitHint": 10, "maxFiles": 1, "idempotencyKey": "x"}"#, true),
            (r#"{"timestamp": "2026-11-21T00:00:00Z", "predicateHints": ["a = 1"]}"#, true),
            (r#"{"startingVersion": 1, "endingVersion": 2}"#, true),
            (r#"{"version": null}"#, true),
            (r#"{"version": -1}"#, false),
            (r#"{"version": 1, "timestamp": "x"}"#, false),
            (r#"{"version": 1, "startingVersion": 1}"#, false),
            (r#"{"endingVersion": 1}"#, false),
            (r#"{"limitHint": -1}"#, false),
            (r#"{"predicateHints": "a = 1"}"#, false),
            (r#"{"refreshToken": "x"}"#, false),
            ("[1]", false),
            ("{", false),
        ] {
            assert_eq!(QueryRequest::parse(text.as_bytes()).is_ok(), expected, "{text}");
        }
    }

    #[test]
    fn a_refresh_token_names_its_version_contract_12() {
        let body = format!(r#"{{"refreshToken": "{}"}}"#, refresh_token(7));
        let version = QueryRequest::parse(body.as_bytes()).ok().and_then(|request| request.version);
        assert_eq!(version, Some(7));
    }
}
