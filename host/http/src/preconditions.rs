//! Preconditions of a GET or HEAD (RFC 9110, 13), evaluated in the order of 13.2.2.
//! `If-Modified-Since` is never answered 304: a date cannot tell which snapshot a client holds
//! (decision 0196).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::{HeaderName, IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE};
use http::{HeaderMap, HeaderValue};
use yearbook_domain::Millis;

use super::EntityTag;
use super::etag::TagComparison;
use crate::Error;

/// Outcome of a request's preconditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreconditionOutcome {
    /// The answer itself.
    Met,
    /// 304: the client has it.
    NotModified,
}

/// Evaluates the preconditions on what has `tag` and was `modified` then; none: it has no date, and
/// conditions on dates are ignored.
///
/// # Errors
/// 412 when `If-Match`, or without it `If-Unmodified-Since`, is false.
pub fn evaluate(
    headers: &HeaderMap,
    tag: &EntityTag,
    modified: Option<Millis>,
) -> Result<PreconditionOutcome, Error> {
    let holds = match lists_tag(headers, IF_MATCH, tag, TagComparison::Strong) {
        Some(found) => found,
        None => unmodified_since(headers, modified).unwrap_or(true),
    };
    if !holds {
        return Err(Error::PreconditionFailed);
    }
    Ok(match lists_tag(headers, IF_NONE_MATCH, tag, TagComparison::Weak) {
        Some(true) => PreconditionOutcome::NotModified,
        _ => PreconditionOutcome::Met,
    })
}

/// Returns whether a request has a condition that another version makes false.
pub fn has_match_precondition(headers: &HeaderMap) -> bool {
    headers.contains_key(IF_MATCH) || headers.contains_key(IF_UNMODIFIED_SINCE)
}

/// Returns whether the lists of tags in `name` have `tag`; none: there are no such lists.
fn lists_tag(
    headers: &HeaderMap,
    name: HeaderName,
    tag: &EntityTag,
    comparison: TagComparison,
) -> Option<bool> {
    let mut lists = headers.get_all(name).iter().peekable();
    lists.peek()?;
    Some(lists.any(|value| value.to_str().is_ok_and(|list| tag.matches_list(list, comparison))))
}

/// None where there is nothing to evaluate: no such header, one that is no date, or no date of
/// ours.
fn unmodified_since(headers: &HeaderMap, modified: Option<Millis>) -> Option<bool> {
    let mut values = headers.get_all(IF_UNMODIFIED_SINCE).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let since = httpdate::parse_http_date(value.to_str().ok()?).ok()?;
    Some(system_time(modified?) <= since)
}

/// `Last-Modified` of an instant.
pub fn http_date(instant_of: Millis) -> Option<HeaderValue> {
    HeaderValue::try_from(httpdate::fmt_http_date(system_time(instant_of))).ok()
}

/// Whole seconds, as HTTP has no finer ones.
fn system_time(millis: Millis) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(millis.0.div_euclid(1000).max(0).unsigned_abs())
}

#[cfg(test)]
mod tests;
