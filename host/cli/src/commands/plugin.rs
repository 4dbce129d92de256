//! `yearbook plugin`: the path of a plugin from a file to what running hosts serve, and back
//! (contract 6). One file a command; what the commands mean is the platform's.

mod check;
mod inspect;
mod install;
mod list;
mod new;
mod operate;
mod replay;
mod top;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use yearbook_platform::{CheckReport, Component, Signature};
use yearbook_sandbox::Limits;

use crate::arguments::{Actor, Plugin};
use crate::context::Context;

pub(crate) use new::check_name;

/// Characters of a digest that people compare.
const SHORT_DIGEST: usize = 12;

pub(super) async fn run(context: &Context, command: Plugin) -> anyhow::Result<()> {
    match command {
        Plugin::Check { file, capsules } => check::run(context, &file, capsules.as_deref()).await,
        Plugin::Replay { capsule, component } => {
            replay::run(context, &capsule, component.as_deref()).await
        }
        Plugin::New { kind, name } => new::run(context, kind, &name),
        Plugin::Inspect { file, signature, write_component } => {
            inspect::run(context, &file, signature.as_deref(), write_component.as_deref())
        }
        Plugin::Install { file, now, signature, who } => {
            install::run(context, &file, now, signature.as_deref(), who).await
        }
        Plugin::List { history: false } => list::run(context).await,
        Plugin::List { history: true } => list::history(context).await,
        Plugin::Top { url, once } => top::run(context, url, once).await,
        Plugin::Rollback { name, who } => operate::rollback(context, &name, who).await,
        Plugin::Remove { name, who } => operate::remove(context, &name, who).await,
        Plugin::Pin { name, digest, off: _, by } => {
            operate::pin(context, &name, digest.as_deref(), Actor { by, reason: None }).await
        }
    }
}

/// Reads a plugin's file, whichever of the two kinds it is.
fn read_component(context: &Context, file: &Path) -> anyhow::Result<Component> {
    let bytes = std::fs::read(file)
        .with_context(|| format!("cannot read {}; build the plugin first", file.display()))?;
    let limit = context.settings.values.sandbox.limits.component_bytes;
    Component::read(bytes, limit).with_context(|| format!("{} is no plugin", file.display()))
}

/// What came as a plugin's signature: the file that was named, or the one beside the plugin, if
/// there is one.
fn read_signature(file: &Path, named: Option<&Path>) -> anyhow::Result<Option<Signature>> {
    let beside = PathBuf::from(format!("{}.minisig", file.display()));
    let Some(path) = named.or_else(|| beside.is_file().then_some(&beside)) else { return Ok(None) };
    let text = std::fs::read(path)
        .with_context(|| format!("cannot read the signature {}", path.display()))?;
    Ok(Some(Signature::of(&text)))
}

/// The limits to check with.
fn check_limits(context: &Context) -> Limits {
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

fn short_digest(digest: &str) -> &str {
    digest.get(..SHORT_DIGEST).unwrap_or(digest)
}
