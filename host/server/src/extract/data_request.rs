//! Step 4 of a request (architecture): everything that a data request says, judged in itself
//! (contract-1-order).

use std::sync::Arc;

use http::request::Parts;
use yearbook_domain::query::parse_pairs;
use yearbook_domain::{DataQuery, DatasetName, Refusal, ValidationError};
use yearbook_releases::ReleaseMonitor;
use yearbook_sandbox::{OptionValue, PluginEncoder, PluginSet};

use super::{accept, dataset_name, options};
use crate::error::Error;

/// What a client asks of `/data`.
#[derive(Clone)]
pub(crate) struct DataRequest {
    /// Which dataset.
    pub(crate) name: DatasetName,
    /// The parameters.
    pub(crate) query: DataQuery,
    /// Names and values as sent, for links that keep them.
    pub(crate) pairs: Vec<(String, String)>,
    /// The format's encoder, of the plugins pinned when the request began.
    pub(crate) encoder: Arc<PluginEncoder>,
    /// Set where the route has the parameter `columns`.
    pub(crate) has_columns: bool,
    plugins: Arc<PluginSet>,
}

impl DataRequest {
    /// Judges path, query and `Accept`.
    ///
    /// # Errors
    /// 422 with every problem at once, the path's first; then 406, or 503 for a format that nothing
    /// may serve.
    pub(crate) fn parse(parts: &Parts, plugins: Arc<PluginSet>) -> Result<Self, Error> {
        Ok(Self { has_columns: true, ..Self::parse_with(parts, plugins, DataQuery::parse)? })
    }

    /// The same for a route that shares some of the parameters of `/data`: `query` parses them,
    /// given the loaded formats.
    ///
    /// # Errors
    /// As with [`Asked::parse`].
    pub(crate) fn parse_with(
        parts: &Parts,
        plugins: Arc<PluginSet>,
        query: impl FnOnce(&[(String, String)], &[&str]) -> Result<DataQuery, Vec<ValidationError>>,
    ) -> Result<Self, Error> {
        let formats = plugins.formats();
        let pairs = parse_pairs(parts.uri.query().unwrap_or_default());
        let (name, query) = match (dataset_name(&parts.uri), query(&pairs, &formats)) {
            (Ok(name), Ok(query)) => (name, query),
            (name, query) => {
                let problems =
                    name.err().into_iter().chain(query.err().unwrap_or_default()).collect();
                return Err(Refusal::InvalidParameters(problems).into());
            }
        };
        let encoder = match &query.format {
            Some(format) if plugins.is_unavailable(format) => {
                return Err(Error::format_unavailable(format, &plugins));
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
        let Some(encoder) = encoder else {
            let available = plugins
                .encoders()
                .map(|encoder| encoder.description().media_type.clone())
                .collect();
            return Err(Refusal::NotAcceptable { available }.into());
        };
        Ok(Self { name, query, pairs, encoder, has_columns: false, plugins })
    }

    /// The same, of the release that would serve in the place of the one that was asked, where
    /// there is such a one.
    pub(crate) fn with_fallback_release(&self, guard: &ReleaseMonitor) -> Option<Self> {
        Some(Self { encoder: guard.fallback_release(&self.encoder)?, ..self.clone() })
    }

    /// Formats besides the one that was asked for.
    pub(crate) fn other_formats(&self) -> Vec<&str> {
        let own = &self.encoder.description().format;
        self.plugins
            .encoders()
            .map(|encoder| encoder.description().format.as_str())
            .filter(|format| format != own)
            .collect()
    }

    /// The options of this response's encoder.
    ///
    /// # Errors
    /// The problem of every wrong value, whichever loaded format declares its parameter.
    pub(crate) fn options(&self) -> Result<Vec<OptionValue>, Vec<ValidationError>> {
        options::choose(&self.plugins, &self.encoder, &self.query)
    }
}
