//! Datasets that addresses of pages name.

use std::borrow::Cow;
use std::sync::Arc;

use http::request::Parts;
use percent_encoding::percent_decode_str;
use yearbook_domain::meaning::Language;
use yearbook_domain::{Dataset, DatasetName, Refusal};
use yearbook_http::Error;
use yearbook_http::language::WantedLanguages;

use crate::{PageRefusal, PagesState};

/// The dataset of a page's address.
///
/// # Errors
/// 404 where there is none, 410 where it is retired.
pub(super) fn dataset(app: &PagesState, parts: &Parts) -> Result<Arc<Dataset>, Error> {
    find(app, segment(parts))
}

/// The dataset that `segment` of an address names.
///
/// # Errors
/// 404 where there is none, 410 where it is retired.
pub(super) fn find(app: &PagesState, segment: &str) -> Result<Arc<Dataset>, Error> {
    let text = percent_decode_str(segment).decode_utf8_lossy();
    let absent = |name: String| Error::from(Refusal::NoSuchDataset { name });
    let Some(name) = DatasetName::parse(&text) else {
        return Err(absent(text.into_owned()));
    };
    if let Some(dataset) = app.core.catalog_cache.dataset(name.as_str()) {
        return Ok(dataset);
    }
    match app.core.catalog_cache.retired_at(name.as_str()) {
        Some(since) => Err(PageRefusal::DatasetRetired { name, since }.into()),
        None => Err(absent(name.to_string())),
    }
}

/// The part of a page's address that names the dataset, as it was sent.
pub(super) fn segment(parts: &Parts) -> &str {
    parts.uri.path().split('/').nth(2).unwrap_or_default()
}

/// `dataset` in the language that a request wants of it.
///
/// # Errors
/// 422 for a `lang` that is no tag.
pub(super) fn in_wanted_language(
    dataset: &Arc<Dataset>,
    parts: &Parts,
) -> Result<(Arc<Dataset>, Option<Language>), Error> {
    let wanted = WantedLanguages::read(parts.uri.query().unwrap_or_default(), &parts.headers);
    let wanted = wanted.map_err(Error::invalid_parameter)?;
    let language = wanted.choose(&dataset.current).cloned();
    let dataset = match dataset.current.in_language(language.as_ref()) {
        Cow::Borrowed(_) => Arc::clone(dataset),
        Cow::Owned(snapshot) => {
            Arc::new(Dataset { current: Arc::new(snapshot), ..Dataset::clone(dataset) })
        }
    };
    Ok((dataset, language))
}
