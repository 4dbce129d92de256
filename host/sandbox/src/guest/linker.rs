//! Imports and exports of a component, checked and linked: nothing but `log` is given to it, and
//! its exports tell its kind.

use wasmtime::Engine;
use wasmtime::component::{Component, HasSelf, InstancePre, Linker};
use yearbook_domain::PluginKind;
use yearbook_engine::{ComponentRejection, sanitize_sentence};

use crate::guest::HostState;
use crate::guest::bindings::EncoderPlugin;

/// Imports that a component may have: `log`, and the interfaces of shared types, which have no
/// functions.
const IMPORTS: [&str; 6] = [
    "yearbook:plugin/log@1.1.0",
    "yearbook:plugin/log@1.2.0",
    "yearbook:plugin/types@1.1.0",
    "yearbook:plugin/types@1.2.0",
    "yearbook:plugin/statistics@1.2.0",
    "yearbook:plugin/catalogue@1.2.0",
];

/// Exports that tell the kind. A component without any of them is taken for an encoder, so that its
/// rejection names what an encoder exports. An adapter may export an encoder besides.
const EXPORTS: [(&str, PluginKind); 4] = [
    ("yearbook:plugin/adapter@1.2.0", PluginKind::Adapter),
    ("yearbook:plugin/generator@1.1.0", PluginKind::Generator),
    ("yearbook:plugin/reader@1.1.0", PluginKind::Reader),
    ("yearbook:plugin/transform@1.2.0", PluginKind::Transform),
];

/// Export of an encoder.
pub(crate) const ENCODER: &str = "yearbook:plugin/encoder@1.1.0";

/// Export of an encoder that is told distinct values.
pub(crate) const CODELISTS: &str = "yearbook:plugin/codelists@1.2.0";

/// Refused imports that are named: a component may have thousands.
const IMPORTS_NAMED: usize = 20;

/// Refuses a component that asks for more than there is.
pub(crate) fn check_imports(
    engine: &Engine,
    component: &Component,
) -> Result<(), ComponentRejection> {
    let imports = component.component_type();
    let refused = imports.imports(engine).filter(|(name, _)| !IMPORTS.contains(name));
    let mut refused: Vec<String> = refused.map(|(name, _)| sanitize_sentence(name)).collect();
    let more = refused.len().saturating_sub(IMPORTS_NAMED);
    if more > 0 {
        refused.truncate(IMPORTS_NAMED);
        refused.push(format!("{more} more"));
    }
    if refused.is_empty() { Ok(()) } else { Err(ComponentRejection::Imports(refused)) }
}

/// Returns the kind that the exports of a component tell.
pub(crate) fn kind(engine: &Engine, component: &Component) -> PluginKind {
    let found = EXPORTS.iter().find(|(export, _)| exports(engine, component, export));
    found.map_or(PluginKind::Encoder, |(_, kind)| *kind)
}

/// Returns whether a component has this export.
pub(crate) fn exports(engine: &Engine, component: &Component, export: &str) -> bool {
    component.component_type().exports(engine).any(|(name, _)| name == export)
}

/// Links a component of any world, whose bindings `with` makes.
pub(crate) fn link<T>(
    engine: &Engine,
    component: &Component,
    with: impl FnOnce(InstancePre<HostState>) -> wasmtime::Result<T>,
) -> Result<T, ComponentRejection> {
    let mut linker = Linker::new(engine);
    // Every world imports the same, so the bindings of one serve all; a later version of an
    // interface finds the one of 1.1.0, which has all that it asks for.
    let added = EncoderPlugin::add_to_linker::<_, HasSelf<HostState>>(&mut linker, |state| state);
    added
        .and_then(|()| with(linker.instantiate_pre(component)?))
        .map_err(|error| ComponentRejection::Interface(sanitize_sentence(&format!("{error:#}"))))
}
