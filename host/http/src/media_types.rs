//! Media types of answers that the host itself writes. Those of rows are their encoders'.

/// JSON (RFC 8259): documents, and errors for most clients.
pub const JSON: &str = "application/json";
/// Problem details (RFC 9457): errors for clients that name it in `Accept`. It says nothing about
/// the form of data.
pub const PROBLEM_JSON: &str = "application/problem+json";
/// A page for people.
pub const HTML: &str = "text/html; charset=utf-8";
/// The style sheet of the pages.
pub const CSS: &str = "text/css; charset=utf-8";
/// The script of the pages.
pub const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
/// A picture that the binary carries.
pub const SVG: &str = "image/svg+xml";
/// JSON-LD (W3C): documents of the catalogue for machines.
pub const JSON_LD: &str = "application/ld+json";
/// A feed (RFC 4287).
pub const ATOM: &str = "application/atom+xml; charset=utf-8";
/// A calendar (RFC 5545).
pub const CALENDAR: &str = "text/calendar; charset=utf-8";
/// A sitemap.
pub const XML: &str = "application/xml; charset=utf-8";
/// A description of the search for browsers.
pub const OPEN_SEARCH: &str = "application/opensearchdescription+xml; charset=utf-8";
/// `robots.txt`.
pub const TEXT: &str = "text/plain; charset=utf-8";
/// A zip of generated files.
pub const ZIP: &str = "application/zip";
/// Bytes of no type of their own: tiles of the log.
pub const BYTES: &str = "application/octet-stream";
