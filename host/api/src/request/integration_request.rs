//! Requests for files of a data tool: path and query of `/v1/integrations/{tool}`, in the order of
//! contract-1-order: the tool, then every wrong parameter at once. Unlike elsewhere an unknown
//! dataset is a wrong parameter (spec-4.4-datasets), since it stands in one.

use std::collections::HashSet;
use std::sync::Arc;

use axum::extract::Request;
use http::request::Parts;
use percent_encoding::percent_decode_str;
use yearbook_domain::query::{last_value, parse_pairs, too_many_names_message};
use yearbook_domain::{Dataset, Refusal, ValidationError};
use yearbook_http::Error;
use yearbook_sandbox::{OptionValue, PluginGenerator, PluginSet};

use super::options;
use crate::ApiState;

/// Unknown names that a 422 lists.
const LISTED_NAMES: usize = 20;

/// A request for the files of one tool.
pub(crate) struct IntegrationRequest {
    /// The plugin that makes the files.
    pub(crate) generator: Arc<PluginGenerator>,
    /// Each once, in the order in which they were named.
    pub(crate) datasets: Vec<Arc<Dataset>>,
    /// `datasets` as it was sent.
    pub(crate) raw: String,
    /// Names and values of all parameters, as sent.
    pub(crate) pairs: Vec<(String, String)>,
    /// The generator's options.
    pub(crate) options: Vec<OptionValue>,
    /// Method, address, headers and extensions.
    pub(crate) parts: Parts,
}

impl IntegrationRequest {
    /// Parses path and query.
    ///
    /// # Errors
    /// 404 for the tool, 422 for the rest.
    pub(crate) fn parse(app: &ApiState, request: Request) -> Result<Self, Error> {
        let (parts, _) = request.into_parts();
        let generator = generator(&parts, &app.core.plugins.current())?;
        let pairs = parse_pairs(parts.uri.query().unwrap_or_default());
        let raw = last_value(&pairs, "datasets");
        let datasets = match raw {
            Some(raw) => datasets(app, raw),
            None => Err(ValidationError::missing("datasets")),
        };
        match (datasets, options::generator_options(generator.description(), &pairs)) {
            (Ok(datasets), Ok(options)) => {
                let raw = raw.unwrap_or_default().to_owned();
                Ok(Self { generator, datasets, raw, pairs, options, parts })
            }
            (datasets, options) => {
                let problems =
                    datasets.err().into_iter().chain(options.err().unwrap_or_default()).collect();
                Err(Refusal::InvalidParameters(problems).into())
            }
        }
    }
}

fn generator(parts: &Parts, plugins: &PluginSet) -> Result<Arc<PluginGenerator>, Refusal> {
    let tool = percent_decode_str(parts.uri.path().split('/').nth(3).unwrap_or_default())
        .decode_utf8_lossy();
    plugins.generator(&tool).cloned().ok_or_else(|| Refusal::NoSuchIntegration {
        tool: tool.into_owned(),
        available: plugins
            .generators()
            .map(|generator| generator.description().tool.clone())
            .collect(),
    })
}

fn datasets(app: &ApiState, raw: &str) -> Result<Vec<Arc<Dataset>>, ValidationError> {
    let refuse = |sentence: &str| Err(ValidationError::value_error("datasets", sentence, raw));
    if let Some(sentence) = too_many_names_message("datasets", raw) {
        return refuse(&sentence);
    }
    let mut names: Vec<&str> = Vec::new();
    let mut seen = HashSet::new();
    for name in raw.split(',').map(str::trim) {
        if name.is_empty() {
            return refuse("datasets must be names separated by commas, none of them empty");
        }
        // Naming one twice is no reason to write it twice.
        if seen.insert(name) {
            names.push(name);
        }
    }
    let found: Vec<Result<Arc<Dataset>, &str>> =
        names.into_iter().map(|name| app.core.catalog_cache.dataset(name).ok_or(name)).collect();
    let unknown: Vec<&str> =
        found.iter().filter_map(|found| found.as_ref().err().copied()).collect();
    if unknown.is_empty() {
        return Ok(found.into_iter().flatten().collect());
    }
    let listed: Vec<String> =
        unknown.iter().take(LISTED_NAMES).map(|name| format!("'{name}'")).collect();
    let more = if unknown.len() > LISTED_NAMES {
        format!(" and {} more", unknown.len() - LISTED_NAMES)
    } else {
        String::new()
    };
    refuse(&format!(
        "there is no dataset called {}{more}; look up the names at /v1/datasets, do not guess",
        listed.join(", ")
    ))
}
