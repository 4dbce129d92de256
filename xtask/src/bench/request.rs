//! One request, as all tools that send it need it.

use serde_json::Value;

/// An HTTP request: a GET, or a POST where it has a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HttpRequest {
    pub(crate) url: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Option<String>,
}

impl HttpRequest {
    pub(crate) fn get(url: String) -> Self {
        Self { url, headers: Vec::new(), body: None }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

/// A request and the rows that it should bring.
#[derive(Clone, Debug)]
pub(super) struct BenchCase {
    pub(super) name: &'static str,
    /// Rows of an answer.
    pub(super) rows: u64,
    /// What is asked, for the check that all answers hold the same rows; null where an answer has
    /// no rows.
    pub(super) asked: Value,
    /// `json`, `csv`, `arrow` or `parquet`.
    pub(super) format: &'static str,
    /// Who is asked, and how; or why not.
    pub(super) ways: Vec<(&'static str, Result<HttpRequest, &'static str>)>,
}
