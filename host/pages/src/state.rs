//! State of the pages between requests. Never touches a request.

use std::fmt;
use std::sync::Arc;

use yearbook_domain::settings::PageSettings;
use yearbook_http::Core;
use yearbook_http::metrics::MetricsWriter;
use yearbook_signup::Signup;

use crate::dataset_formats::DatasetFormatCache;
use crate::{DocumentCache, SearchIndexState, Site, signup_metrics};

/// State of every request for a page.
pub struct PagesState {
    /// Services, limiters and counters.
    pub(crate) core: Arc<Core>,
    /// `[pages]`.
    pub(crate) settings: PageSettings,
    /// Sign-up for Free keys. `None` where it is off.
    pub(crate) signup: Option<Arc<Signup>>,
    /// The frame of all pages.
    pub(crate) site: Site,
    /// Rendered pages.
    pub(crate) cache: DocumentCache,
    /// Formats that datasets have.
    pub(crate) dataset_formats: DatasetFormatCache,
    /// Full-text search over the catalog.
    pub(crate) search: SearchIndexState,
}

impl PagesState {
    /// Makes caches, and starts to follow the catalog for the search index.
    #[must_use]
    pub fn new(core: Arc<Core>, settings: PageSettings, signup: Option<Arc<Signup>>) -> Self {
        let public_url = core.settings.server.public_url.as_ref();
        Self {
            site: Site::new(&settings, public_url, signup.is_some()),
            cache: DocumentCache::new(settings.cache_bytes),
            dataset_formats: DatasetFormatCache::default(),
            search: SearchIndexState::follow(&core.catalog_cache),
            settings,
            signup,
            core,
        }
    }

    /// Writes what the pages have counted.
    ///
    /// # Errors
    /// Fails where the text takes no more.
    pub fn write_metrics(&self, sheet: &mut MetricsWriter<'_>) -> fmt::Result {
        self.signup.as_ref().map_or(Ok(()), |signup| signup_metrics::write(signup, sheet))
    }
}
