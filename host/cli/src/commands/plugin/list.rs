//! `yearbook plugin list`: releases, those that serve, and the history of both.

use std::collections::{HashMap, HashSet};

use anyhow::Context as _;
use serde_json::{Value, json};
use yearbook_catalog::{PluginRelease, ReleaseId, lines};
use yearbook_domain::Digest;
use yearbook_releases::Signature;

use crate::context::CommandContext;
use crate::output::TextTable;

pub(super) async fn run(context: &CommandContext) -> anyhow::Result<()> {
    let store = context.catalog().await?;
    let releases = store.releases().await.context("cannot list plugins")?;
    let used = store.release_usage().await.context("cannot list the use of plugins")?;
    let used: HashMap<ReleaseId, (u64, u64)> =
        used.into_iter().map(|used| (used.id, (used.responses, used.failures))).collect();
    let used = |release: &PluginRelease| used.get(&release.id).copied().unwrap_or_default();
    let signers = signers(context, &releases).await?;
    let signer = |release: &PluginRelease| signers.get(&release.id.digest).cloned();
    let first = |line: yearbook_catalog::ServingOrder| {
        line.candidates.into_iter().next().map(|release| release.id)
    };
    let serving: HashSet<ReleaseId> = lines(&releases).into_iter().filter_map(first).collect();
    let values: Vec<Value> = releases
        .iter()
        .map(|release| {
            release_json(release, serving.contains(&release.id), used(release), signer(release))
        })
        .collect();
    context.output.print_result(&values, || {
        let columns = [
            "name",
            "kind",
            "version",
            "state",
            "serves",
            "digest",
            "#bytes",
            "#responses",
            "#failures",
            "installed",
            "by",
            "signed",
            "from",
            "reason",
        ];
        let rows = releases.iter().map(|release| {
            let serves = match (serving.contains(&release.id), release.pinned) {
                (true, true) => "pinned",
                (true, false) => "yes",
                _ => "",
            };
            [
                release.id.name.clone(),
                release.id.kind.to_string(),
                release.version.clone(),
                release.state.as_str().to_owned(),
                serves.to_owned(),
                release.id.digest.short().to_owned(),
                release.bytes.to_string(),
                used(release).0.to_string(),
                used(release).1.to_string(),
                release.installed_at.to_rfc3339(),
                release.by.clone(),
                signer(release).unwrap_or_default(),
                release.origin.as_ref().map(|from| from.reference.clone()).unwrap_or_default(),
                release.reason.clone().unwrap_or_default(),
            ]
        });
        TextTable::new(&columns).with_rows(rows).render_or(
            "No plugins are registered yet; `yearbook serve` registers the built-in ones.",
        )
    })
}

/// Keys that signatures beside components name, by digest. Hosts that ask for signatures verify
/// them when they load a release; here they are shown. A signature that the object store does not
/// give is left out, with one note for all.
async fn signers(
    context: &CommandContext,
    releases: &[PluginRelease],
) -> anyhow::Result<HashMap<Digest, String>> {
    let files = context.files()?;
    let mut signers = HashMap::new();
    for release in releases.iter().filter(|release| !release.built_in) {
        let digest = &release.id.digest;
        match files.get_signature(digest).await {
            Ok(Some(file)) => {
                if let Ok(signature) = Signature::from_bytes(&file).read() {
                    signers.insert(*digest, signature.key_id().to_owned());
                }
            }
            Ok(None) => {}
            Err(failure) => {
                context.output.note(&format!("who signed what is not known: {failure}"));
                break;
            }
        }
    }
    Ok(signers)
}

pub(super) async fn history(context: &CommandContext) -> anyhow::Result<()> {
    let events = context
        .catalog()
        .await?
        .release_events()
        .await
        .context("cannot list what happened to plugins")?;
    context.output.print_result(&events, || {
        let rows = events.iter().map(|event| {
            [
                event.at.to_rfc3339(),
                event.id.name.clone(),
                event.id.kind.to_string(),
                event.id.digest.short().to_owned(),
                event.what.clone(),
                event.by.clone(),
                event.reason.clone().unwrap_or_default(),
            ]
        });
        TextTable::new(&["when", "name", "kind", "digest", "what", "by", "reason"])
            .with_rows(rows)
            .render_or("Nothing has happened to plugins yet.")
    })
}

fn release_json(
    release: &PluginRelease,
    serves: bool,
    (responses, failures): (u64, u64),
    signer: Option<String>,
) -> Value {
    json!({
        "name": release.id.name,
        "kind": release.id.kind,
        "version": release.version,
        "state": release.state,
        "serves": serves,
        "pinned": release.pinned,
        "built_in": release.built_in,
        "digest": release.id.digest,
        "bytes": release.bytes,
        "responses": responses,
        "failures": failures,
        "installed_at": release.installed_at.to_rfc3339(),
        "installed_by": release.by,
        "signed_by": signer,
        "reference": release.origin.as_ref().map(|origin| &origin.reference),
        "reference_manifest": release.origin.as_ref().map(|origin| &origin.manifest),
        "reason": release.reason,
    })
}
