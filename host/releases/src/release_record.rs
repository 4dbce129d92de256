//! Records of releases: the identity of a loaded plugin, a new release of it, its stored bytes, and
//! changes of its state that somebody asks for.

use bytes::Bytes;
use yearbook_catalog::{
    Catalog, ChangeOutcome, PluginRelease, ReleaseChange, ReleaseId, ReleaseState, register_upload,
};
use yearbook_domain::{Digest, ObjectKey};
use yearbook_sandbox::Plugin;
use yearbook_storage::ObjectStorage;

use crate::ReleaseError;

/// Identity of a loaded plugin's release.
pub(crate) fn id(plugin: &Plugin) -> ReleaseId {
    ReleaseId { kind: plugin.kind(), name: plugin.name().to_owned(), digest: *plugin.digest() }
}

/// A new release of a plugin that has been loaded.
pub(crate) fn new_release(
    plugin: &Plugin,
    by: String,
    built_in: bool,
    state: ReleaseState,
) -> PluginRelease {
    PluginRelease {
        id: id(plugin),
        version: plugin.version().to_owned(),
        bytes: plugin.bytes(),
        by,
        installed_at: yearbook_catalog::clock::now(),
        built_in,
        state,
        promotion: 0,
        pinned: false,
        reason: None,
        until: None,
        quarantines: 0,
        origin: None,
    }
}

/// Registers the upload of a component and stores it; returns its digest.
pub(crate) async fn store_component(
    store: &Catalog,
    files: &ObjectStorage,
    bytes: Bytes,
) -> Result<Digest, ReleaseError> {
    let hashed = bytes.clone();
    let digest = tokio::task::spawn_blocking(move || Digest::compute(&hashed))
        .await
        .map_err(|_| ReleaseError::Panicked)?;
    register_upload(store, &ObjectKey::component(&digest)).await?;
    Ok(files.put_component(bytes).await?)
}

/// Brings a release into another state.
pub(crate) async fn change_state(
    store: &Catalog,
    id: &ReleaseId,
    to: ReleaseState,
    by: &str,
    reason: Option<String>,
) -> Result<(), ReleaseError> {
    let (by, at) = (by.to_owned(), yearbook_catalog::clock::now());
    let change = ReleaseChange { id: id.clone(), to, by, at, reason };
    match store.change_release(&change).await? {
        ChangeOutcome::Done => Ok(()),
        ChangeOutcome::NoSuchRelease => Err(ReleaseError::NoSuchPlugin(id.name.clone())),
        ChangeOutcome::NotAllowedFrom(state) => Err(ReleaseError::StateChanged(id.clone(), state)),
    }
}
