//! `yearbook plugin outdated`: releases whose tag in a registry names another component now
//! (contract-14-outdated). Reads the catalog, asks registries, changes neither.

use std::collections::HashSet;

use anyhow::Context as _;
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;
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
    let serving: HashSet<ReleaseId> = lines(&releases)
        .into_iter()
        .filter_map(|line| line.candidates.into_iter().next().map(|release| release.id))
        .collect();
    let tagged: Vec<(PluginRelease, RegistryReference)> =
        releases.iter().filter_map(with_tag).collect();
    let asked = tagged.len();
    let (outdated, failures) = ask(context, tagged).await?;
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
        let mut table = TextTable::new(&columns);
        for found in &outdated {
            let yes = |yes: bool| if yes { "yes" } else { "" }.to_owned();
            table.row([
                found.release.id.name.clone(),
                found.release.id.kind.to_string(),
                found.release.version.clone(),
                yes(serving.contains(&found.release.id)),
                found.release.id.digest.short().to_owned(),
                found.newer.short().to_owned(),
                yes(known(found)),
                found.reference.to_string(),
            ]);
        }
        match (asked, table.is_empty()) {
            (0, _) => "No release was installed from a tag of a registry.".to_owned(),
            (_, true) if failures.is_empty() => {
                "Every tag names the component that is installed.".to_owned()
            }
            (_, true) => "No tag that could be read has moved.".to_owned(),
            _ => {
                table.render()
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

/// Asks for every release, a few at a time; what has moved, and what could not be asked.
async fn ask(
    context: &CommandContext,
    tagged: Vec<(PluginRelease, RegistryReference)>,
) -> anyhow::Result<(Vec<OutdatedRelease>, Vec<(RegistryReference, String)>)> {
    let (mut outdated, mut failures) = (Vec::new(), Vec::new());
    for some in tagged.chunks(AT_ONCE) {
        let mut asked = JoinSet::new();
        for (at, (release, reference)) in some.iter().cloned().enumerate() {
            let context = context.clone();
            asked.spawn(async move {
                (at, reference.clone(), compare(&context, release, reference).await)
            });
        }
        let mut answers = Vec::new();
        while let Some(answer) = asked.join_next().await {
            answers.push(answer.context("a question to a registry was cut short by a panic")?);
        }
        answers.sort_by_key(|(at, ..)| *at);
        for (_, reference, answer) in answers {
            match answer {
                Ok(found) => outdated.extend(found),
                Err(error) => failures.push((reference, error_chain(&error).join(": "))),
            }
        }
    }
    Ok((outdated, failures))
}

/// Compares the component that the tag names now with the release. A manifest that is new may name
/// the same one, and a core module is made a component before it is compared.
async fn compare(
    context: &CommandContext,
    release: PluginRelease,
    reference: RegistryReference,
) -> anyhow::Result<Option<OutdatedRelease>> {
    let mut registry = open(context, &reference).await?;
    let named = registry.resolve().await?;
    let same_manifest =
        release.origin.as_ref().is_some_and(|origin| origin.manifest == named.manifest);
    if same_manifest || named.file == release.id.digest {
        return Ok(None);
    }
    let (component, manifest) = pull(&mut registry, context, &reference).await?;
    if component.digest == release.id.digest {
        return Ok(None);
    }
    let (newer, newer_manifest) = (component.digest, manifest);
    Ok(Some(OutdatedRelease { release, reference, newer, newer_manifest }))
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
