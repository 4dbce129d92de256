//! `yearbook plugin`: the path of a plugin from a file to what running hosts serve, and back
//! (contract-6-plugins). One file a command; what the commands mean is the platform's.

mod bench;
mod check;
mod dev;
mod inspect;
mod install;
mod list;
mod new;
mod outdated;
mod profile;
mod push;
mod release_actions;
mod replay;
mod source;
mod top;

use yearbook_releases::CheckReport;
use yearbook_sandbox::Limits;

use crate::arguments::{Actor, PluginCommand};
use crate::context::CommandContext;

pub(super) async fn run(context: &CommandContext, command: PluginCommand) -> anyhow::Result<()> {
    match command {
        PluginCommand::Check { plugin, dumps } => {
            check::run(context, &plugin, dumps.as_deref()).await
        }
        PluginCommand::Replay { dump, component } => {
            replay::run(context, &dump, component.as_ref()).await
        }
        PluginCommand::Dev { folder, request, data } => {
            Box::pin(dev::run(context, folder, request.as_deref(), &data)).await
        }
        PluginCommand::New { kind, name } => new::run(context, kind, &name),
        PluginCommand::Inspect { plugin, signature, write_component } => {
            inspect::run(context, &plugin, signature.as_deref(), write_component.as_deref()).await
        }
        PluginCommand::Install { plugin, now, signature, who } => {
            install::run(context, &plugin, now, signature.as_deref(), who).await
        }
        PluginCommand::Push { file, to, signature } => {
            push::run(context, &file, &to, signature.as_deref()).await
        }
        PluginCommand::Bench { plugin, runs } => {
            bench::run(context, &plugin, usize::from(runs)).await
        }
        PluginCommand::Profile { plugin, to, runs } => {
            profile::run(context, &plugin, to, usize::from(runs)).await
        }
        PluginCommand::Outdated => outdated::run(context).await,
        PluginCommand::List { history: false } => list::run(context).await,
        PluginCommand::List { history: true } => list::history(context).await,
        PluginCommand::Top { url, once } => top::run(context, url, once).await,
        PluginCommand::Rollback { name, who } => {
            release_actions::rollback(context, &name, who).await
        }
        PluginCommand::Remove { name, who } => release_actions::remove(context, &name, who).await,
        PluginCommand::Pin { name, digest, off: _, by } => {
            release_actions::pin(context, &name, digest.as_deref(), Actor { by, reason: None })
                .await
        }
    }
}

/// The limits to check with.
fn check_limits(context: &CommandContext) -> Limits {
    CheckReport::limits(context.settings.values.sandbox.limits)
}

impl Actor {
    /// The name that was given, or the system user's.
    fn name(&self) -> String {
        self.by.clone().unwrap_or_else(system_user)
    }
}

/// The name of this process's user, or its number where it has none.
fn system_user() -> String {
    let number = rustix::process::geteuid().as_raw().to_string();
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == number).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| format!("user {number}"))
}
