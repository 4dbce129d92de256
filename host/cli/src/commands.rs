//! Commands, one file each; the two shortest are here. A command opens what it needs from the
//! [`CommandContext`], calls the crate that knows, and hands the result to the output. Never reads
//! arguments or environment.

mod datasets;
mod doctor;
mod gc;
mod keys;
mod log;
mod migrate;
mod plugin;
mod publish;
mod refresh;
mod release;
mod serve;
mod share;
mod signup;
mod webhooks;

use anyhow::Context as _;
use serde_json::json;

use crate::arguments::Command;
use crate::context::CommandContext;
use crate::{http_client, plugin_runtime};

/// Runs `command`.
///
/// # Errors
/// Every failure of the command, as a chain of sentences.
pub async fn run(context: &CommandContext, command: Command) -> anyhow::Result<()> {
    match command {
        Command::Serve { .. } => serve::run(context).await,
        Command::Publish { paths, release, .. } => {
            Box::pin(publish::run(context, &paths, &release)).await
        }
        Command::Refresh { paths, due } => Box::pin(refresh::run(context, paths, due)).await,
        Command::Keys(keys) => keys::run(context, keys).await,
        Command::Share(share) => share::run(context, share).await,
        Command::Signup(signup) => signup::run(context, signup).await,
        Command::Webhooks(webhooks) => webhooks::run(context, webhooks).await,
        Command::Datasets(datasets) => datasets::run(context, datasets).await,
        Command::Log(log) => log::run(context, log).await,
        Command::Release(release) => release::run(context, release).await,
        Command::Plugin(plugin) => plugin::run(context, plugin).await,
        Command::Openapi => print_openapi(context).await,
        Command::Doctor { deep } => doctor::run(context, deep).await,
        Command::Gc { dry_run } => gc::run(context, dry_run).await,
        Command::Health { url } => check_health(context, url).await,
        Command::Migrate => migrate::run(context).await,
    }
}

/// `yearbook openapi`: prints the OpenAPI document, for code generators and reviews, without a
/// server (contract-4-openapi).
async fn print_openapi(context: &CommandContext) -> anyhow::Result<()> {
    // Compiled plugins of a server are used where there are any; a data directory is not made for a
    // look at the interface.
    let cached =
        context.settings.cache_dir().is_dir() && context.settings.cache_key_file().is_file();
    let registry = plugin_runtime::load_built_in(context, context.workers(), cached).await?;
    let document = yearbook_server::openapi(
        &context.settings.values.http_settings().core(),
        &registry.current(),
    );
    let text = serde_json::to_string_pretty(&document)?;
    context.output.print_result(&document, || text)
}

/// `yearbook health`: checks that a running server is alive, for containers that have no other
/// HTTP client.
async fn check_health(context: &CommandContext, url: Option<String>) -> anyhow::Result<()> {
    let server = &context.settings.values.server;
    let url = url.unwrap_or_else(|| {
        let listener = server.admin_listen.unwrap_or(server.listen);
        format!("http://{}", http_client::connect_address(listener))
    });
    http_client::get(&url, "/health", http_client::TIMEOUT)
        .await
        .with_context(|| format!("the server at {url} is not alive"))?;
    context.output.print_result(&json!({ "status": "ok" }), || "ok".to_owned())
}
