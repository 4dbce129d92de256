//! `yearbook plugin dev`: an author's loop. Every change in the plugin's folder is built, served
//! and asked for; what became of the answer is printed, and what it cost. The plugin that serves is
//! replaced before it is checked, so that an answer never waits for the check. Never touches the
//! data directory of the settings.

mod answer;
mod local_server;
mod project_folder;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::json;
use yearbook_outbound::Url;
use yearbook_releases::ComponentFile;
use yearbook_sandbox::adapter::Method;
use yearbook_sandbox::{Plugin, PluginAdapter};

use super::check::render_report;
use super::source::read_component;
use crate::commands::serve;
use crate::context::CommandContext;
use crate::output::error_chain;

use answer::{ServedAnswer, changed_lines};
use local_server::LocalServer;
use project_folder::ProjectFolder;

pub(super) async fn run(
    context: &CommandContext,
    folder: PathBuf,
    request: Option<&str>,
    data: &[PathBuf],
) -> anyhow::Result<()> {
    let stop = serve::stop_signal()?;
    tokio::select! {
        done = follow(context, ProjectFolder::open(folder)?, request, data) => done,
        () = stop => Ok(()),
    }
}

async fn follow(
    context: &CommandContext,
    folder: ProjectFolder,
    request: Option<&str>,
    data: &[PathBuf],
) -> anyhow::Result<()> {
    let server = Box::pin(LocalServer::start(context, data, &folder.dumps())).await?;
    let LocalServer { url, key, .. } = &server;
    context.output.print_result(&json!({ "listening": url, "key": key }), || {
        format!("listening on {url}; its X-API-Key: {key}")
    })?;
    // Whether a build of this loop takes part in requests, and the last answer to one.
    let (mut serves, mut before) = (false, None);
    loop {
        let stamp = folder.stamp();
        match Build::make(context, &folder, &server).await {
            Ok(build) => {
                server.serve(&build.plugin);
                serves = !matches!(build.plugin, Plugin::Reader(_));
                if let Err(error) =
                    print_answer(context, &server, &build, request, &mut before).await
                {
                    print_failure(context, &error, "")?;
                }
                // Whoever goes on writing does not wait for it.
                tokio::select! {
                    done = print_findings(context, &server, build.component) => done?,
                    () = folder.changed(&stamp) => {}
                }
            }
            Err(error) => {
                let kept = if serves { "; the build before goes on serving" } else { "" };
                print_failure(context, &error, kept)?;
            }
        }
        folder.changed(&stamp).await;
    }
}

/// A plugin as it was built and loaded.
struct Build {
    plugin: Plugin,
    component: ComponentFile,
    begun: Instant,
    took: Duration,
}

impl Build {
    async fn make(
        context: &CommandContext,
        folder: &ProjectFolder,
        server: &LocalServer,
    ) -> anyhow::Result<Self> {
        let begun = Instant::now();
        let file = folder.build().await?;
        let took = begun.elapsed();
        let component = read_component(context, &file)?;
        let (sandbox, bytes) = (server.sandbox(), component.bytes.clone());
        let loaded = tokio::task::spawn_blocking(move || sandbox.load(&bytes)).await?;
        let plugin = loaded.context("it is refused")?;
        Ok(Self { plugin, component, begun, took })
    }
}

/// Asks the plugin that serves for an answer, and prints it beside the one before.
async fn print_answer(
    context: &CommandContext,
    server: &LocalServer,
    build: &Build,
    request: Option<&str>,
    before: &mut Option<ServedAnswer>,
) -> anyhow::Result<()> {
    let Build { plugin, component, begun, took } = build;
    let path = request
        .map_or_else(|| default_request(plugin, &server.dataset), |path| Some(path.to_owned()));
    let mut value = json!({
        "plugin": plugin.name(),
        "version": plugin.version(),
        "kind": plugin.kind(),
        "digest": component.digest,
        "build_ms": milliseconds(*took),
        "request": path,
    });
    let mut text = format!(
        "\n{} {} ({}, {}), built in {:.1} s",
        plugin.name(),
        plugin.version(),
        plugin.kind(),
        component.digest.short(),
        took.as_secs_f64()
    );
    if let Some(path) = path {
        let answer = server.ask(&path, &component.digest).await?;
        let changes = changed_lines(before.as_ref(), &answer);
        value["answer"] = answer.facts(&changes, begun.elapsed() - *took);
        text += &format!("\nGET {path}\n{}", answer.render(before.as_ref(), &changes));
        *before = Some(answer);
    }
    context.output.print_result(&value, || text)
}

fn print_failure(
    context: &CommandContext,
    error: &anyhow::Error,
    kept: &str,
) -> anyhow::Result<()> {
    let failed = error_chain(error).join(": ");
    context.output.print_result(&json!({ "failed": failed }), || format!("{failed}{kept}"))
}

/// The check that an installation would make: after the answer, which does not wait for it.
async fn print_findings(
    context: &CommandContext,
    server: &LocalServer,
    component: ComponentFile,
) -> anyhow::Result<()> {
    let report = server.check(component, context.plugins_dir.clone()).await?;
    let value = json!({ "tried": report.tries, "findings": report.findings });
    context.output.print_result(&value, || {
        if report.passed() { "Nothing is wrong.".to_owned() } else { render_report(&report) }
    })
}

/// A request that the plugin takes part in; none for a reader, which no request reaches.
fn default_request(plugin: &Plugin, dataset: &str) -> Option<String> {
    let name = plugin.name();
    match plugin {
        Plugin::Encoder(_) => Some(format!("/v1/datasets/{dataset}/data?format={name}&limit=100")),
        Plugin::Transform(_) => {
            Some(format!("/v1/datasets/{dataset}/data?apply={name}&format=csv&limit=100"))
        }
        Plugin::Generator(_) => Some(format!("/v1/integrations/{name}?datasets={dataset}")),
        Plugin::Adapter(adapter) => example_request(adapter),
        Plugin::Reader(_) => None,
    }
}

/// The first example of an API that is no POST.
fn example_request(adapter: &PluginAdapter) -> Option<String> {
    let mut examples = adapter.description().examples.iter().map(|example| &example.request);
    let example = examples.find(|request| request.method == Method::Get)?;
    let mut address = Url::parse("http://localhost/api").ok()?;
    address.path_segments_mut().ok()?.push(adapter.name()).extend(&example.path);
    address.query_pairs_mut().extend_pairs(&example.query);
    // Not every API reads `+` as a space.
    let query = address.query().filter(|query| !query.is_empty());
    let query = query.map_or(String::new(), |query| format!("?{}", query.replace('+', "%20")));
    Some(format!("{}{query}", address.path()))
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e5).round() / 1e2
}
