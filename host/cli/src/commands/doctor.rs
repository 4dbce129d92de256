//! `yearbook doctor`: looks at everything that a server needs, and says what to do about what is
//! wrong. Changes nothing but what opening the database changes (it is brought up to date).

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use serde::Serialize;
use yearbook_catalog::{PluginRelease, Store};
use yearbook_snapshot::Files;

use crate::context::{Context, without_password};
use crate::output::Table;
use crate::plugins;

/// Names of damaged things that one line lists; the rest are counted.
const NAMED: usize = 5;

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Ok,
    Warn,
    Fail,
}

/// One check.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    status: Status,
    message: String,
}

pub(super) async fn run(context: &Context) -> anyhow::Result<()> {
    let fresh = !context.settings.data_dir.exists();
    let values = &context.settings.values;
    let mut checks = vec![check("settings", settings(context)), check("data directory", data_dir(&context.settings.data_dir))];

    // A fresh data directory is made by `serve`, not by looking at it.
    let mut store = None;
    let found = if fresh && values.database.url.is_none() { later() } else { database(context, &mut store).await };
    checks.push(check("database", found));
    let mut files = None;
    let found = if fresh && values.storage.url.is_none() { later() } else { object_store(context, &mut files).await };
    checks.push(check("object store", found));
    if let (Some(store), Some(files)) = (&store, &files) {
        checks.push(check("snapshots", snapshots(&**store, files).await));
        checks.push(check("releases", releases(&**store, files).await));
    }
    checks.push(check("plugins", plugins(context, fresh).await));
    report(context, &checks)
}

fn report(context: &Context, checks: &[Check]) -> anyhow::Result<()> {
    context.output.result(&checks, || {
        let mut table = Table::new(&["check", "", "finding"]);
        for check in checks {
            let status = match check.status {
                Status::Ok => "ok",
                Status::Warn => "warn",
                Status::Fail => "FAIL",
            };
            table.row([check.name.to_owned(), status.to_owned(), check.message.clone()]);
        }
        table.render()
    })?;
    match checks.iter().filter(|check| check.status == Status::Fail).count() {
        0 => Ok(()),
        1 => bail!("1 check failed"),
        failed => bail!("{failed} checks failed"),
    }
}

/// The outcome of a check; an error is a failure told by its chain.
fn check(name: &'static str, outcome: anyhow::Result<(Status, String)>) -> Check {
    let (status, message) = outcome.unwrap_or_else(|error| (Status::Fail, crate::output::sentences(&error).join(": ")));
    Check { name, status, message }
}

fn settings(context: &Context) -> anyhow::Result<(Status, String)> {
    let from = context
        .settings
        .file
        .as_deref()
        .map_or_else(|| "no settings file; variables and defaults".to_owned(), |path| path.display().to_string());
    Ok((Status::Ok, from))
}

fn data_dir(path: &Path) -> anyhow::Result<(Status, String)> {
    if !path.exists() {
        return Ok((Status::Ok, format!("{} is made when it is first needed", path.display())));
    }
    let probe = path.join(format!(".doctor-{}", std::process::id()));
    std::fs::write(&probe, b"").with_context(|| format!("{} is not writable; give it to this user", path.display()))?;
    std::fs::remove_file(&probe).with_context(|| format!("cannot remove {}", probe.display()))?;
    let mode = std::fs::metadata(path).with_context(|| format!("cannot look at {}", path.display()))?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Ok((
            Status::Warn,
            format!("{0} is open to other users (mode {mode:03o}); it holds secrets: chmod 700 {0}", path.display()),
        ));
    }
    Ok((Status::Ok, format!("{} is writable", path.display())))
}

fn later() -> anyhow::Result<(Status, String)> {
    Ok((Status::Ok, "nothing there yet; made when it is first needed".to_owned()))
}

async fn database(context: &Context, opened: &mut Option<Arc<dyn Store>>) -> anyhow::Result<(Status, String)> {
    let store = opened.insert(context.catalogue().await?);
    store.ping().await?;
    let described = store.describe();
    let problems = store.check().await?;
    if let Some(first) = problems.first() {
        bail!("{} of {} {}: {first}", problems.len(), described.kind, described.location);
    }
    Ok((Status::Ok, format!("{} {} answers, is up to date and sound", described.kind, described.location)))
}

async fn object_store(context: &Context, opened: &mut Option<Files>) -> anyhow::Result<(Status, String)> {
    opened.insert(context.files()?).ping().await?;
    Ok((Status::Ok, format!("{} answers", without_password(&context.settings.storage_url()))))
}

/// Every current snapshot's file must be there whole; an older one that is not is a warning, since
/// only pinned requests and cursors need it.
async fn snapshots(store: &dyn Store, files: &Files) -> anyhow::Result<(Status, String)> {
    let datasets = store.datasets().await?;
    let mut broken = Vec::new();
    for dataset in &datasets {
        if !files.exists(&dataset.current.file).await? {
            broken.push(dataset.name.to_string());
        }
    }
    if !broken.is_empty() {
        let (first, rest) = broken.split_at(broken.len().min(NAMED));
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        bail!("the stored file of {}{more} is missing or has the wrong size; restore it, or publish the package again", first.join(", "));
    }
    let mut old = 0;
    for file in store.referenced_files().await? {
        old += usize::from(!files.exists(&file).await?);
    }
    if old > 0 {
        return Ok((
            Status::Warn,
            format!("{old} stored files of older snapshots are missing or have the wrong size; requests that pin them fail"),
        ));
    }
    Ok((Status::Ok, format!("the stored files of {} datasets are there", datasets.len())))
}

/// Every release that may serve must have its bytes; what the binary carries it has anyway.
async fn releases(store: &dyn Store, files: &Files) -> anyhow::Result<(Status, String)> {
    let candidates = yearbook_catalog::lines(&store.releases().await?).into_iter().flat_map(|line| line.candidates);
    let installed: Vec<PluginRelease> = candidates.filter(|release| !release.built_in).collect();
    let mut broken = Vec::new();
    for release in &installed {
        if let Err(failure) = files.get_component(&release.id.digest, release.bytes).await {
            broken.push(format!("{} {}: {failure}", release.id.name, release.version));
        }
    }
    match broken.first() {
        None => Ok((Status::Ok, format!("the components of {} installed releases are there", installed.len()))),
        Some(first) => bail!("{} of {} installed releases cannot be loaded, such as {first}", broken.len(), installed.len()),
    }
}

async fn plugins(context: &Context, fresh: bool) -> anyhow::Result<(Status, String)> {
    let registry = plugins::load(context, context.workers(), !fresh).await?;
    let plugins = registry.current();
    let formats = plugins.encoders().map(|encoder| encoder.description().format.as_str());
    let tools = plugins.generators().map(|generator| generator.description().tool.as_str());
    Ok((Status::Ok, format!("{} load", formats.chain(tools).collect::<Vec<_>>().join(", "))))
}
