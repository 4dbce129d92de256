//! One problem with a request parameter, as `HTTPValidationError` lists them (spec-2.4-validation,
//! contract-2-loc).

use serde::Serialize;
use serde_json::{Value, json};

/// Part of the request that holds a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterLocation {
    /// In the query string.
    Query,
    /// In the path.
    Path,
}

/// An element of `HTTPValidationError.detail`. The strings are those of Pydantic v2.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValidationError {
    /// `["query", "limit"]`.
    pub loc: [String; 2],
    /// A sentence.
    pub msg: String,
    /// Pydantic's name for the kind of problem.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The raw string, or null when the parameter is missing.
    pub input: Option<String>,
    /// Values that `msg` was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ctx: Option<Box<Value>>,
}

impl ValidationError {
    /// Creates any problem; the constructors below are the ones that `docs/spec/errors.md` lists.
    #[must_use]
    pub fn new(
        place: ParameterLocation,
        name: &str,
        kind: &'static str,
        msg: impl Into<String>,
        input: Option<&str>,
    ) -> Self {
        let place = match place {
            ParameterLocation::Query => "query",
            ParameterLocation::Path => "path",
        };
        Self {
            loc: [place.to_owned(), name.to_owned()],
            msg: msg.into(),
            kind,
            input: input.map(str::to_owned),
            ctx: None,
        }
    }

    /// Adds a context.
    #[must_use]
    pub fn with_context(mut self, ctx: Value) -> Self {
        self.ctx = Some(Box::new(ctx));
        self
    }

    /// Creates the problem of a required parameter that is absent.
    #[must_use]
    pub fn missing(name: &str) -> Self {
        Self::new(ParameterLocation::Query, name, "missing", "Field required", None)
    }

    /// Creates the problem of a value that only a sentence can explain.
    #[must_use]
    pub fn value_error(name: &str, sentence: &str, input: &str) -> Self {
        Self::new(
            ParameterLocation::Query,
            name,
            "value_error",
            format!("Value error, {sentence}"),
            Some(input),
        )
        .with_context(json!({"error": {}}))
    }

    /// Creates the problem of a path segment that is not snake_case.
    #[must_use]
    pub fn name_pattern_mismatch(name: &str, input: &str) -> Self {
        let pattern = crate::name::PATTERN;
        Self::new(
            ParameterLocation::Path,
            name,
            "string_pattern_mismatch",
            format!("String should match pattern '{pattern}'"),
            Some(input),
        )
        .with_context(json!({"pattern": pattern}))
    }
}
