//! Loads a release on this host: from the object store, if it came with the binary or is trusted. A
//! digest that was refused once stays refused, unless the host was at fault; a signature that was
//! not trusted is verified again only when it changes.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use yearbook_catalog::PluginRelease;
use yearbook_sandbox::{ComponentRejection, Plugin, Sandbox};

use super::{PluginReconciler, ReconcilerState};
use crate::release_record::id;
use crate::{Signature, TrustError};

/// A candidate that cannot serve on this host.
#[derive(Debug, thiserror::Error)]
pub(super) enum LoadError {
    #[error(transparent)]
    Storage(#[from] yearbook_storage::StorageFailure),
    #[error(transparent)]
    Rejected(#[from] ComponentRejection),
    #[error(transparent)]
    Untrusted(#[from] TrustError),
    #[error("it was judged before, and nothing has changed")]
    StillUntrusted,
    #[error("it calls itself {found}, not what it was installed as")]
    WrongIdentity { found: String },
    #[error("a thread panicked while it was loaded")]
    Panicked,
}

impl PluginReconciler {
    /// Loads the first of `candidates` that loads on this host.
    pub(super) async fn load_first(
        &self,
        state: &mut ReconcilerState,
        candidates: &[PluginRelease],
        complete: &mut bool,
    ) -> Option<Plugin> {
        for release in candidates {
            let digest = &release.id.digest;
            if state.refused.contains(digest) {
                continue;
            }
            if let Some(plugin) = state.loaded.get(digest) {
                return Some(plugin.clone());
            }
            let begun = Instant::now();
            match self.load(state, release).await {
                Ok(plugin) => {
                    let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
                    tracing::info!(
                        plugin = release.id.name,
                        %digest,
                        version = release.version,
                        took_ms,
                        "loaded a plugin's release"
                    );
                    state.loaded.insert(*digest, plugin.clone());
                    return Some(plugin);
                }
                Err(LoadError::StillUntrusted) => {}
                Err(unfit) => {
                    tracing::error!(plugin = release.id.name, %digest, %unfit, "a plugin's release cannot serve here");
                    match unfit {
                        LoadError::Storage(_)
                        | LoadError::Rejected(
                            ComponentRejection::Busy | ComponentRejection::CompilerUnavailable(_),
                        ) => *complete = false,
                        LoadError::Untrusted(_) | LoadError::StillUntrusted => {}
                        LoadError::Rejected(_)
                        | LoadError::WrongIdentity { .. }
                        | LoadError::Panicked => drop(state.refused.insert(*digest)),
                    }
                }
            }
        }
        None
    }

    async fn load(
        &self,
        state: &mut ReconcilerState,
        release: &PluginRelease,
    ) -> Result<Plugin, LoadError> {
        let bytes = self.fetch_trusted(state, release).await?;
        let plugin = load_component(&self.sandbox, bytes).await?;
        let found = id(&plugin);
        if found == release.id {
            Ok(plugin)
        } else {
            Err(LoadError::WrongIdentity { found: format!("{} {}", found.kind, found.name) })
        }
    }

    /// The component from the object store, if it is trusted; one that came with the binary has its
    /// digest. Nothing else of what is there is believed: whoever writes the store or the catalog
    /// chooses among components that this host's settings let in.
    async fn fetch_trusted(
        &self,
        state: &mut ReconcilerState,
        release: &PluginRelease,
    ) -> Result<Bytes, LoadError> {
        let digest = &release.id.digest;
        if self.embedded.contains(digest) {
            return Ok(self.files.get_component(digest, release.bytes).await?);
        }
        let signature = if self.trust.needs_signature() {
            self.files.get_signature(digest).await?
        } else {
            None
        };
        let signature = signature.map(|file| Signature::from_bytes(&file));
        if state.untrusted.get(digest) == Some(&signature) {
            return Err(LoadError::StillUntrusted);
        }
        let bytes = self.files.get_component(digest, release.bytes).await?;
        let (trust, component, came) = (self.trust.clone(), bytes.clone(), signature.clone());
        let judged = tokio::task::spawn_blocking(move || trust.verify(&component, came.as_ref()))
            .await
            .map_err(|_| LoadError::Panicked)?;
        judged.inspect_err(|_| drop(state.untrusted.insert(*digest, signature)))?;
        Ok(bytes)
    }
}

/// Loads a component on a thread that may block. The workers are for requests.
pub(super) async fn load_component(
    sandbox: &Arc<Sandbox>,
    bytes: Bytes,
) -> Result<Plugin, LoadError> {
    let sandbox = Arc::clone(sandbox);
    let loaded = tokio::task::spawn_blocking(move || sandbox.load(&bytes)).await;
    Ok(loaded.map_err(|_| LoadError::Panicked)??)
}
