//! Requests for links: those for rows, with the days for which the link works (contract-15-link).
//! Never touches a dataset.

use axum::extract::Request;
use http::Method;
use yearbook_domain::query::{last_value, parse_pairs, scalar};
use yearbook_http::Error;

use super::data_link::{DEFAULT_DAYS, MAX_DAYS};
use super::data_request::{DataRequest, RowsOf};
use super::dataset_name;
use crate::ApiState;

/// A request for a link to rows.
pub(crate) struct LinkRequest {
    /// HEAD of the rows.
    pub(crate) data: DataRequest,
    /// Days for which the link works.
    pub(crate) days: u64,
    /// Start of its address.
    pub(crate) base_url: String,
}

impl LinkRequest {
    /// Parses a request for `/link`.
    ///
    /// # Errors
    /// Those of [`DataRequest::parse`], with the problem of `days` behind all others.
    pub(crate) fn parse(app: &ApiState, request: Request) -> Result<Self, Error> {
        let (mut parts, _) = request.into_parts();
        let base_url = app.core.base_url(&parts);
        let mut pairs = parse_pairs(parts.uri.query().unwrap_or_default());
        let days = last_value(&pairs, "days")
            .map(|raw| scalar::parse_positive("days", raw, MAX_DAYS))
            .transpose();
        // A link begins at the first row.
        pairs.retain(|(name, _)| name != "days" && name != "cursor");
        // Neither what this client accepts nor what it has counts for readers of the link.
        parts.headers.clear();
        parts.method = Method::HEAD;
        let name = dataset_name(&parts.uri);
        let (days, problem) = match days {
            Ok(days) => (days.unwrap_or(DEFAULT_DAYS), None),
            Err(problem) => (DEFAULT_DAYS, Some(problem)),
        };
        let data = DataRequest::new(app, parts, name, pairs, RowsOf::Snapshot, problem, None)?;
        Ok(Self { data, days, base_url })
    }
}
