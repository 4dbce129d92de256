//! What a client asks of `/v1/integrations/{tool}`, judged in the order of contract-1-order: the
//! tool, then every wrong parameter at once. Unlike elsewhere a dataset that there is not is a
//! wrong parameter (spec-4.4-datasets), since it stands in one.

use std::collections::HashSet;
use std::sync::Arc;

use http::request::Parts;
use percent_encoding::percent_decode_str;
use yearbook_domain::query::{last_value, parse_pairs, too_many_names_message};
use yearbook_domain::{Dataset, Refusal, ValidationError};
use yearbook_sandbox::{OptionValue, PluginGenerator, PluginSet};

use crate::error::Error;
use crate::extract::options;
use crate::state::AppState;

/// Unknown names that a 422 lists.
const LISTED_NAMES: usize = 20;

/// A request that can be answered.
pub(super) struct IntegrationRequest {
    /// Who makes the files.
    pub(super) generator: Arc<PluginGenerator>,
    /// Each once, in the order in which they were named.
    pub(super) datasets: Vec<Arc<Dataset>>,
    /// `datasets` as it was sent.
    pub(super) raw: String,
    /// Names and values of all parameters, as sent.
    pub(super) pairs: Vec<(String, String)>,
    /// The generator's options.
    pub(super) options: Vec<OptionValue>,
}

impl IntegrationRequest {
    /// Judges path and query.
    ///
    /// # Errors
    /// 404 for the tool, 422 for the rest.
    pub(super) fn parse(
        state: &AppState,
        parts: &Parts,
        plugins: &PluginSet,
    ) -> Result<Self, Error> {
        let generator = generator(parts, plugins)?;
        let pairs = parse_pairs(parts.uri.query().unwrap_or_default());
        let raw = last_value(&pairs, "datasets");
        let datasets = match raw {
            Some(raw) => datasets(state, raw),
            None => Err(ValidationError::missing("datasets")),
        };
        match (datasets, options::generator_options(generator.description(), &pairs)) {
            (Ok(datasets), Ok(options)) => {
                let raw = raw.unwrap_or_default().to_owned();
                Ok(Self { generator, datasets, raw, pairs, options })
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

fn datasets(state: &AppState, raw: &str) -> Result<Vec<Arc<Dataset>>, ValidationError> {
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
        names.into_iter().map(|name| state.live.dataset(name).ok_or(name)).collect();
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
