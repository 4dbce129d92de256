//! The services, limiters and counters that every room works with, built once by the server. Never
//! touches a request, and knows no room.

use std::sync::Arc;

use http::request::Parts;
use yearbook_catalog::{Catalog, CatalogCache, KeyVerifier, Quota};
use yearbook_domain::read_plan::MAX_SERIES;
use yearbook_domain::{Dataset, DatasetName, PlanTable, ReadPlan, Refusal};
use yearbook_sandbox::{PluginRegistry, ReleasePolicy, Sandbox};
use yearbook_scan::Reader;
use yearbook_storage::ObjectStorage;
use yearbook_workers::Workers;

use crate::metrics::{HttpMetrics, ListenerMetrics};
use crate::open_responses::OpenResponses;
use crate::past_files::PastFiles;
use crate::rate_limit::{BurstLimiter, RefusalPace};
use crate::settings::{LimitSettings, ServerSettings};
use crate::{Error, links};

/// Settings that every room reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoreSettings {
    /// `[server]`.
    pub server: ServerSettings,
    /// `[limits]`.
    pub limits: LimitSettings,
    /// `[plans]`: what each plan allows.
    pub plans: PlanTable,
}

/// Services, limiters and counters; the server makes one for all rooms.
pub struct Core {
    /// The catalog in memory.
    pub catalog_cache: Arc<CatalogCache>,
    /// The catalog's database.
    pub catalog: Arc<Catalog>,
    /// The check of API keys.
    pub keys: KeyVerifier,
    /// Monthly quotas.
    pub quota: Arc<Quota>,
    /// The object store.
    pub storage: ObjectStorage,
    /// Reader of stored data.
    pub reader: Reader,
    /// Files of versions that retention dropped.
    pub past_files: Arc<dyn PastFiles>,
    /// Loaded plugins.
    pub plugins: Arc<PluginRegistry>,
    /// The sandbox that plugins run in.
    pub sandbox: Arc<Sandbox>,
    /// Canaries, fallback releases and the circuit breaker.
    pub releases: Arc<dyn ReleasePolicy>,
    /// Threads for compression and hashing.
    pub workers: Arc<Workers>,
    /// Settings of an operator.
    pub settings: CoreSettings,
    /// Responses on their way to clients.
    pub open_responses: OpenResponses,
    /// Burst limits.
    pub burst_limiter: BurstLimiter,
    /// Refusals of each address.
    pub refusal_pace: Arc<RefusalPace>,
    /// Counts of requests.
    pub http_metrics: HttpMetrics,
    /// Counts of connections.
    pub listener_metrics: ListenerMetrics,
}

impl Core {
    /// Returns the beginning of absolute links in the answer to the request of `parts`
    /// ([`links::base_url`]).
    #[must_use]
    pub fn base_url(&self, parts: &Parts) -> String {
        links::base_url(&self.settings.server, parts)
    }

    /// Returns the dataset called `name`.
    ///
    /// # Errors
    /// 404 where there is no such dataset.
    pub fn dataset(&self, name: &DatasetName) -> Result<Arc<Dataset>, Error> {
        let dataset = self.catalog_cache.dataset(name.as_str());
        dataset.ok_or_else(|| Refusal::NoSuchDataset { name: name.to_string() }.into())
    }

    /// Checks that the dataset has no more series than are held where `plan` asks for rows of each.
    /// Publishing stored their number; the first check of an older snapshot reads it.
    ///
    /// # Errors
    /// 413 for too many series; those of the catalog and of reading.
    pub async fn check_series(&self, dataset: &Dataset, plan: &ReadPlan) -> Result<(), Error> {
        if plan.series_rows.is_none() {
            return Ok(());
        }
        let snapshot = &plan.snapshot;
        let facts = self.catalog_cache.preview_facts(dataset, &snapshot.id).await?;
        let stored = facts.and_then(|facts| facts.series_number);
        if self.reader.count_series(snapshot, stored).await? > MAX_SERIES {
            return Err(Refusal::TooManySeries { limit: MAX_SERIES }.into());
        }
        Ok(())
    }
}
