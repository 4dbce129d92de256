//! Actions of an operator on releases: roll back, remove, pin. Each leaves an event with who and
//! why in the catalog, which running hosts follow; nothing here touches a running host.

use std::collections::BTreeSet;

use yearbook_catalog::{Catalog, PluginRelease, ReleaseId, ReleaseState, ServingOrder, lines};
use yearbook_domain::PluginKind;

use crate::ReleaseError;
use crate::release_record::change_state;

/// Result of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseActionResult {
    /// Releases that stand elsewhere now.
    pub changed: Vec<ReleaseId>,
    /// Release that serves each kind of the name now; none: nothing serves.
    pub serving: Vec<(PluginKind, Option<PluginRelease>)>,
}

/// Takes the release of `name` that serves out of service; the one promoted before it serves again.
///
/// # Errors
/// [`ReleaseError::NotApplicable`] when nothing of the name serves, when it is pinned, or when
/// nothing could serve in its place.
pub async fn rollback(
    store: &Catalog,
    name: &str,
    by: &str,
    reason: Option<String>,
) -> Result<ReleaseActionResult, ReleaseError> {
    let releases = releases_named(store.releases().await?, name)?;
    let mut changed = Vec::new();
    for line in lines(&releases) {
        let [first, next, ..] = line.candidates.as_slice() else { continue };
        if first.pinned {
            let sentence = format!(
                "{name} is pinned to {}; take the pin away first: yearbook plugin pin {name} --off",
                first.id.digest.short()
            );
            return Err(ReleaseError::NotApplicable(sentence));
        }
        let reason = reason
            .clone()
            .or_else(|| Some(format!("back to {} ({})", next.id.digest.short(), next.version)));
        change_state(store, &first.id, ReleaseState::RolledBack, by, reason).await?;
        changed.push(first.id.clone());
    }
    if changed.is_empty() {
        return Err(ReleaseError::NotApplicable(format!(
            "{name} has no other promoted release to go back to; install one, or remove the plugin: yearbook plugin remove {name}"
        )));
    }
    action_result(store, name, changed).await
}

/// Removes every release of `name` that somebody installed. What is built in serves again.
///
/// # Errors
/// [`ReleaseError::NotApplicable`] when all that there is came with the binary.
pub async fn remove(
    store: &Catalog,
    name: &str,
    by: &str,
    reason: Option<String>,
) -> Result<ReleaseActionResult, ReleaseError> {
    let releases = releases_named(store.releases().await?, name)?;
    let installed = releases
        .iter()
        .filter(|release| !release.built_in && release.state != ReleaseState::Removed);
    let mut changed = Vec::new();
    for release in installed {
        change_state(store, &release.id, ReleaseState::Removed, by, reason.clone()).await?;
        changed.push(release.id.clone());
    }
    if changed.is_empty() {
        return Err(ReleaseError::NotApplicable(format!(
            "nobody installed a release of {name}; what is built in cannot be removed"
        )));
    }
    action_result(store, name, changed).await
}

/// Makes the release of `name` whose digest begins with `digest` serve, whatever is promoted later;
/// without a digest takes the name's pin away.
///
/// # Errors
/// [`ReleaseError::Digest`] unless exactly one release fits; [`ReleaseError::NotApplicable`] when
/// there is no pin to take away or the release was removed.
pub async fn pin(
    store: &Catalog,
    name: &str,
    digest: Option<&str>,
    by: &str,
) -> Result<ReleaseActionResult, ReleaseError> {
    let releases = releases_named(store.releases().await?, name)?;
    let Some(digest) = digest else {
        let pinned: Vec<&PluginRelease> =
            releases.iter().filter(|release| release.pinned).collect();
        if pinned.is_empty() {
            return Err(ReleaseError::NotApplicable(format!("{name} is not pinned")));
        }
        for release in &pinned {
            store.pin_release(&release.id, false, by, yearbook_catalog::clock::now()).await?;
        }
        return action_result(
            store,
            name,
            pinned.into_iter().map(|release| release.id.clone()).collect(),
        )
        .await;
    };
    let fitting: Vec<&PluginRelease> =
        releases.iter().filter(|release| release.id.digest.as_str().starts_with(digest)).collect();
    let &[release] = fitting.as_slice() else {
        return Err(ReleaseError::Digest {
            name: name.to_owned(),
            digest: digest.to_owned(),
            found: fitting.len(),
        });
    };
    if release.state == ReleaseState::Removed {
        return Err(ReleaseError::NotApplicable(format!(
            "{} of {name} was removed; install it again before it is pinned",
            release.id.digest.short()
        )));
    }
    if release.state != ReleaseState::Promoted {
        change_state(store, &release.id, ReleaseState::Promoted, by, Some("pinned".to_owned()))
            .await?;
    }
    if !store.pin_release(&release.id, true, by, yearbook_catalog::clock::now()).await?
        && !release.pinned
    {
        return Err(ReleaseError::StateChanged(release.id.clone(), release.state));
    }
    action_result(store, name, vec![release.id.clone()]).await
}

async fn action_result(
    store: &Catalog,
    name: &str,
    changed: Vec<ReleaseId>,
) -> Result<ReleaseActionResult, ReleaseError> {
    let releases = releases_named(store.releases().await?, name)?;
    let serving = |line: ServingOrder| (line.kind, line.candidates.into_iter().next());
    Ok(ReleaseActionResult {
        changed,
        serving: lines(&releases).into_iter().map(serving).collect(),
    })
}

/// Releases whose name is `name`, or whose kind and name are `KIND/NAME`. A reader may have the
/// name of an encoder, and what is meant for one must not befall the other.
fn releases_named(
    releases: Vec<PluginRelease>,
    name: &str,
) -> Result<Vec<PluginRelease>, ReleaseError> {
    let (kind, bare) = match name.split_once('/') {
        Some((kind, bare)) => (PluginKind::parse(kind), bare),
        None => (None, name),
    };
    let fits = |release: &PluginRelease| {
        release.id.name == bare && kind.is_none_or(|kind| release.id.kind == kind)
    };
    let found: Vec<PluginRelease> = releases.into_iter().filter(fits).collect();
    let kinds: BTreeSet<PluginKind> = found.iter().map(|release| release.id.kind).collect();
    if let (Some(first), true) = (kinds.first(), kinds.len() > 1) {
        let list: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
        return Err(ReleaseError::NotApplicable(format!(
            "{bare} is the name of several plugins: {}; say which one is meant, for example {first}/{bare}",
            list.join(", ")
        )));
    }
    if found.is_empty() { Err(ReleaseError::NoSuchPlugin(name.to_owned())) } else { Ok(found) }
}
