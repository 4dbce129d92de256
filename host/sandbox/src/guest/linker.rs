//! Imports and exports of a component, checked and linked: nothing but `log` is given to it,
//! and it is of one of the two worlds.

use wasmtime::Engine;
use wasmtime::component::{Component, HasSelf, Linker};

use crate::error::ComponentRejection;
use crate::guest::HostState;
use crate::guest::bindings::generator::{GeneratorPlugin, GeneratorPluginPre};
use crate::guest::bindings::reader::{ReaderPlugin, ReaderPluginPre};
use crate::guest::bindings::{EncoderPlugin, EncoderPluginPre};
use crate::sanitize::sanitize_sentence;

/// Imports that a component may have: `log`, and the interface of shared types, which has no
/// function.
const IMPORTS: [&str; 4] = [
    "yearbook:plugin/log@1.0.0",
    "yearbook:plugin/types@1.0.0",
    "yearbook:plugin/log@1.1.0",
    "yearbook:plugin/types@1.1.0",
];

/// The export that tells a reader.
const READER: &str = "yearbook:plugin/reader@1.1.0";

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

/// Links a component as an encoder.
pub(crate) fn encoder(
    engine: &Engine,
    component: &Component,
) -> Result<EncoderPluginPre<HostState>, ComponentRejection> {
    let mut linker = Linker::new(engine);
    let added = EncoderPlugin::add_to_linker::<_, HasSelf<HostState>>(&mut linker, |state| state);
    added
        .and_then(|()| EncoderPluginPre::new(linker.instantiate_pre(component)?))
        .map_err(interface_error)
}

/// Links a component as a generator.
pub(crate) fn generator(
    engine: &Engine,
    component: &Component,
) -> Result<GeneratorPluginPre<HostState>, ComponentRejection> {
    let mut linker = Linker::new(engine);
    let added = GeneratorPlugin::add_to_linker::<_, HasSelf<HostState>>(&mut linker, |state| state);
    added
        .and_then(|()| GeneratorPluginPre::new(linker.instantiate_pre(component)?))
        .map_err(interface_error)
}

/// Returns whether a component is a reader.
pub(crate) fn is_reader(engine: &Engine, component: &Component) -> bool {
    component.component_type().exports(engine).any(|(name, _)| name == READER)
}

/// Links a component as a reader.
pub(crate) fn reader(
    engine: &Engine,
    component: &Component,
) -> Result<ReaderPluginPre<HostState>, ComponentRejection> {
    let mut linker = Linker::new(engine);
    let added = ReaderPlugin::add_to_linker::<_, HasSelf<HostState>>(&mut linker, |state| state);
    added
        .and_then(|()| ReaderPluginPre::new(linker.instantiate_pre(component)?))
        .map_err(interface_error)
}

fn interface_error(error: wasmtime::Error) -> ComponentRejection {
    ComponentRejection::Interface(sanitize_sentence(&format!("{error:#}")))
}
