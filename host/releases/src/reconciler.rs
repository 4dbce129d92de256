//! Keeps a host's registry as the catalog wants it: loads the release that serves each name, from
//! what the binary carries or from the object store, and swaps the whole set in one step. A release
//! that this host cannot load is passed over for the next one of its name. Requests that have begun
//! keep what they began with. What waits to take the place of a release that serves, and what would
//! serve in its place, is loaded too, for the monitor.

mod candidates;
mod load;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Mutex, watch};
use yearbook_catalog::{Catalog, PluginRelease, ReleaseId, ReleaseState, lines};
use yearbook_sandbox::{Plugin, PluginRegistry, PluginSet, Sandbox};
use yearbook_storage::ObjectStorage;

use self::load::load_component;
use crate::ReleaseError;
use crate::canary::is_compared;
use crate::release_monitor::{Candidates, ReleaseMonitor};
use crate::release_record::{new_release, store_component};
use crate::{Signature, TrustPolicy};
use yearbook_domain::{Digest, PluginKind};

/// Delay before an object store that did not answer is asked again.
const RETRY: Duration = Duration::from_secs(2);

/// A component that came with the binary.
#[derive(Clone, Debug)]
pub struct EmbeddedComponent {
    /// Its name, for messages.
    pub name: String,
    /// The component.
    pub bytes: Vec<u8>,
    /// Origin: `embedded`, or a folder.
    pub by: String,
}

/// Reconciler of a host's registry with the catalogue.
pub struct PluginReconciler {
    sandbox: Arc<Sandbox>,
    files: ObjectStorage,
    registry: Arc<PluginRegistry>,
    monitor: Arc<ReleaseMonitor>,
    trust: TrustPolicy,
    /// Components that came with the binary: trusted wherever they lie.
    embedded: HashSet<Digest>,
    state: Mutex<ReconcilerState>,
}

#[derive(Default)]
struct ReconcilerState {
    /// Plugins of the present set and those beside it, and those loaded at start that are in
    /// neither yet.
    loaded: HashMap<Digest, Plugin>,
    /// Digests that the sandbox refused here: they stay refused.
    refused: HashSet<Digest>,
    /// Digests that are not trusted, with the signature that was judged: another one is judged
    /// again.
    untrusted: HashMap<Digest, Option<Signature>>,
    /// The present set: digests, and formats that nothing may serve.
    serving: (Vec<Digest>, Vec<(PluginKind, String)>),
    /// Releases that wait and promise something else, with those that serve: found out once.
    unlike: HashSet<(Digest, Digest)>,
}

impl PluginReconciler {
    /// Loads what came with the binary, stores it for hosts that do not have it, and registers it.
    /// The registry stays empty until [`PluginReconciler::apply`].
    ///
    /// # Errors
    /// [`ReleaseError`] when a component of the binary is refused, or store or catalog fail.
    pub async fn start(
        sandbox: Arc<Sandbox>,
        files: ObjectStorage,
        store: &Catalog,
        registry: Arc<PluginRegistry>,
        monitor: Arc<ReleaseMonitor>,
        trust: TrustPolicy,
        embedded: Vec<EmbeddedComponent>,
    ) -> Result<Arc<Self>, ReleaseError> {
        let mut reconciler = Self {
            sandbox,
            files,
            registry,
            monitor,
            trust,
            embedded: HashSet::new(),
            state: Mutex::default(),
        };
        let known: HashSet<ReleaseId> =
            store.releases().await?.into_iter().map(|release| release.id).collect();
        for EmbeddedComponent { name, bytes, by } in embedded {
            let bytes = Bytes::from(bytes);
            let loaded = load_component(&reconciler.sandbox, bytes.clone()).await;
            let plugin = loaded.map_err(|unfit| ReleaseError::Embedded {
                name,
                by: by.clone(),
                reason: unfit.to_string(),
            })?;
            let release = new_release(&plugin, by, true, ReleaseState::Promoted);
            if !known.contains(&release.id)
                || !reconciler.files.has_component(plugin.digest(), plugin.bytes()).await?
            {
                store_component(store, &reconciler.files, bytes).await?;
            }
            store.register_release(&release).await?;
            reconciler.embedded.insert(release.id.digest);
            reconciler.state.get_mut().loaded.insert(release.id.digest, plugin);
        }
        Ok(Arc::new(reconciler))
    }

    /// Brings the registry in line with `releases`. False when the object store has to be asked
    /// again.
    pub async fn apply(&self, releases: &[PluginRelease]) -> bool {
        let mut state = self.state.lock().await;
        let mut complete = true;
        let mut serving: Vec<Plugin> = Vec::new();
        let mut unavailable: Vec<(PluginKind, String)> = Vec::new();
        let lines = lines(releases);
        // Readers serve nobody: publishers load them.
        for line in lines.iter().filter(|line| line.kind != PluginKind::Reader) {
            match self.load_first(&mut state, &line.candidates, &mut complete).await {
                Some(plugin) => serving.push(plugin),
                None if is_compared(line.kind) => {
                    unavailable.push((line.kind, line.name.clone()));
                }
                None => {}
            }
        }
        let next = (serving.iter().map(|plugin| *plugin.digest()).collect(), unavailable);
        if next != state.serving {
            self.registry.replace(PluginSet::new(&serving, next.1.iter().cloned()));
            log_changes(&state.serving, &serving, &next.1);
            state.serving = next;
        }
        // Only now: compiling what serves nobody yet must not hold up what serves.
        let candidates = self.load_candidates(&mut state, &lines, &serving, &mut complete).await;
        let candidate_plugins = candidates.values().flat_map(|Candidates { waiting, previous }| {
            waiting.clone().into_iter().chain(previous.clone().map(Plugin::Encoder))
        });
        state.loaded =
            candidate_plugins.chain(serving).map(|plugin| (*plugin.digest(), plugin)).collect();
        self.monitor.set_candidates(candidates);
        complete
    }

    /// Applies every change of `releases` until the reconciler is dropped or nobody sends any more.
    pub fn follow(self: &Arc<Self>, mut releases: watch::Receiver<Arc<[PluginRelease]>>) {
        let reconciler: Weak<Self> = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                let wanted = Arc::clone(&releases.borrow_and_update());
                let Some(reconciler) = reconciler.upgrade() else { return };
                let complete = reconciler.apply(&wanted).await;
                drop(reconciler);
                let patience = if complete { Duration::MAX } else { RETRY };
                if let Ok(Err(_)) = tokio::time::timeout(patience, releases.changed()).await {
                    return;
                }
            }
        });
    }
}

/// Logs what is new.
fn log_changes(
    before: &(Vec<Digest>, Vec<(PluginKind, String)>),
    serving: &[Plugin],
    unavailable: &[(PluginKind, String)],
) {
    for plugin in serving.iter().filter(|plugin| !before.0.contains(plugin.digest())) {
        tracing::info!(
            plugin = plugin.name(),
            kind = plugin.kind().as_str(),
            version = plugin.version(),
            digest = plugin.digest().as_str(),
            "serving a release"
        );
    }
    for (kind, name) in unavailable.iter().filter(|plugin| !before.1.contains(plugin)) {
        tracing::error!(
            kind = kind.as_str(),
            name,
            "no release of this plugin may serve: requests for it are answered 503; install one, or pin one that works"
        );
    }
}
