//! Names of every header of this service, in one place: responses use them, CORS exposes them. The
//! only place that makes a header of a text.

use http::{HeaderMap, HeaderName, HeaderValue};

/// API key of a request (spec-5-header).
pub const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
/// Relation of the page that made a browser send a request to the service (Fetch Metadata).
pub const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Mode of a browser's request: `navigate` for an address that a person opened.
pub const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
/// Use that a browser has for an answer: `document` for a page of its own.
pub const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
/// Identifies a request in answers and logs.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// snake_case name of a refusal.
pub const ERROR_CODE: HeaderName = HeaderName::from_static("x-service-error-code");

/// Credit to be passed on verbatim (spec-4.1-attribution).
pub const ATTRIBUTION: HeaderName = HeaderName::from_static("x-service-attribution");
/// Source agency.
pub const SOURCE: HeaderName = HeaderName::from_static("x-service-source");
/// Licence.
pub const LICENCE: HeaderName = HeaderName::from_static("x-service-licence");
/// Source address.
pub const SOURCE_URL: HeaderName = HeaderName::from_static("x-service-source-url");
/// Namespace of the dataset.
pub const NAMESPACE: HeaderName = HeaderName::from_static("x-service-namespace");
/// Version of the data.
pub const SNAPSHOT_ID: HeaderName = HeaderName::from_static("x-service-snapshot-id");
/// `true` when `geometry=false` was asked for.
pub const GEOMETRY_OMITTED: HeaderName = HeaderName::from_static("x-service-geometry-omitted");
/// Transforms that changed the rows, with their options (contract-16-modified).
pub const MODIFIED: HeaderName = HeaderName::from_static("x-service-modified");
/// `true` when the plan's row cap held rows back.
pub const TRUNCATED: HeaderName = HeaderName::from_static("x-service-truncated");
/// The row cap that held rows back.
pub const ROW_CAP: HeaderName = HeaderName::from_static("x-plan-row-cap");
/// Rows in this answer (contract-3-rows).
pub const ROWS: HeaderName = HeaderName::from_static("x-service-rows");
/// Rows of the whole selection, on all its pages (contract-3-rows).
pub const TOTAL_ROWS: HeaderName = HeaderName::from_static("x-service-total-rows");
/// Cursor of the next page (contract-3-pages).
pub const NEXT_PAGE: HeaderName = HeaderName::from_static("x-next-page");
/// Watermark of a client that has this answer's changes: what it sends back as `since`
/// (contract-4-changes-headers).
pub const WATERMARK: HeaderName = HeaderName::from_static("x-service-watermark");
/// `true` when changes remain after the watermark.
pub const HAS_MORE: HeaderName = HeaderName::from_static("x-service-has-more");
/// Freshness of a stored file: `monthly` or `current` (contract-4-bulk-tier).
pub const FRESHNESS: HeaderName = HeaderName::from_static("x-service-freshness");
/// Rules of an answer for search engines.
pub const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");
/// Names of parameters that the route does not know (contract-15-ignored).
pub const IGNORED: HeaderName = HeaderName::from_static("x-service-ignored");
/// Digest of a whole stored file, whatever part of it is sent (RFC 9530).
pub const REPR_DIGEST: HeaderName = HeaderName::from_static("repr-digest");

/// Requests a month.
pub const RATE_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
/// Requests left.
pub const RATE_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
/// Time at which counting starts anew, Unix seconds.
pub const RATE_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
/// The same in the IETF's spelling (draft-ietf-httpapi-ratelimit-headers-10).
pub const IETF_RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
/// The policy behind it.
pub const IETF_RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Capabilities of a client of Delta Sharing, and those that the answer uses.
pub const SHARING_CAPABILITIES: HeaderName = HeaderName::from_static("delta-sharing-capabilities");
/// Version of the shared table that an answer is about.
pub const TABLE_VERSION: HeaderName = HeaderName::from_static("delta-table-version");

/// Headers that scripts in browsers may read, besides those that Fetch always lets them read.
pub const CORS_EXPOSED: [HeaderName; 36] = [
    REQUEST_ID,
    ERROR_CODE,
    ATTRIBUTION,
    SOURCE,
    LICENCE,
    SOURCE_URL,
    NAMESPACE,
    SNAPSHOT_ID,
    GEOMETRY_OMITTED,
    MODIFIED,
    TRUNCATED,
    ROW_CAP,
    ROWS,
    TOTAL_ROWS,
    NEXT_PAGE,
    WATERMARK,
    HAS_MORE,
    IGNORED,
    FRESHNESS,
    REPR_DIGEST,
    SHARING_CAPABILITIES,
    TABLE_VERSION,
    RATE_LIMIT,
    RATE_REMAINING,
    RATE_RESET,
    IETF_RATE_LIMIT,
    IETF_RATE_LIMIT_POLICY,
    http::header::ETAG,
    http::header::LINK,
    http::header::LOCATION,
    http::header::ALLOW,
    http::header::RETRY_AFTER,
    http::header::CONTENT_DISPOSITION,
    http::header::CONTENT_RANGE,
    http::header::ACCEPT_RANGES,
    http::header::WWW_AUTHENTICATE,
];

/// Writes a header of a text that publishing or the host has checked, as UTF-8 bytes. A text that
/// cannot be a header is logged and left out.
pub fn insert_text(headers: &mut HeaderMap, name: HeaderName, text: &str) {
    if let Some(value) = checked_value(&name, text) {
        headers.insert(name, value);
    }
}

/// As [`insert_text`], beside values that the header has already.
pub fn append_text(headers: &mut HeaderMap, name: HeaderName, text: &str) {
    if let Some(value) = checked_value(&name, text) {
        headers.append(name, value);
    }
}

/// Inserts the headers of every answer that a browser shows; `policy` is its content security
/// policy.
pub fn insert_browser_headers(headers: &mut HeaderMap, policy: &'static str) {
    for (name, value) in [
        (http::header::CONTENT_SECURITY_POLICY, policy),
        (http::header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (http::header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

fn checked_value(name: &HeaderName, text: &str) -> Option<HeaderValue> {
    let value = HeaderValue::from_bytes(text.as_bytes()).ok();
    if value.is_none() {
        // Publishing refuses control characters, so such a catalog was written by something else.
        tracing::error!(header = %name, "a text cannot be a header; where it is a dataset's, publish the dataset again");
    }
    value
}
