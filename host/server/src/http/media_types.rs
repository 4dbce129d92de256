//! Media types of answers that the host itself writes. Those of rows are their encoders'.

/// JSON (RFC 8259): documents, and errors for most clients.
pub(crate) const JSON: &str = "application/json";
/// Problem details (RFC 9457): errors for clients that name it in `Accept`. It says nothing about
/// the form of data.
pub(crate) const PROBLEM_JSON: &str = "application/problem+json";
/// A page for people.
pub(crate) const HTML: &str = "text/html; charset=utf-8";
/// The style sheet of the pages.
pub(crate) const CSS: &str = "text/css; charset=utf-8";
/// The script of the pages.
pub(crate) const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
/// A picture that the binary carries.
pub(crate) const SVG: &str = "image/svg+xml";
/// JSON-LD (W3C): documents of the catalogue for machines.
pub(crate) const JSON_LD: &str = "application/ld+json";
/// A feed (RFC 4287).
pub(crate) const ATOM: &str = "application/atom+xml; charset=utf-8";
/// A sitemap.
pub(crate) const XML: &str = "application/xml; charset=utf-8";
/// A description of the search for browsers.
pub(crate) const OPEN_SEARCH: &str = "application/opensearchdescription+xml; charset=utf-8";
/// `robots.txt`.
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";
/// A zip of generated files.
pub(crate) const ZIP: &str = "application/zip";
