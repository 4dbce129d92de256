//! `yearbook plugin inspect`: parts of a plugin, and the answer of this host's settings to it.
//! Reads the file or pulls it; never compiles or runs any of it.

use std::path::Path;

use anyhow::Context as _;
use serde_json::json;
use yearbook_releases::{ComponentFile, Signature};
use yearbook_sandbox::ComponentStats;

use super::check::{digest_facts, names};
use super::source::LoadedPlugin;
use crate::arguments::PluginSource;
use crate::context::CommandContext;
use crate::output::render_facts;

pub(super) async fn run(
    context: &CommandContext,
    plugin: &PluginSource,
    named: Option<&Path>,
    write: Option<&Path>,
) -> anyhow::Result<()> {
    let LoadedPlugin { component, signature: came, origin } =
        plugin.load_signed(context, named).await?;
    if let Some(path) = write {
        std::fs::write(path, &component.bytes)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let trust = &context.settings.values.plugins.trust;
    let untrusted =
        trust.verify(&component.bytes, came.as_ref()).err().map(|untrusted| untrusted.to_string());
    let key = came
        .as_ref()
        .and_then(|signature| signature.read().ok())
        .map(|signature| signature.key_id().to_owned());
    let shape = ComponentStats::measure(&component.bytes).map_err(|rejected| rejected.to_string());
    let value = json!({
        "digest": component.digest,
        "reference_manifest": origin.as_ref().map(|origin| &origin.manifest),
        "bytes": component.bytes.len(),
        "wrapped": component.wrapped,
        "imports": component.imports,
        "exports": component.exports,
        "shape": shape.as_ref().ok(),
        "wrong": shape.as_ref().err(),
        "signed_by": key,
        "required": trust.require,
        "trusted": untrusted.is_none(),
        "untrusted": untrusted,
    });
    context.output.print_result(&value, || {
        render(&component, &shape, came.as_ref(), key.as_deref(), untrusted.as_deref())
    })
}

fn render(
    component: &ComponentFile,
    shape: &Result<ComponentStats, String>,
    came: Option<&Signature>,
    key: Option<&str>,
    untrusted: Option<&str>,
) -> String {
    let mut facts = digest_facts(&component.digest, component.wrapped);
    facts.extend([
        ("size", format!("{} bytes", component.bytes.len())),
        ("imports", names(component.imports.as_deref())),
        ("exports", names(component.exports.as_deref())),
    ]);
    facts.push(match shape {
        Ok(shape) => {
            let ComponentStats { modules, functions, function_bytes, data_bytes, .. } = shape;
            let made_of = format!(
                "{modules} core modules with {functions} functions, the largest of {function_bytes} bytes, and {data_bytes} bytes of data"
            );
            ("made of", made_of)
        }
        Err(wrong) => ("WRONG", wrong.clone()),
    });
    let signed = match (came, key) {
        (None, _) => "by nobody",
        (Some(_), None) => "unreadably",
        (Some(_), Some(key)) => key,
    };
    let trusted =
        untrusted.map_or("yes: the settings let it in".to_owned(), |why| format!("no: {why}"));
    facts.extend([("signed", signed.to_owned()), ("trusted", trusted)]);
    render_facts(facts)
}
