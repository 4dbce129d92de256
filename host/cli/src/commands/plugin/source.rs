//! The way from a plugin that was named to a component with its signature and its origin; what a
//! registry is believed stands in `yearbook-registry`.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use yearbook_domain::{Digest, ReleaseOrigin};
use yearbook_registry::{
    CredentialSources, PulledComponent, Registry, RegistryLimits, RegistryReference,
};
use yearbook_releases::{ComponentFile, Signature};

use crate::arguments::PluginSource;
use crate::context::CommandContext;

/// A plugin that was read or pulled, not yet judged.
pub(super) struct LoadedPlugin {
    /// The component.
    pub(super) component: ComponentFile,
    /// Its signature, not yet believed.
    pub(super) signature: Option<Signature>,
    /// Place in a registry that it came from; none for a file.
    pub(super) origin: Option<ReleaseOrigin>,
}

impl PluginSource {
    /// Reads or pulls the component.
    pub(super) async fn load(&self, context: &CommandContext) -> anyhow::Result<ComponentFile> {
        match self {
            Self::File(path) => read_component(context, path),
            Self::Registry(reference) => {
                Ok(pull(&mut open(context, reference).await?, context, reference).await?.0)
            }
        }
    }

    /// The same with its signature: the file `named`, or the one beside the component.
    pub(super) async fn load_signed(
        &self,
        context: &CommandContext,
        named: Option<&Path>,
    ) -> anyhow::Result<LoadedPlugin> {
        match self {
            Self::File(path) => Ok(LoadedPlugin {
                component: read_component(context, path)?,
                signature: read_signature(path, named)?,
                origin: None,
            }),
            Self::Registry(reference) => {
                let mut registry = open(context, reference).await?;
                let (component, manifest) = pull(&mut registry, context, reference).await?;
                let signature = match named {
                    Some(path) => read_signature(path, Some(path))?,
                    None => pull_signature(&mut registry, context, &component, &manifest).await?,
                };
                let origin = ReleaseOrigin { reference: reference.to_string(), manifest };
                Ok(LoadedPlugin { component, signature, origin: Some(origin) })
            }
        }
    }
}

/// Reads a plugin's file, whichever of the two kinds it is.
pub(super) fn read_component(
    context: &CommandContext,
    file: &Path,
) -> anyhow::Result<ComponentFile> {
    let bytes = std::fs::read(file)
        .with_context(|| format!("cannot read {}; build the plugin first", file.display()))?;
    let limit = context.settings.values.sandbox.limits.component_bytes;
    ComponentFile::read(bytes, limit).with_context(|| format!("{} is no plugin", file.display()))
}

/// Signature of a plugin: the file that was named, or the one beside the plugin, if
/// there is one.
pub(super) fn read_signature(
    file: &Path,
    named: Option<&Path>,
) -> anyhow::Result<Option<Signature>> {
    let beside = PathBuf::from(format!("{}.minisig", file.display()));
    let Some(path) = named.or_else(|| beside.is_file().then_some(&beside)) else { return Ok(None) };
    let text = std::fs::read(path)
        .with_context(|| format!("cannot read the signature {}", path.display()))?;
    Ok(Some(Signature::from_bytes(&text)))
}

/// Opens the registry of `reference` with the credentials that this user has for it.
pub(super) async fn open(
    context: &CommandContext,
    reference: &RegistryReference,
) -> anyhow::Result<Registry> {
    let sources = CredentialSources::from_variables(&context.variables)?;
    let asked = reference.clone();
    let credentials = tokio::task::spawn_blocking(move || sources.find(&asked)).await??;
    let limits = RegistryLimits::new(context.settings.values.sandbox.limits.component_bytes);
    let registry = Registry::open(reference, credentials, limits).await?;
    Ok(registry.with_token_hosts(&context.settings.values.plugins.token_hosts))
}

/// Pulls the component, with the digest of its manifest.
pub(super) async fn pull(
    registry: &mut Registry,
    context: &CommandContext,
    reference: &RegistryReference,
) -> anyhow::Result<(ComponentFile, Digest)> {
    let PulledComponent { file, manifest } = registry.pull().await?;
    let limit = context.settings.values.sandbox.limits.component_bytes;
    let component =
        ComponentFile::read(file, limit).with_context(|| format!("{reference} is no plugin"))?;
    Ok((component, manifest))
}

/// The signature in the registry that the settings trust, else the first. A registry that fails to
/// list signatures matters only where one is asked for.
async fn pull_signature(
    registry: &mut Registry,
    context: &CommandContext,
    component: &ComponentFile,
    manifest: &Digest,
) -> anyhow::Result<Option<Signature>> {
    let trust = &context.settings.values.plugins.trust;
    let found = match registry.signatures(manifest).await {
        Ok(found) => found,
        Err(error) if trust.needs_signature() => {
            return Err(
                anyhow::Error::new(error).context("cannot read the signatures of the plugin")
            );
        }
        Err(error) => {
            context.output.note(&format!("signatures were not looked at: {error}"));
            return Ok(None);
        }
    };
    let mut found: Vec<Signature> = found.iter().map(|text| Signature::from_bytes(text)).collect();
    let trusted =
        found.iter().position(|it| trust.verify(&component.bytes, Some(it)).is_ok()).unwrap_or(0);
    Ok(if found.is_empty() { None } else { Some(found.swap_remove(trusted)) })
}
