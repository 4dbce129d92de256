//! A release loaded from the object store outside of a host that serves, and the reader of a format
//! that an operator installed. Trust is judged as on every host that loads a component.

use std::sync::Arc;

use yearbook_catalog::{Catalog, PluginRelease, lines};
use yearbook_domain::PluginKind;
use yearbook_sandbox::{Plugin, PluginReader, Sandbox};
use yearbook_storage::ObjectStorage;

use crate::{ReleaseError, Signature, TrustPolicy};

/// Loads the installed reader of `format` in `sandbox`; none where nobody installed one.
///
/// # Errors
/// [`ReleaseError::Untrusted`] before anything of it is compiled, [`ReleaseError::NotApplicable`]
/// where the sandbox refuses it, or what store and catalog fail with.
pub async fn installed_reader(
    store: &Catalog,
    files: &ObjectStorage,
    sandbox: &Arc<Sandbox>,
    trust: &TrustPolicy,
    format: &str,
) -> Result<Option<Arc<PluginReader>>, ReleaseError> {
    let releases = store.releases().await?;
    let line = lines(&releases)
        .into_iter()
        .find(|line| line.kind == PluginKind::Reader && line.name == format);
    let Some(release) = line.and_then(|line| line.candidates.into_iter().next()) else {
        return Ok(None);
    };
    match load_release(files, sandbox, trust, &release).await? {
        Plugin::Reader(reader) => Ok(Some(reader)),
        _ => Err(ReleaseError::NotApplicable(format!(
            "the release {} is no reader; install it again",
            release.id.digest.short()
        ))),
    }
}

/// Loads `release` in `sandbox` as a host would that has never seen it.
///
/// # Errors
/// [`ReleaseError::Untrusted`] before anything of it is compiled, [`ReleaseError::NotApplicable`]
/// where the sandbox refuses it, or what the store fails with.
pub async fn load_release(
    files: &ObjectStorage,
    sandbox: &Arc<Sandbox>,
    trust: &TrustPolicy,
    release: &PluginRelease,
) -> Result<Plugin, ReleaseError> {
    let digest = release.id.digest;
    let signature =
        if trust.needs_signature() { files.get_signature(&digest).await? } else { None };
    let bytes = files.get_component(&digest, release.bytes).await?;
    let (sandbox, trust) = (Arc::clone(sandbox), trust.clone());
    let job = move || {
        let signature = signature.map(|file| Signature::from_bytes(&file));
        trust.verify(&bytes, signature.as_ref())?;
        sandbox.load(&bytes).map_err(|rejected| {
            ReleaseError::NotApplicable(format!(
                "the installed release {} cannot be loaded: {rejected}; install it again",
                digest.short()
            ))
        })
    };
    tokio::task::spawn_blocking(job).await.map_err(|_| ReleaseError::Panicked)?
}
