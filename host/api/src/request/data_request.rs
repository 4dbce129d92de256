//! Requests for rows: path, query and `Accept` of `/data` and `/changes`, as far as they can be
//! judged without a dataset (contract-1-order). Never touches a dataset, a quota or a stored row.

use std::sync::Arc;

use axum::extract::Request;
use http::request::Parts;
use yearbook_domain::query::{LoadedFormats, parse_pairs};
use yearbook_domain::{DataQuery, DatasetName, Refusal, ValidationError, changes};
use yearbook_sandbox::{OptionValue, PluginEncoder, PluginSet};

use super::{dataset_name, options};
use crate::ApiState;
use yearbook_http::Error;
use yearbook_http::accept;

/// A request for rows of one dataset.
pub(crate) struct DataRequest {
    /// Name of the dataset.
    pub(crate) name: DatasetName,
    /// Method, address, headers and extensions.
    pub(crate) parts: Parts,
    /// The parameters.
    pub(crate) query: DataQuery,
    /// Names and values of all parameters as sent, for links that keep them.
    pub(crate) pairs: Vec<(String, String)>,
    /// The format's encoder, of the plugins that were loaded when the request began.
    pub(crate) encoder: Arc<PluginEncoder>,
    plugins: Arc<PluginSet>,
    rows_of: RowsOf,
}

/// The route of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowsOf {
    /// `/data`.
    Snapshot,
    /// `/changes`, which has some of the parameters of `/data`.
    Changes,
}

impl DataRequest {
    /// Parses a request for `/data`.
    ///
    /// # Errors
    /// 422 with every problem at once, the path's first; then 406, or 503 for a format that no
    /// release serves.
    pub(crate) fn parse(app: &ApiState, request: Request) -> Result<Self, Error> {
        let (parts, _) = request.into_parts();
        let plugins = app.core.plugins.current();
        let pairs = parse_pairs(parts.uri.query().unwrap_or_default());
        let query = parse(&plugins, |formats| DataQuery::parse(&pairs, formats));
        Self::from_query(app, parts, plugins, pairs, query, RowsOf::Snapshot)
    }

    /// Parses a request for `/changes`.
    ///
    /// # Errors
    /// As with [`DataRequest::parse`].
    pub(crate) fn parse_changes(app: &ApiState, request: Request) -> Result<Self, Error> {
        let (parts, _) = request.into_parts();
        let plugins = app.core.plugins.current();
        let pairs = parse_pairs(parts.uri.query().unwrap_or_default());
        let query = parse(&plugins, |formats| changes::parse_query(&pairs, formats));
        Self::from_query(app, parts, plugins, pairs, query, RowsOf::Changes)
    }

    /// Adds the path's name and the negotiated encoder, and labels the request with its format.
    fn from_query(
        app: &ApiState,
        parts: Parts,
        plugins: Arc<PluginSet>,
        pairs: Vec<(String, String)>,
        query: Result<DataQuery, Vec<ValidationError>>,
        rows_of: RowsOf,
    ) -> Result<Self, Error> {
        let (name, query) = match (dataset_name(&parts.uri), query) {
            (Ok(name), Ok(query)) => (name, query),
            (name, query) => {
                let problems =
                    name.err().into_iter().chain(query.err().unwrap_or_default()).collect();
                return Err(Refusal::InvalidParameters(problems).into());
            }
        };
        let encoder = negotiate(&parts, &plugins, query.format.as_deref())?;
        app.core.http_metrics.set_format(&parts.extensions, &encoder.description().format);
        Ok(Self { name, parts, query, pairs, encoder, plugins, rows_of })
    }

    /// Returns whether the route has the parameter `columns`.
    pub(crate) fn accepts_columns(&self) -> bool {
        self.rows_of == RowsOf::Snapshot
    }

    /// Loaded data formats besides that of this request.
    pub(crate) fn other_formats(&self) -> Vec<&str> {
        let own = &self.encoder.description().format;
        self.plugins
            .encoders()
            .map(|encoder| encoder.description())
            .filter(|description| !description.is_picture())
            .map(|description| description.format.as_str())
            .filter(|format| format != own)
            .collect()
    }

    /// Options of this response's encoder.
    ///
    /// # Errors
    /// A problem for every wrong value, whichever loaded format declares its parameter.
    pub(super) fn encoder_options(&self) -> Result<Vec<OptionValue>, Vec<ValidationError>> {
        options::choose(&self.plugins, &self.encoder, &self.query)
    }
}

/// Parses a query with the formats that are loaded.
fn parse<T>(plugins: &PluginSet, parse: impl FnOnce(LoadedFormats<'_>) -> T) -> T {
    let (data, pictures) = (plugins.data_formats(), plugins.picture_formats());
    parse(LoadedFormats { data: &data, pictures: &pictures })
}

/// Returns the encoder of the parameter `format`, or of the best media type in `Accept`.
///
/// # Errors
/// 503 for a format that no release serves, 406 where no format is accepted.
fn negotiate(
    parts: &Parts,
    plugins: &PluginSet,
    format: Option<&str>,
) -> Result<Arc<PluginEncoder>, Error> {
    let encoder = match format {
        Some(format) if plugins.is_unavailable(format) => {
            return Err(Error::format_unavailable(format, plugins));
        }
        Some(format) => plugins.encoder(format).cloned(),
        None => {
            let offers: Vec<&str> = plugins
                .encoders()
                .map(|encoder| encoder.description().media_type.as_str())
                .collect();
            let chosen = accept::choose(&parts.headers, &offers);
            chosen.and_then(|index| plugins.encoders().nth(index).cloned())
        }
    };
    encoder.ok_or_else(|| {
        let available =
            plugins.encoders().map(|encoder| encoder.description().media_type.clone()).collect();
        Refusal::NotAcceptable { available }.into()
    })
}
