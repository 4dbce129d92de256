//! What every handler shares, built once by the binary.

use std::ops::Deref;
use std::sync::Arc;

use yearbook_catalog::{Failure, KeyRing, Live, Meter, Store};
use yearbook_platform::Guard;
use yearbook_sandbox::{Registry, Sandbox};
use yearbook_snapshot::{Files, Reader};
use yearbook_workers::Workers;

use crate::bodies::Bodies;
use crate::cursors::Cursors;
use crate::limits::Bursts;
use crate::metrics::{self, Http, ListenerMetrics};
use crate::respond::failed_inputs::FailedInputs;
use crate::respond::kept::{CacheCounts, Responses};
use crate::respond::opening::Openings;
use crate::routes::datasets::Listing;
use crate::routes::health::Readiness;
use crate::routes::openapi::Description;
use crate::routes::preview::Previews;
use crate::settings::Settings;

/// What the server is made of.
pub struct Parts {
    /// The catalogue in memory.
    pub live: Arc<Live>,
    /// The catalogue's database.
    pub store: Arc<dyn Store>,
    /// Whose keys are whose.
    pub keys: KeyRing,
    /// Monthly quotas.
    pub meter: Arc<Meter>,
    /// The object store, for the readiness check.
    pub files: Files,
    /// Reads stored data.
    pub reader: Reader,
    /// Loaded plugins.
    pub registry: Arc<Registry>,
    /// Where plugins run, for what is told about them.
    pub sandbox: Arc<Sandbox>,
    /// Watches what plugins make.
    pub guard: Arc<Guard>,
    /// Threads for compression and hashing.
    pub workers: Arc<Workers>,
    /// What an operator set.
    pub settings: Settings,
}

/// Shared by every request; cloning it is cheap.
#[derive(Clone)]
pub struct AppState(Arc<Shared>);

/// [`Parts`] and what is derived from them.
struct Shared {
    parts: Parts,
    own: Own,
}

/// What the server keeps between requests.
pub(crate) struct Own {
    /// Writes and reads cursors.
    pub(crate) cursors: Cursors,
    /// Bodies on their way to clients.
    pub(crate) bodies: Bodies,
    /// Burst limits.
    pub(crate) bursts: Bursts,
    /// The rendered list of datasets.
    pub(crate) listing: Listing,
    /// Rendered previews.
    pub(crate) previews: Previews,
    /// Bodies of small data responses.
    pub(crate) responses: Responses,
    /// What encoders accept.
    pub(crate) openings: Openings,
    /// What encoders failed at a moment ago.
    pub(crate) failed_inputs: FailedInputs,
    /// What requests have been.
    pub(crate) http: Http,
    /// What connections have been.
    pub(crate) listeners: ListenerMetrics,
    /// The last readiness report.
    pub(crate) readiness: Readiness,
    /// The rendered machine description.
    pub(crate) description: Description,
}

impl AppState {
    /// Fetches the secret that signs cursors and makes limiters and caches.
    ///
    /// # Errors
    /// When the database does not give the secret.
    pub async fn new(parts: Parts) -> Result<Self, Failure> {
        metrics::started();
        let secret = parts.store.secret("cursor").await?;
        let own = Own {
            cursors: Cursors::new(secret),
            bodies: Bodies::start(&parts.settings),
            bursts: Bursts::new(parts.settings.limits),
            listing: Listing::default(),
            previews: Previews::new(parts.settings.server.preview_cache_bytes),
            responses: Responses::new(&parts.settings.server),
            openings: Openings::default(),
            failed_inputs: FailedInputs::new(parts.settings.server.failed_input()),
            http: Http::default(),
            listeners: ListenerMetrics::default(),
            readiness: Readiness::default(),
            description: Description::default(),
        };
        Ok(Self(Arc::new(Shared { parts, own })))
    }

    /// What the response cache did so far.
    #[must_use]
    pub fn response_cache(&self) -> CacheCounts {
        self.0.own.responses.counts()
    }

    /// What the server keeps between requests.
    pub(crate) fn own(&self) -> &Own {
        &self.0.own
    }
}

impl Deref for AppState {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0.parts
    }
}
