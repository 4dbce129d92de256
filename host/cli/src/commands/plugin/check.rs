//! `yearbook plugin check`: faults of a plugin with their places and advice, and its use of its
//! limits.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use yearbook_domain::{Digest, PluginKind};
use yearbook_releases::{
    CheckReport, CheckResult, ComponentFile, Finding, LimitUsage, check, write_dump,
};
use yearbook_sandbox::{FailureDump, Sandbox, SandboxConfig};

use super::check_limits;
use crate::arguments::PluginSource;
use crate::context::{CommandContext, create_private_dir};
use crate::output::{TextTable, pluralize, render_facts};
use crate::{builtin, plugin_runtime};

pub(super) async fn run(
    context: &CommandContext,
    plugin: &PluginSource,
    folder: Option<&Path>,
) -> anyhow::Result<()> {
    let component = plugin.load(context).await?;
    // A folder of its own: compile times are to be true, and nothing that was not installed should
    // stay.
    let cache = tempfile::tempdir().context("cannot make a temporary folder")?;
    let config = SandboxConfig {
        limits: check_limits(context),
        cache: Some(cache.path().join("cache")),
        ..SandboxConfig::default()
    };
    let sandbox = plugin_runtime::new_sandbox(config, context.workers())?;
    let built_in = context.plugins_dir.clone();
    let checked = tokio::task::spawn_blocking(move || {
        check_component(&sandbox, &component, built_in.as_deref())
    })
    .await?;
    let dumps = write_dumps(context, &checked.dumps, folder.unwrap_or_else(|| plugin.folder()));
    let report = checked.report;
    let mut value = serde_json::to_value(&report)?;
    value["dumps"] = dumps.iter().map(|path| path.display().to_string()).collect();
    context
        .output
        .print_result(&value, || render_report(&report) + &replay_commands(&dumps, plugin))?;
    match report.findings.len() + report.more_findings {
        0 => Ok(()),
        1 => bail!("1 thing is wrong with {plugin}"),
        wrong => bail!("{wrong} things are wrong with {plugin}"),
    }
}

/// Checks a component, and whether a built-in plugin has its name: names are unique over formats
/// and transforms. `folder`: that of the built-in plugins, where one was named.
pub(super) fn check_component(
    sandbox: &Arc<Sandbox>,
    component: &ComponentFile,
    folder: Option<&Path>,
) -> CheckResult {
    let mut checked = check(sandbox, component);
    let taken_by = match checked.report.kind {
        Some(PluginKind::Encoder) => Some(("transform", "yearbook:plugin/transform@")),
        Some(PluginKind::Transform) => Some(("format", "yearbook:plugin/encoder@")),
        _ => None,
    };
    if let (Some((other, interface)), Some(name)) = (taken_by, &checked.report.name)
        && let Some(built_in) = built_in(folder, name, sandbox.limits().component_bytes)
        && built_in.exports.iter().flatten().any(|export| export.starts_with(interface))
    {
        checked.report.findings.push(Finding {
            place: "describe".to_owned(),
            wrong: format!("it is called like the built-in {other} {name:?}"),
            advice: "choose another name; names are unique over formats and transforms".to_owned(),
        });
    }
    checked
}

/// The built-in plugin called `name`; `None` also in a binary that carries no plugins.
fn built_in(folder: Option<&Path>, name: &str, limit: usize) -> Option<ComponentFile> {
    let components = builtin::components(folder).ok()?;
    let named = components.into_iter().find(|component| component.name == name)?;
    ComponentFile::read(named.bytes, limit).ok()
}

/// Writes a dump of each failure into `folder`. A dump that cannot be written is noted, and the
/// report goes on.
fn write_dumps(context: &CommandContext, dumps: &[FailureDump], folder: &Path) -> Vec<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let write = |dump: &FailureDump| {
        let written = create_private_dir(folder).and_then(|()| write_dump(dump, folder));
        written
            .inspect_err(|error| {
                context
                    .output
                    .note(&format!("no dump could be written into {}: {error}", folder.display()))
            })
            .ok()
    };
    dumps.iter().filter_map(write).collect()
}

/// Command that replays each failure.
fn replay_commands(dumps: &[PathBuf], plugin: &PluginSource) -> String {
    let mut text = String::new();
    if !dumps.is_empty() {
        text.push_str("\n\nEach failure can be replayed, here or on a plugin that was mended:");
    }
    for dump in dumps {
        let _ =
            write!(text, "\n    yearbook plugin replay {} --component {plugin}", dump.display());
    }
    text
}

/// Report for people.
pub(super) fn render_report(report: &CheckReport) -> String {
    let mut text = String::new();
    if let (Some(name), Some(version), Some(kind)) = (&report.name, &report.version, report.kind) {
        let _ = writeln!(text, "{name} {version} ({kind})");
    }
    let mut facts = digest_facts(&report.digest, report.wrapped);
    facts.extend([
        ("imports", names(report.imports.as_deref())),
        ("exports", names(report.exports.as_deref())),
        ("tried", pluralize(report.tries as u64, "response")),
    ]);
    if !report.skipped.is_empty() {
        let tables = pluralize(report.skipped.len() as u64, "table");
        let skipped = format!("{tables} of column types that this host hands to no plugin");
        facts.push(("skipped", skipped));
    }
    text.push_str(&render_facts(facts));
    let limits = report.budget.iter().map(|budget| {
        [
            budget.what.to_owned(),
            format_number(budget.used),
            format_number(budget.limit),
            budget.unit.to_owned(),
            format_share(budget),
            budget.setting.unwrap_or("-").to_owned(),
        ]
    });
    let headings = ["limit", "#used", "#of", "unit", "#share", "setting"];
    let table = TextTable::new(&headings).with_rows(limits);
    let _ = write!(text, "\n{}", table.render());
    if report.passed() {
        text.push_str("\n\nNothing is wrong.");
    } else {
        text.push_str("\n\nWRONG");
        for (number, finding) in report.findings.iter().enumerate() {
            let _ = write!(
                text,
                "\n{:>3}. {}\n     {}\n     -> {}",
                number + 1,
                finding.place,
                finding.wrong,
                finding.advice
            );
        }
        if report.more_findings > 0 {
            let _ = write!(text, "\n     … and {} more", report.more_findings);
        }
    }
    text
}

/// Identity of the component.
pub(super) fn digest_facts(digest: &Digest, wrapped: bool) -> Vec<(&'static str, String)> {
    let mut facts = vec![("digest", digest.to_string())];
    if wrapped {
        facts.push(("", "of the component made of the core module".to_owned()));
    }
    facts
}

/// Names of interfaces, which end in their version.
pub(super) fn names(names: Option<&[String]>) -> String {
    match names {
        Some([]) => "nothing".to_owned(),
        Some(names) => names.join(", "),
        None => "cannot be read".to_owned(),
    }
}

fn format_number(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn format_share(budget: &LimitUsage) -> String {
    format!("{:.1} %", 100.0 * budget.used / budget.limit.max(f64::MIN_POSITIVE))
}
