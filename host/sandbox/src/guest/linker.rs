//! Imports and exports of a component, checked and linked: nothing but `log` is given to it,
//! and it is of one of the worlds, of one of the released versions.

use wasmtime::Engine;
use wasmtime::component::{Component, HasSelf, Linker};

use crate::error::ComponentRejection;
use crate::guest::bindings::generator::{GeneratorPlugin, GeneratorPluginPre};
use crate::guest::bindings::reader::{ReaderPlugin, ReaderPluginPre};
use crate::guest::bindings::{EncoderPlugin, EncoderPluginPre, v1_0};
use crate::guest::{EncoderPre, HostState};
use crate::sanitize::sanitize_sentence;

/// Imports that a component may have: `log`, and the interface of shared types, which has no
/// function; of each released version.
const IMPORTS: [&str; 4] = [
    "yearbook:plugin/log@1.0.0",
    "yearbook:plugin/types@1.0.0",
    "yearbook:plugin/log@1.1.0",
    "yearbook:plugin/types@1.1.0",
];

/// Exports that tell a generator from an encoder.
const GENERATORS: [&str; 2] =
    ["yearbook:plugin/generator@1.0.0", "yearbook:plugin/generator@1.1.0"];

/// The export of an encoder of the first version.
const ENCODER_1_0: &str = "yearbook:plugin/encoder@1.0.0";

/// The export of an encoder of the second version.
const ENCODER_1_1: &str = "yearbook:plugin/encoder@1.1.0";

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

/// Returns whether a component exports one of `names`.
fn has_export(engine: &Engine, component: &Component, names: &[&str]) -> bool {
    component.component_type().exports(engine).any(|(name, _)| names.contains(&name))
}

/// Returns whether a component is a generator.
pub(crate) fn is_generator(engine: &Engine, component: &Component) -> bool {
    has_export(engine, component, &GENERATORS)
}

/// Links a component as an encoder of the version that it exports; the newest where it exports
/// several.
pub(crate) fn encoder(
    engine: &Engine,
    component: &Component,
) -> Result<EncoderPre, ComponentRejection> {
    // By exact names: a lookup of one version would find the other too.
    let old = has_export(engine, component, &[ENCODER_1_0])
        && !has_export(engine, component, &[ENCODER_1_1]);
    let mut linker = Linker::new(engine);
    let added = EncoderPlugin::add_to_linker::<_, HasSelf<HostState>>(&mut linker, |state| state);
    let linked = added.and_then(|()| linker.instantiate_pre(component));
    let linked = linked.and_then(|pre| {
        Ok(if old {
            EncoderPre::V1_0(v1_0::EncoderPluginPre::new(pre)?)
        } else {
            EncoderPre::V1_1(EncoderPluginPre::new(pre)?)
        })
    });
    linked.map_err(interface_error)
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
    has_export(engine, component, &[READER])
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
