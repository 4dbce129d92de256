//! Datasets that addresses of pages name.

use std::sync::Arc;

use http::request::Parts;
use percent_encoding::percent_decode_str;
use yearbook_domain::{Dataset, DatasetName, Refusal};
use yearbook_http::Error;

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
