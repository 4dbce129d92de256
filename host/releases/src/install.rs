//! Installs a release: checks it, stores its bytes, records it. The order matters: the bytes are
//! stored before any host can learn of the release.

use std::sync::Arc;

use yearbook_catalog::{Catalog, PluginRelease, ReleaseId, ReleaseOrigin, ReleaseState, lines};
use yearbook_domain::PluginKind;
use yearbook_sandbox::Sandbox;
use yearbook_storage::ObjectStorage;

use crate::canary::is_compared;
use crate::release_record::{change_state, id, new_release, store_component};
use crate::{CheckReport, ComponentFile, ReleaseError, Signature, TrustPolicy, check};

/// Options of an installation.
#[derive(Clone, Debug)]
pub struct InstallOptions {
    /// Promote it at once.
    pub now: bool,
    /// Name of the person who installs.
    pub by: String,
    /// Reason.
    pub reason: Option<String>,
    /// The component's signature, not yet verified.
    pub signature: Option<Signature>,
    /// Place in a registry that it came from; none for a file.
    pub origin: Option<ReleaseOrigin>,
}

/// A release that has been recorded.
#[derive(Clone, Debug)]
pub struct InstalledRelease {
    /// Its identity.
    pub id: ReleaseId,
    /// The plugin's own version.
    pub version: String,
    /// Its state now.
    pub state: ReleaseState,
    /// Set where it was in that state before, so that nothing was done.
    pub unchanged: bool,
    /// The release that served before, if there was one.
    pub before: Option<ReleaseId>,
    /// The release that its name is pinned to, which serves whatever is installed.
    pub pinned: Option<ReleaseId>,
    /// Report of its check.
    pub report: CheckReport,
}

/// Checks `component` in `sandbox` and records it. Where that is wished for it is promoted, and so
/// it is where nothing of its name serves yet, and where nothing compares releases of its kind;
/// otherwise it waits as `installed` beside the release that serves, to be compared with it.
///
/// # Errors
/// [`ReleaseError::Untrusted`] before anything of it is compiled; [`ReleaseError::CheckFailed`]
/// when it does not pass its check; [`ReleaseError::NameTaken`] when it is a format and a transform
/// has its name, or the other way round; or what store and catalog fail with.
pub async fn install(
    store: &Catalog,
    files: &ObjectStorage,
    sandbox: &Arc<Sandbox>,
    trust: &TrustPolicy,
    component: ComponentFile,
    wish: InstallOptions,
) -> Result<InstalledRelease, ReleaseError> {
    let InstallOptions { now, by, reason, signature, origin } = wish;
    trust.verify(&component.bytes, signature.as_ref())?;
    let (sandbox, tried) = (Arc::clone(sandbox), component.clone());
    let checked = tokio::task::spawn_blocking(move || check(&sandbox, &tried))
        .await
        .map_err(|_| ReleaseError::Panicked)?;
    let plugin = match checked.plugin {
        Some(plugin) if checked.report.passed() => plugin,
        _ => return Err(ReleaseError::CheckFailed(Box::new(checked.report))),
    };
    let known = store.releases().await?;
    let id = id(&plugin);
    if let Some(kind) = taken_by(&id, &known) {
        return Err(ReleaseError::NameTaken { name: id.name, kind });
    }
    let serves =
        lines(&known).into_iter().find(|line| line.kind == id.kind && line.name == id.name);
    let first = serves.and_then(|line| line.candidates.into_iter().next());
    let pinned = first.as_ref().filter(|first| first.pinned).map(|first| first.id.clone());
    let before = first.map(|release| release.id);
    // Nothing serves, so there is nobody to protect from it.
    let state = if now || before.is_none() || !is_compared(id.kind) {
        ReleaseState::Promoted
    } else {
        ReleaseState::Installed
    };
    let digest = component.digest;
    store_component(store, files, component.bytes.into()).await?;
    if let Some(signature) = &signature {
        // Beside the bytes that it vouches for: hosts believe neither the store nor the catalogue.
        files.put_signature(&digest, signature.as_str().to_owned().into()).await?;
    }
    let done = |state, unchanged| InstalledRelease {
        id: id.clone(),
        version: plugin.version().to_owned(),
        state,
        unchanged,
        before: before.clone(),
        pinned: pinned.clone(),
        report: checked.report.clone(),
    };
    let fresh = PluginRelease {
        reason: reason.clone(),
        origin,
        ..new_release(&plugin, by.clone(), false, state)
    };
    if store.register_release(&fresh).await? {
        return Ok(done(state, false));
    }
    let stands = known.iter().find(|release| release.id == id).map(|release| release.state);
    if before.as_ref() == Some(&id) || (stands == Some(ReleaseState::Promoted) && !now) {
        return Ok(done(ReleaseState::Promoted, true));
    }
    if stands == Some(state) && !now {
        return Ok(done(state, true));
    }
    let reason = reason.or_else(|| Some("installed again".to_owned()));
    change_state(store, &id, state, &by, reason).await?;
    Ok(done(state, false))
}

/// Kind of the releases that have the name of a format or a transform and are the other one of the
/// two: `NAME.option` could be meant for either.
fn taken_by(id: &ReleaseId, known: &[PluginRelease]) -> Option<PluginKind> {
    let other = match id.kind {
        PluginKind::Encoder => PluginKind::Transform,
        PluginKind::Transform => PluginKind::Encoder,
        PluginKind::Adapter | PluginKind::Generator | PluginKind::Reader => return None,
    };
    let has_name = |release: &PluginRelease| {
        release.id.kind == other
            && release.id.name == id.name
            && release.state != ReleaseState::Removed
    };
    known.iter().any(has_name).then_some(other)
}
