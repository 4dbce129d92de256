//! Built plugins and sandboxes to run them in.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use yearbook_releases::DumpFolder;
use yearbook_sandbox::{DumpSink, Limits, PluginEncoder, Sandbox, SandboxConfig};
use yearbook_workers::Workers;

/// The workspace's root.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

/// The bytes of a component that `cargo xtask plugins` built.
///
/// # Panics
/// Panics when it is not built.
#[must_use]
pub fn component(name: &str) -> Vec<u8> {
    let path = root().join("plugins/dist").join(format!("{name}.wasm"));
    std::fs::read(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; run cargo xtask plugins", path.display()))
}

/// Folder in which tests keep compiled components, so that only the first run compiles them.
fn cache() -> PathBuf {
    std::env::temp_dir().join("yearbook-tests-plugin-cache")
}

/// A sandbox with the given limits.
///
/// # Panics
/// Panics when the engine does not start.
#[must_use]
pub fn sandbox(limits: Limits) -> Arc<Sandbox> {
    sandbox_with_dumps(limits, None)
}

/// The same, whose plugins leave dumps in a folder where they fail.
///
/// # Panics
/// As [`sandbox`], and where the folder cannot be made.
#[must_use]
pub fn sandbox_with_dumps(limits: Limits, dumps: Option<&Path>) -> Arc<Sandbox> {
    let folder =
        dumps.map(|dumps| DumpFolder::open(dumps).unwrap_or_else(|error| panic!("{error}")));
    let dump_sink = folder.map(|folder| Arc::new(folder) as Arc<dyn DumpSink>);
    Sandbox::new(
        &SandboxConfig { limits, cache: Some(cache()), dump_sink, ..SandboxConfig::default() },
        Workers::new(2),
    )
    .unwrap_or_else(|error| panic!("{error}"))
}

/// An encoder loaded in a sandbox of its own.
///
/// # Panics
/// Panics when it is rejected.
#[must_use]
pub fn encoder(name: &str, limits: Limits) -> Arc<PluginEncoder> {
    sandbox(limits).load_encoder(&component(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}
