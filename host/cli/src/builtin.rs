//! Built-in plugins and the sources of their components. Never decides what a component may do;
//! that is the sandbox's.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Names of the built-in plugins: formats in the order in which they are listed, then integrations,
/// then transforms.
pub const NAMES: [&str; 12] = [
    "json",
    "csv",
    "arrow",
    "parquet",
    "svg",
    "meltano",
    "fivetran",
    "azure-data-factory",
    "growth",
    "resample",
    "aggregate",
    "pivot",
];

/// Names of the formats that every installation serves (spec-4.1-format).
pub const FORMATS: [&str; 4] = ["json", "csv", "arrow", "parquet"];

/// Formats that `plugin bench` measures beside any other (contract-14-bench-peers).
pub const BENCH_PEERS: [&str; 2] = ["json", "csv"];

/// Formats whose readers are built in, in the order of [`READERS`].
pub const READ_FORMATS: [&str; 3] = ["sdmx-csv", "json-stat", "geojson"];

/// Names of the built-in readers, in the order of [`READ_FORMATS`]. They are no releases: a
/// publisher takes them where nobody installed a reader of the format.
const READERS: [&str; 3] = ["read-sdmx-csv", "read-json-stat", "read-geojson"];

/// Name of the guest that measures the crossing; it is registered nowhere.
const IDLE: &str = "idle";

/// Command that builds the built-in plugins.
const HOW_TO_BUILD: &str = "build them with `cargo xtask plugins`, or name a folder that has them with --plugins or YEARBOOK_PLUGINS_DIR";

/// Components that this binary carries, by name.
#[cfg(embedded_plugins)]
const EMBEDDED: [(&str, &[u8]); NAMES.len() + READERS.len() + 1] = [
    ("json", include_bytes!("../../../plugins/dist/json.wasm")),
    ("csv", include_bytes!("../../../plugins/dist/csv.wasm")),
    ("arrow", include_bytes!("../../../plugins/dist/arrow.wasm")),
    ("parquet", include_bytes!("../../../plugins/dist/parquet.wasm")),
    ("svg", include_bytes!("../../../plugins/dist/svg.wasm")),
    ("meltano", include_bytes!("../../../plugins/dist/meltano.wasm")),
    ("fivetran", include_bytes!("../../../plugins/dist/fivetran.wasm")),
    ("azure-data-factory", include_bytes!("../../../plugins/dist/azure-data-factory.wasm")),
    ("growth", include_bytes!("../../../plugins/dist/growth.wasm")),
    ("resample", include_bytes!("../../../plugins/dist/resample.wasm")),
    ("aggregate", include_bytes!("../../../plugins/dist/aggregate.wasm")),
    ("pivot", include_bytes!("../../../plugins/dist/pivot.wasm")),
    ("read-sdmx-csv", include_bytes!("../../../plugins/dist/read-sdmx-csv.wasm")),
    ("read-json-stat", include_bytes!("../../../plugins/dist/read-json-stat.wasm")),
    ("read-geojson", include_bytes!("../../../plugins/dist/read-geojson.wasm")),
    (IDLE, include_bytes!("../../../plugins/dist/idle.wasm")),
];

#[cfg(not(embedded_plugins))]
const EMBEDDED: [(&str, &[u8]); 0] = [];

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
    NAMES.into_iter().map(|name| find(folder, name)).collect()
}

/// Loads the built-in reader of `format`, from where [`components`] finds the others; none where no
/// reader of it is built in.
///
/// # Errors
/// Fails when its component is missing; the sentence says how to build it.
pub fn reader(folder: Option<&Path>, format: &str) -> anyhow::Result<Option<BuiltInComponent>> {
    let known = READ_FORMATS.into_iter().zip(READERS).find(|(known, _)| *known == format);
    known.map(|(_, name)| find(folder, name)).transpose()
}

/// Loads the encoder that looks at no cell, from where [`components`] are.
///
/// # Errors
/// Fails when it is missing; the sentence says how to build it.
pub fn idle(folder: Option<&Path>) -> anyhow::Result<Cow<'static, [u8]>> {
    find(folder, IDLE).map(|component| component.bytes)
}

/// One component: from the folder that was named, else from the binary, else from the work tree.
fn find(folder: Option<&Path>, name: &'static str) -> anyhow::Result<BuiltInComponent> {
    let embedded = EMBEDDED.into_iter().find(|(known, _)| *known == name);
    let folder = match (folder, embedded) {
        // A missing folder keeps the name that it was given.
        (Some(folder), _) => folder.canonicalize().unwrap_or_else(|_| folder.to_owned()),
        (None, Some((_, bytes))) => {
            let (bytes, by) = (Cow::Borrowed(bytes), "embedded".to_owned());
            return Ok(BuiltInComponent { name, bytes, by });
        }
        (None, None) => work_tree_dist()
            .with_context(|| format!("this binary carries no plugins; {HOW_TO_BUILD}"))?,
    };
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
