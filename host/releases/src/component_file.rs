//! A plugin's file as it is handed in: a component, or a core module as `cargo build` leaves it,
//! which is made a component here. So a plugin's author needs no tool but cargo and `yearbook`.

use yearbook_domain::Digest;

/// The first eight bytes of a core module; a component has another layer.
const MODULE: &[u8] = b"\0asm\x01\0\0\0";

/// A component that has been read and not yet checked.
#[derive(Clone, Debug)]
pub struct ComponentFile {
    /// The component.
    pub bytes: Vec<u8>,
    /// SHA-256 of `bytes`.
    pub digest: Digest,
    /// Set where a core module was made a component: the digest is the component's, not the file's.
    pub wrapped: bool,
    /// Names of what it imports, in its own order; `None` when they cannot be read.
    pub imports: Option<Vec<String>>,
    /// Names of what it exports, likewise.
    pub exports: Option<Vec<String>>,
}

/// A file that is no plugin at all.
#[derive(Debug, thiserror::Error)]
pub enum ComponentFileError {
    /// It does not begin as WebAssembly does.
    #[error(
        "the file is not WebAssembly; hand in what `cargo build --target wasm32-unknown-unknown` made, or a component"
    )]
    NotWasm,
    /// Larger than `sandbox.component_bytes`.
    #[error("the file has {bytes} bytes; {limit} are allowed (sandbox.component_bytes)")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// A core module that says nothing of an interface, or something wrong.
    #[error(
        "the core module cannot be made a component: {0}; export a plugin with `export_encoder!` or `export_generator!` of yearbook-sdk"
    )]
    Module(String),
}

impl ComponentFile {
    /// Reads `file`, which may be a component or a core module.
    ///
    /// # Errors
    /// [`ComponentFileError`].
    pub fn read(file: Vec<u8>, limit: usize) -> Result<Self, ComponentFileError> {
        if file.len() > limit {
            return Err(ComponentFileError::TooLarge { bytes: file.len(), limit });
        }
        if !file.starts_with(b"\0asm") {
            return Err(ComponentFileError::NotWasm);
        }
        let wrapped = file.starts_with(MODULE);
        let bytes = if wrapped { componentize(&file)? } else { file };
        if bytes.len() > limit {
            return Err(ComponentFileError::TooLarge { bytes: bytes.len(), limit });
        }
        let names = world_names(&bytes);
        if wrapped && names.as_ref().is_some_and(|(_, exports)| exports.is_empty()) {
            return Err(ComponentFileError::Module("it exports no interface".to_owned()));
        }
        let digest = Digest::compute(&bytes);
        let (imports, exports) = names.unzip();
        Ok(Self { bytes, digest, wrapped, imports, exports })
    }
}

fn componentize(module: &[u8]) -> Result<Vec<u8>, ComponentFileError> {
    // Merged by version, an encoder would import what came with transforms (decision 0444).
    let encoded = wit_component::ComponentEncoder::default()
        .merge_imports_based_on_semver(false)
        .module(module)
        .and_then(|mut encoder| encoder.encode());
    encoded.map_err(|error| ComponentFileError::Module(one_line(&format!("{error:#}"))))
}

/// Imports and exports that the component's type names. The sandbox reads both for itself; this is
/// for people.
fn world_names(component: &[u8]) -> Option<(Vec<String>, Vec<String>)> {
    let wit_component::DecodedWasm::Component(resolve, world) =
        wit_component::decode(component).ok()?
    else {
        return None;
    };
    let world = resolve.worlds.get(world)?;
    let imports = world.imports.keys().map(|key| resolve.name_world_key(key)).collect();
    let exports = world.exports.keys().map(|key| resolve.name_world_key(key)).collect();
    Some((imports, exports))
}

/// A message of another program on one line, cut.
fn one_line(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_plugin_is_told_why() {
        let refused = |bytes: &[u8]| {
            ComponentFile::read(bytes.to_vec(), 1_000).map(drop).map_err(|error| error.to_string())
        };
        assert!(refused(b"#!/bin/sh").is_err_and(|error| error.contains("not WebAssembly")));
        assert!(
            refused(&[0; 1_001]).is_err_and(
                |error| error.contains("1001 bytes") && error.contains("component_bytes")
            )
        );
        // The smallest core module: it exports nothing.
        assert!(
            refused(MODULE).is_err_and(|error| error.contains("export_encoder!")),
            "{:?}",
            refused(MODULE)
        );
    }
}
