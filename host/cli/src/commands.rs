//! One file a command. A command opens what it needs from the [`Context`], calls the crate that
//! knows, and hands the result to the output.

mod datasets;
mod doctor;
mod gc;
mod health;
mod keys;
mod migrate;
mod openapi;
mod plugin;
mod publish;
mod serve;

use crate::arguments::Command;
use crate::context::CommandContext;

pub(crate) use plugin::check_name as check_plugin_name;

/// Runs `command`.
///
/// # Errors
/// Whatever the command meets, as a chain of sentences.
pub async fn run(context: &CommandContext, command: Command) -> anyhow::Result<()> {
    match command {
        Command::Serve { .. } => serve::run(context).await,
        Command::Publish { paths } => publish::run(context, &paths).await,
        Command::Keys(keys) => keys::run(context, keys).await,
        Command::Datasets(datasets) => datasets::run(context, datasets).await,
        Command::Plugin(plugin) => plugin::run(context, plugin).await,
        Command::Openapi => openapi::run(context).await,
        Command::Doctor { deep } => doctor::run(context, deep).await,
        Command::Gc { dry_run } => gc::run(context, dry_run).await,
        Command::Health { url } => health::run(context, url).await,
        Command::Migrate => migrate::run(context).await,
    }
}
