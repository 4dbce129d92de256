//! `yearbook plugin push`: a component into a registry, with its signature.

use std::path::Path;

use anyhow::bail;
use serde_json::json;
use yearbook_registry::{ComponentInterface, PushedComponent};

use super::source::{open, read_component, read_signature};
use crate::arguments::PluginSource;
use crate::context::CommandContext;

/// Beginning of the interfaces that plugins export.
const INTERFACE: &str = "yearbook:plugin/";

pub(super) async fn run(
    context: &CommandContext,
    file: &Path,
    to: &PluginSource,
    named: Option<&Path>,
) -> anyhow::Result<()> {
    let PluginSource::Registry(reference) = to else {
        bail!("{to} is no place in a registry; write oci://HOST[:PORT]/REPOSITORY:TAG");
    };
    let component = read_component(context, file)?;
    let exports = component.exports.as_deref().unwrap_or_default();
    if !exports.iter().any(|name| name.starts_with(INTERFACE)) {
        bail!(
            "{} exports no interface of a plugin, so nobody could install it; build it with yearbook-sdk, and see what `yearbook plugin check` says",
            file.display()
        );
    }
    let signature = read_signature(file, named)?;
    let interface = ComponentInterface {
        imports: component.imports.clone().unwrap_or_default(),
        exports: component.exports.clone().unwrap_or_default(),
    };
    let signature = signature.as_ref().map(|signature| signature.as_str().as_bytes());
    let mut registry = open(context, reference).await?;
    let pushed = registry.push(component.bytes, interface, signature).await?;
    let PushedComponent { manifest, component, signed } = pushed;
    let by_digest = format!("{reference}@sha256:{manifest}");
    let value = json!({
        "reference": reference.to_string(),
        "manifest": manifest,
        "digest": component,
        "signed": signed,
        "by_digest": by_digest,
    });
    context.output.print_result(&value, || {
        let signature = if signed { ", with its signature" } else { "" };
        format!(
            "{} is pushed to {reference}{signature}. To install this very component:\n    yearbook plugin install {by_digest}",
            component.short()
        )
    })
}
