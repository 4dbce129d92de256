//! `yearbook plugin outdated`: releases whose tag in a registry names another component now
//! (contract-14-outdated). A release that another one has replaced is kept for a rollback, and is
//! left out. Reads the catalog, asks registries, changes neither.

use std::collections::HashSet;

use anyhow::Context as _;
use futures::StreamExt as _;
use serde_json::{Map, Value, json};
use yearbook_catalog::{PluginRelease, ReleaseId, ReleaseState, lines};
use yearbook_domain::Digest;
use yearbook_registry::RegistryReference;

use super::source::{open, pull};
use crate::context::CommandContext;
use crate::output::{DetailedError, TextTable, error_chain, pluralize};

/// Registries that are asked at the same time.
const AT_ONCE: usize = 8;

/// A release whose tag has moved.
struct OutdatedRelease {
    release: PluginRelease,
    reference: RegistryReference,
    newer: Digest,
    newer_manifest: Digest,
}

pub(super) async fn run(context: &CommandContext) -> anyhow::Result<()> {
    let store = context.catalog().await?;
    let releases = store.releases().await.context("cannot list plugins")?;
    store.close().await;
    let (mut serving, mut replaced) = (HashSet::new(), HashSet::new());
    for line in lines(&releases) {
        let Some(first) = line.candidates.into_iter().next() else { continue };
        let of_line = releases.iter().map(|release| &release.id);
        let others = of_line.filter(|id| (id.kind, &id.name) == (line.kind, &line.name));
        let waiting = line.waiting.map(|release| release.id);
        replaced.extend(others.filter(|id| **id != first.id && Some(*id) != waiting.as_ref()));
        serving.insert(first.id);
    }
    let in_use = releases.iter().filter(|release| !replaced.contains(&release.id));
    let tags = by_tag(in_use.filter_map(with_tag));
    let asked = tags.len();
    let (outdated, failures) = ask(context, tags).await;
    let known = |found: &OutdatedRelease| {
        let id = ReleaseId { digest: found.newer, ..found.release.id.clone() };
        releases.iter().any(|release| release.id == id && release.state != ReleaseState::Removed)
    };
    let values: Vec<Value> = outdated
        .iter()
        .map(|found| to_json(found, serving.contains(&found.release.id), known(found)))
        .collect();
    context.output.print_result(&values, || {
        let columns = ["name", "kind", "version", "serves", "digest", "newer", "installed", "from"];
        let rows = outdated.iter().map(|found| {
            let yes = |yes: bool| if yes { "yes" } else { "" }.to_owned();
            [
                found.release.id.name.clone(),
                found.release.id.kind.to_string(),
                found.release.version.clone(),
                yes(serving.contains(&found.release.id)),
                found.release.id.digest.short().to_owned(),
                found.newer.short().to_owned(),
                yes(known(found)),
                found.reference.to_string(),
            ]
        });
        match (asked, outdated.is_empty()) {
            (0, _) => "No release was installed from a tag of a registry.".to_owned(),
            (_, true) if failures.is_empty() => {
                "Every tag names the component that is installed.".to_owned()
            }
            (_, true) => "No tag that could be read has moved.".to_owned(),
            _ => {
                TextTable::new(&columns).with_rows(rows).render()
                    + "\nInstall what is newer with `yearbook plugin install` and the reference."
            }
        }
    })?;
    if failures.is_empty() { Ok(()) } else { Err(unanswered(asked, &failures).into()) }
}

/// Releases that may serve and came by a tag.
fn with_tag(release: &PluginRelease) -> Option<(PluginRelease, RegistryReference)> {
    let in_use = matches!(
        release.state,
        ReleaseState::Installed | ReleaseState::Promoted | ReleaseState::Quarantined
    );
    let reference = RegistryReference::parse(&release.origin.as_ref()?.reference).ok()?.by_tag()?;
    in_use.then(|| (release.clone(), reference))
}

/// Releases that came by the same tag.
type ByTag = (RegistryReference, Vec<PluginRelease>);

/// The releases by their tags, each of which is asked for once.
fn by_tag(tagged: impl Iterator<Item = (PluginRelease, RegistryReference)>) -> Vec<ByTag> {
    let mut found: Vec<ByTag> = Vec::new();
    for (release, reference) in tagged {
        match found.iter_mut().find(|(known, _)| *known == reference) {
            Some((_, releases)) => releases.push(release),
            None => found.push((reference, vec![release])),
        }
    }
    found
}

/// Asks for every tag, a few at a time; what has moved, and what could not be asked.
async fn ask(
    context: &CommandContext,
    tags: Vec<ByTag>,
) -> (Vec<OutdatedRelease>, Vec<(RegistryReference, String)>) {
    let (mut outdated, mut failures) = (Vec::new(), Vec::new());
    let asked = tags.into_iter().map(|(reference, releases)| async move {
        (compare(context, releases, &reference).await, reference)
    });
    let mut answers = futures::stream::iter(asked).buffered(AT_ONCE);
    while let Some((answer, reference)) = answers.next().await {
        match answer {
            Ok(found) => outdated.extend(found),
            Err(error) => failures.push((reference, error_chain(&error).join(": "))),
        }
    }
    (outdated, failures)
}

/// Compares the component that the tag names now with the releases that came by it. A manifest that
/// is new may name the same one, and a core module is made a component before it is compared.
async fn compare(
    context: &CommandContext,
    releases: Vec<PluginRelease>,
    reference: &RegistryReference,
) -> anyhow::Result<Vec<OutdatedRelease>> {
    let mut registry = open(context, reference).await?;
    let named = registry.resolve().await?;
    let differs = |release: &PluginRelease| {
        let manifest = release.origin.as_ref().map(|origin| origin.manifest);
        manifest != Some(named.manifest) && named.file != release.id.digest
    };
    let moved: Vec<PluginRelease> = releases.into_iter().filter(differs).collect();
    if moved.is_empty() {
        return Ok(Vec::new());
    }
    let (component, newer_manifest) = pull(&mut registry, context, reference).await?;
    let newer = component.digest;
    let outdated = moved.into_iter().filter(|release| release.id.digest != newer);
    Ok(outdated
        .map(|release| OutdatedRelease {
            release,
            reference: reference.clone(),
            newer,
            newer_manifest,
        })
        .collect())
}

fn to_json(found: &OutdatedRelease, serves: bool, installed: bool) -> Value {
    let OutdatedRelease { release, reference, newer, newer_manifest } = found;
    json!({
        "name": release.id.name,
        "kind": release.id.kind,
        "version": release.version,
        "digest": release.id.digest,
        "state": release.state,
        "serves": serves,
        "reference": reference.to_string(),
        "reference_manifest": release.origin.as_ref().map(|origin| &origin.manifest),
        "newer": newer,
        "newer_manifest": newer_manifest,
        "installed": installed,
    })
}

fn unanswered(asked: usize, failures: &[(RegistryReference, String)]) -> DetailedError {
    let number = pluralize(asked.try_into().unwrap_or(u64::MAX), "reference");
    let text: String =
        failures.iter().map(|(reference, error)| format!("\n  {reference}: {error}")).collect();
    let json = |(reference, error): &(RegistryReference, String)| json!({ "reference": reference.to_string(), "error": error });
    let failed: Vec<Value> = failures.iter().map(json).collect();
    DetailedError {
        message: format!("{} of {number} could not be asked", failures.len()),
        text,
        members: Map::from_iter([("failures".to_owned(), Value::from(failed))]),
    }
}
