//! Built-in plugins and the sources of their components. Never decides what a component may do;
//! that is the sandbox's.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::Context;

mod names;

pub use names::NAMES;
use names::{IDLE, READERS};

/// Names of the formats that every installation serves (spec-4.1-format).
pub const FORMATS: [&str; 4] = ["json", "csv", "arrow", "parquet"];

/// Formats that `plugin bench` measures beside any other (contract-14-bench-peers).
pub const BENCH_PEERS: [&str; 2] = ["json", "csv"];

/// Built-in transforms that `yearbook plugin bench` measures beside a transform.
pub const BENCH_TRANSFORMS: [&str; 2] = ["growth", "resample"];

/// Formats whose readers are built in, in the order of [`READERS`].
pub const READ_FORMATS: [&str; 4] = ["sdmx-csv", "sdmx-ml", "json-stat", "geojson"];

/// Command that builds the built-in plugins.
const HOW_TO_BUILD: &str = "build them with `cargo xtask plugins`, or name a folder that has them with --plugins or YEARBOOK_PLUGINS_DIR";

/// Components that this binary carries, as the build script packed them.
#[cfg(embedded_plugins)]
const EMBEDDED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugins.zst"));

#[cfg(not(embedded_plugins))]
const EMBEDDED: &[u8] = &[];

/// Built-in plugin.
#[derive(Clone, Debug)]
pub struct BuiltInComponent {
    /// One of [`NAMES`].
    pub name: &'static str,
    /// Bytes of the component.
    pub bytes: Vec<u8>,
    /// Origin: `embedded`, or the folder.
    pub by: String,
}

/// Loads the built-in plugins: from `folder` when one is named, else those that the binary carries,
/// else (in a build for development alone) those of the work tree.
///
/// # Errors
/// Fails when there is no such folder or it lacks one of [`NAMES`]; the sentence says how to build
/// them.
pub fn components(folder: Option<&Path>) -> anyhow::Result<Vec<BuiltInComponent>> {
    let mut embedded = unpack(folder)?;
    NAMES.into_iter().map(|name| find(folder, &mut embedded, name)).collect()
}

/// Loads the built-in reader of `format`, from where [`components`] finds the others; none where no
/// reader of it is built in.
///
/// # Errors
/// Fails when its component is missing; the sentence says how to build it.
pub fn reader(folder: Option<&Path>, format: &str) -> anyhow::Result<Option<BuiltInComponent>> {
    let known = READ_FORMATS.into_iter().zip(READERS).find(|(known, _)| *known == format);
    known.map(|(_, name)| find(folder, &mut unpack(folder)?, name)).transpose()
}

/// Loads the encoder and the transform that look at no cell, from where [`components`] are.
///
/// # Errors
/// Fails when one is missing; the sentence says how to build it.
pub fn idle(folder: Option<&Path>) -> anyhow::Result<[Vec<u8>; 2]> {
    let mut embedded = unpack(folder)?;
    let [encoder, transform] = IDLE.map(|name| find(folder, &mut embedded, name));
    Ok([encoder?.bytes, transform?.bytes])
}

/// The components that this binary carries, by name; none where a folder is named.
fn unpack(folder: Option<&Path>) -> anyhow::Result<HashMap<&'static str, Vec<u8>>> {
    if EMBEDDED.is_empty() || folder.is_some() {
        return Ok(HashMap::new());
    }
    let packed = zstd::decode_all(EMBEDDED).context("the plugins in this binary are damaged")?;
    split(&packed).context("the plugins in this binary are cut off")
}

/// Each component behind its length, in the order of [`names::all`].
fn split(mut packed: &[u8]) -> Option<HashMap<&'static str, Vec<u8>>> {
    let mut next = || {
        let (length, rest) = packed.split_first_chunk()?;
        let (component, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        packed = rest;
        Some(component.to_vec())
    };
    names::all().map(|name| Some((name, next()?))).collect()
}

/// One component: from the folder that was named, else from the binary, else from the work tree.
fn find(
    folder: Option<&Path>,
    embedded: &mut HashMap<&'static str, Vec<u8>>,
    name: &'static str,
) -> anyhow::Result<BuiltInComponent> {
    let folder = match (folder, embedded.remove(name)) {
        // A missing folder keeps the name that it was given.
        (Some(folder), _) => folder.canonicalize().unwrap_or_else(|_| folder.to_owned()),
        (None, Some(bytes)) => {
            return Ok(BuiltInComponent { name, bytes, by: "embedded".to_owned() });
        }
        (None, None) => work_tree_dist()
            .with_context(|| format!("this binary carries no plugins; {HOW_TO_BUILD}"))?,
    };
    let path = folder.join(format!("{name}.wasm"));
    let bytes = std::fs::read(&path)
        .with_context(|| format!("cannot read the plugin {}; {HOW_TO_BUILD}", path.display()))?;
    Ok(BuiltInComponent { name, bytes, by: folder.display().to_string() })
}

/// Folder of plugins in the work tree that this binary was built from. A release build must not
/// look at the machine that it was built on.
fn work_tree_dist() -> Option<PathBuf> {
    cfg!(debug_assertions).then(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/dist"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_missing_component_is_named_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("json.wasm"), b"x").unwrap();
        let error = components(Some(folder.path())).unwrap_err().to_string();
        assert!(error.contains("csv.wasm") && error.contains("cargo xtask plugins"), "{error}");
    }

    #[test]
    fn a_named_folder_wins_and_keeps_the_order_of_formats() {
        let folder = tempfile::tempdir().unwrap();
        for name in NAMES {
            std::fs::write(folder.path().join(format!("{name}.wasm")), name).unwrap();
        }
        let found = components(Some(folder.path())).unwrap();
        assert_eq!(
            found.into_iter().map(|component| component.bytes).collect::<Vec<_>>(),
            NAMES.map(|name| name.as_bytes().to_vec())
        );
    }

    #[test]
    fn packed_components_have_their_names_again_and_none_that_is_cut_off() {
        let packed: Vec<u8> = names::all()
            .flat_map(|name| {
                let length = u32::try_from(name.len()).unwrap().to_le_bytes();
                [&length[..], name.as_bytes()].concat()
            })
            .collect();
        let found = split(&packed).unwrap();
        assert_eq!(found.len(), NAMES.len() + READERS.len() + IDLE.len());
        assert!(found.iter().all(|(name, bytes)| name.as_bytes() == bytes));
        assert!(split(&packed[..packed.len() - 1]).is_none());
    }
}
