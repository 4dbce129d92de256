//! Media types of answers that the host itself writes. Those of rows are their encoders'.

/// JSON (RFC 8259): documents, and errors for most clients.
pub(crate) const JSON: &str = "application/json";
/// Problem details (RFC 9457): errors for clients that name it in `Accept`. It says nothing about
/// the form of data.
pub(crate) const PROBLEM_JSON: &str = "application/problem+json";
/// A zip of generated files.
pub(crate) const ZIP: &str = "application/zip";
