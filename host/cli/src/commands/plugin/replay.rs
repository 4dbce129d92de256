//! `yearbook plugin replay`: repeats a call that failed, and reports the outcome.

use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::json;
use yearbook_domain::Digest;
use yearbook_releases::{CheckReport, DumpReadError, read_dump};
use yearbook_sandbox::{FailureDump, GuestLogLine, ReplayResult, SandboxConfig};

use crate::arguments::PluginSource;
use crate::context::CommandContext;
use crate::output::{pluralize, render_facts};
use crate::{builtin, plugin_runtime};

/// Component, and the place where it was found.
struct LocatedComponent {
    bytes: Vec<u8>,
    digest: Digest,
    place: String,
}

pub(super) async fn run(
    context: &CommandContext,
    file: &Path,
    named: Option<&PluginSource>,
) -> anyhow::Result<()> {
    let dump = open_dump(file).with_context(|| format!("cannot replay {}", file.display()))?;
    let found = match named {
        Some(plugin) => {
            let component = plugin.load(context).await?;
            LocatedComponent {
                bytes: component.bytes,
                digest: component.digest,
                place: plugin.to_string(),
            }
        }
        None => find_component(context, &dump.about.component.digest).await?,
    };
    let config = SandboxConfig {
        limits: CheckReport::limits(dump.about.limits),
        ..SandboxConfig::default()
    };
    let sandbox = plugin_runtime::new_sandbox(config, context.workers())?;
    let (call, bytes) = (dump.clone(), found.bytes.clone());
    let replayed = tokio::task::spawn_blocking(move || sandbox.replay(&bytes, &call)).await?;
    let replayed = replayed
        .with_context(|| format!("{} was not called: {}", found.digest.short(), found.place))?;
    let outcome = match &replayed.failed {
        None => "succeeds",
        Some(_) if replayed.reproduces(&dump) => "fails_as_before",
        Some(_) => "fails_otherwise",
    };
    let value = json!({
        "outcome": outcome,
        "component": found.digest,
        "dump": dump.about,
        "failed": replayed.failed.as_ref().map(|failed| json!({ "call": failed.call, "kind": failed.failure.kind, "message": failed.failure.message })),
        "log": replayed.log,
        "bytes": replayed.bytes,
    });
    context.output.print_result(&value, || render(&dump, &found, &replayed))?;
    match outcome {
        "succeeds" => Ok(()),
        "fails_as_before" => bail!("it fails as before"),
        _ => bail!("it fails, but otherwise than before"),
    }
}

fn render(dump: &FailureDump, found: &LocatedComponent, replayed: &ReplayResult) -> String {
    let about = &dump.about;
    let component = &about.component;
    let logged = |line: &GuestLogLine| ("", format!("{}: {}", line.level, line.message));
    let (failure, digest) = (&about.failure, component.digest.short());
    let mut facts = vec![
        (
            "dump",
            format!("{} {} ({}, {digest})", component.name, component.version, component.kind),
        ),
        ("failed at", format!("{}: {} ({})", describe_call(dump), failure.message, failure.kind)),
    ];
    facts.extend(about.log.iter().map(logged));
    let same = if found.digest == component.digest { "the same" } else { "another" };
    let called = format!("{} from {}: {same} component", found.digest.short(), found.place);
    facts.push(("called", called));
    facts.extend(replayed.log.iter().map(logged));
    let now = match &replayed.failed {
        None => format!("it succeeds, and returns {} bytes", replayed.bytes),
        Some(failed) => {
            format!("{}: {} ({})", failed.call, failed.failure.message, failed.failure.kind)
        }
    };
    facts.push(("now", now));
    let mut text = render_facts(facts);
    let unseen = about.before.parts.saturating_sub(usize::from(about.call.name() == "tail"));
    if unseen > 0 && !replayed.reproduces(dump) {
        text += &format!(
            "Before, the instance had made {}, of which the dump holds nothing: a failure that depends on that is not seen here.",
            pluralize(unseen as u64, "part")
        );
    }
    text
}

/// Opens a failure dump. A damaged file can make the library that reads it panic; that is reported
/// as an error and not a second time by the panic hook.
fn open_dump(file: &Path) -> Result<FailureDump, DumpReadError> {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let opened = read_dump(file);
    std::panic::set_hook(before);
    opened
}

/// Call with the size of its input.
fn describe_call(dump: &FailureDump) -> String {
    let call = dump.about.call;
    match (&dump.batch, &dump.request) {
        (Some(batch), _) if call.name() == "part" => {
            format!(
                "{call} of {} and {}",
                pluralize(batch.num_rows() as u64, "row"),
                pluralize(batch.num_columns() as u64, "column")
            )
        }
        (_, Some(request)) => {
            format!("{call} for {}", pluralize(request.datasets.len() as u64, "dataset"))
        }
        _ => call.to_string(),
    }
}

/// Finds the release with this digest: one that came with the binary, or one that was installed.
async fn find_component(
    context: &CommandContext,
    digest: &Digest,
) -> anyhow::Result<LocatedComponent> {
    // A binary without plugins still has a catalogue.
    let built_in = builtin::components(context.plugins_dir.as_deref()).unwrap_or_default();
    let is_it = |bytes: &[u8]| Digest::compute(bytes) == *digest;
    if let Some(component) = built_in.into_iter().find(|component| is_it(&component.bytes)) {
        return Ok(LocatedComponent {
            bytes: component.bytes,
            digest: *digest,
            place: component.by,
        });
    }
    let store = context.catalog().await?;
    let releases = store.releases().await.context("cannot list plugins");
    store.close().await;
    let Some(release) = releases?.into_iter().find(|release| release.id.digest == *digest) else {
        bail!(
            "no release of this data directory has the digest {digest}; name the component with --component FILE.wasm"
        );
    };
    let bytes = context
        .files()?
        .get_component(digest, release.bytes)
        .await
        .context("cannot read the component from the object store")?;
    Ok(LocatedComponent {
        bytes: bytes.to_vec(),
        digest: *digest,
        place: "the object store".to_owned(),
    })
}
