//! Built-in plugins and the sources of their components. Never decides what a component may do;
//! that is the sandbox's.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// Names of the built-in plugins: formats in the order in which they are listed, then integrations.
pub const NAMES: [&str; 8] =
    ["json", "csv", "arrow", "parquet", "svg", "meltano", "fivetran", "azure-data-factory"];

/// Names of the formats that every installation serves (spec-4.1-format).
pub const FORMATS: [&str; 4] = ["json", "csv", "arrow", "parquet"];

/// Formats that `plugin bench` measures beside any other (contract-14-bench-peers).
pub const BENCH_PEERS: [&str; 2] = ["json", "csv"];

/// Formats whose readers are built in, in the order of [`READERS`].
pub const READ_FORMATS: [&str; 3] = ["sdmx-csv", "json-stat", "geojson"];

/// Names of the built-in readers. They are no releases: a publisher takes them where nobody
/// installed a reader of the format.
const READERS: [&str; 3] = ["read-sdmx-csv", "read-json-stat", "read-geojson"];

/// Readers that this binary carries, as [`READERS`] orders them.
#[cfg(embedded_plugins)]
const EMBEDDED_READERS: Option<[&[u8]; READERS.len()]> = Some([
    include_bytes!("../../../plugins/dist/read-sdmx-csv.wasm"),
    include_bytes!("../../../plugins/dist/read-json-stat.wasm"),
    include_bytes!("../../../plugins/dist/read-geojson.wasm"),
]);

#[cfg(not(embedded_plugins))]
const EMBEDDED_READERS: Option<[&[u8]; READERS.len()]> = None;

/// Command that builds the built-in plugins.
const HOW_TO_BUILD: &str = "build them with `cargo xtask plugins`, or name a folder that has them with --plugins or YEARBOOK_PLUGINS_DIR";

/// Components that this binary carries, as [`NAMES`] orders them.
#[cfg(embedded_plugins)]
const EMBEDDED: Option<[&[u8]; NAMES.len()]> = Some([
    include_bytes!("../../../plugins/dist/json.wasm"),
    include_bytes!("../../../plugins/dist/csv.wasm"),
    include_bytes!("../../../plugins/dist/arrow.wasm"),
    include_bytes!("../../../plugins/dist/parquet.wasm"),
    include_bytes!("../../../plugins/dist/svg.wasm"),
    include_bytes!("../../../plugins/dist/meltano.wasm"),
    include_bytes!("../../../plugins/dist/fivetran.wasm"),
    include_bytes!("../../../plugins/dist/azure-data-factory.wasm"),
]);

#[cfg(not(embedded_plugins))]
const EMBEDDED: Option<[&[u8]; NAMES.len()]> = None;

/// The guest that measures the crossing; it is registered nowhere.
#[cfg(embedded_plugins)]
const IDLE: Option<&[u8]> = Some(include_bytes!("../../../plugins/dist/idle.wasm"));

#[cfg(not(embedded_plugins))]
const IDLE: Option<&[u8]> = None;

/// Built-in plugin.
#[derive(Clone, Debug)]
pub struct BuiltInComponent {
    /// One of [`NAMES`].
    pub name: &'static str,
    /// Bytes of the component.
    pub bytes: Cow<'static, [u8]>,
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
    match (folder, EMBEDDED) {
        (Some(folder), _) => from_folder(folder),
        (None, Some(embedded)) => Ok(NAMES
            .into_iter()
            .zip(embedded)
            .map(|(name, bytes)| BuiltInComponent {
                name,
                bytes: Cow::Borrowed(bytes),
                by: "embedded".to_owned(),
            })
            .collect()),
        (None, None) => match work_tree_dist() {
            Some(folder) => from_folder(&folder),
            None => bail!("this binary carries no plugins; {HOW_TO_BUILD}"),
        },
    }
}

/// Loads the built-in reader of `format`, from where [`components`] finds the others; none where no
/// reader of it is built in.
///
/// # Errors
/// Fails when its component is missing; the sentence says how to build it.
pub fn reader(folder: Option<&Path>, format: &str) -> anyhow::Result<Option<BuiltInComponent>> {
    let Some(at) = READ_FORMATS.iter().position(|known| *known == format) else {
        return Ok(None);
    };
    find(folder, EMBEDDED_READERS.map(|embedded| embedded[at]), READERS[at]).map(Some)
}

/// Loads the encoder that looks at no cell, from where [`components`] are.
///
/// # Errors
/// Fails when it is missing; the sentence says how to build it.
pub fn idle(folder: Option<&Path>) -> anyhow::Result<Cow<'static, [u8]>> {
    find(folder, IDLE, "idle").map(|component| component.bytes)
}

/// One component: from the folder that was named, else from the binary, else from the work tree.
fn find(
    folder: Option<&Path>,
    embedded: Option<&'static [u8]>,
    name: &'static str,
) -> anyhow::Result<BuiltInComponent> {
    match (folder, embedded) {
        (Some(folder), _) => component_file(folder, name),
        (None, Some(bytes)) => {
            Ok(BuiltInComponent { name, bytes: Cow::Borrowed(bytes), by: "embedded".to_owned() })
        }
        (None, None) => match work_tree_dist() {
            Some(folder) => component_file(&folder, name),
            None => bail!("this binary carries no plugins; {HOW_TO_BUILD}"),
        },
    }
}

fn from_folder(folder: &Path) -> anyhow::Result<Vec<BuiltInComponent>> {
    // A missing folder keeps the name that it was given.
    let folder = &folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    NAMES.into_iter().map(|name| component_file(folder, name)).collect()
}

fn component_file(folder: &Path, name: &'static str) -> anyhow::Result<BuiltInComponent> {
    let path = folder.join(format!("{name}.wasm"));
    let bytes = std::fs::read(&path)
        .with_context(|| format!("cannot read the plugin {}; {HOW_TO_BUILD}", path.display()))?;
    Ok(BuiltInComponent { name, bytes: Cow::Owned(bytes), by: folder.display().to_string() })
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
            found.iter().map(|component| component.bytes.to_vec()).collect::<Vec<_>>(),
            NAMES.map(|name| name.as_bytes().to_vec())
        );
    }
}
