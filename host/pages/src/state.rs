//! State of the pages between requests. Never touches a request.

use std::fmt;
use std::sync::Arc;

use yearbook_catalog::CatalogError;
use yearbook_domain::settings::PageSettings;
use yearbook_http::cited_transforms::CitedRowSource;
use yearbook_http::metrics::MetricsWriter;
use yearbook_http::{Core, Error};
use yearbook_search::{NewestIndex, SearchIndex};
use yearbook_signup::Signup;
use yearbook_webhooks::Webhooks;

use crate::calendar::CurrentCalendar;
use crate::dataset_formats::DatasetFormatCache;
use crate::log::PublicationLog;
use crate::{DocumentCache, Site, signup_metrics};

/// State of every request for a page.
pub struct PagesState {
    /// Services, limiters and counters.
    pub(crate) core: Arc<Core>,
    /// `[pages]`.
    pub(crate) settings: PageSettings,
    /// Sign-up for Free keys. `None` where it is off.
    pub(crate) signup: Option<Arc<Signup>>,
    /// Addresses that are told of new versions. `None` where nobody is.
    pub(crate) webhooks: Option<Arc<Webhooks>>,
    /// The room that computes rows that citations name.
    pub(crate) cited_rows: Arc<dyn CitedRowSource>,
    /// The frame of all pages.
    pub(crate) site: Site,
    /// Rendered pages.
    pub(crate) cache: DocumentCache,
    /// The release calendar.
    pub(crate) calendar: CurrentCalendar,
    /// Formats that datasets have.
    pub(crate) dataset_formats: DatasetFormatCache,
    /// The log of what was published.
    pub(crate) log: PublicationLog,
    /// Full-text search over the catalog.
    search: NewestIndex,
}

impl PagesState {
    /// Fetches the secrets of calendar and log, and makes caches.
    ///
    /// # Errors
    /// [`CatalogError`] when the database does not give them.
    pub async fn new(
        core: Arc<Core>,
        settings: PageSettings,
        (signup, webhooks): (Option<Arc<Signup>>, Option<Arc<Webhooks>>),
        cited_rows: Arc<dyn CitedRowSource>,
        search: NewestIndex,
    ) -> Result<Self, CatalogError> {
        let public_url = core.settings.server.public_url.as_ref();
        let origin = settings.log_origin(public_url.map(|url| url.as_str()));
        Ok(Self {
            log: PublicationLog::new(&core, &origin).await?,
            site: Site::new(&settings, public_url, signup.is_some()),
            cache: DocumentCache::new(settings.cache_bytes),
            calendar: CurrentCalendar::new(core.catalog.secret("calendar").await?),
            dataset_formats: DatasetFormatCache::default(),
            search,
            settings,
            signup,
            webhooks,
            cited_rows,
            core,
        })
    }

    /// Returns the newest search index. Waits only for the first one after a start.
    ///
    /// # Errors
    /// [`Error::Unavailable`] while the service stops.
    pub(crate) async fn index(&self) -> Result<Arc<SearchIndex>, Error> {
        self.search.index().await.ok_or(Error::Unavailable)
    }

    /// Writes what the pages have counted.
    ///
    /// # Errors
    /// Fails where the text takes no more.
    pub fn write_metrics(&self, sheet: &mut MetricsWriter<'_>) -> fmt::Result {
        self.signup.as_ref().map_or(Ok(()), |signup| signup_metrics::write(signup, sheet))
    }
}
