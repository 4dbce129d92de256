//! Precompiled components on disk, so that a restart does not compile again. Keyed by the
//! component's digest and by everything of the engine that decides machine code. A cache, never a
//! trust root: what does not check out is compiled anew. Holds the sandbox's only `unsafe`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::failure::Failure;

const CHECKSUM_BYTES: usize = 32;

/// A folder that only this host's user can write.
pub(crate) struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// Uses `folder`, making it (mode 0700) when it is not there.
    ///
    /// # Errors
    /// [`Failure::Cache`] when it cannot be made, or when others can write it: machine code is loaded
    /// from it.
    pub(crate) fn open(folder: &Path) -> Result<Self, Failure> {
        let failure = |reason: String| Failure::Cache { folder: folder.display().to_string(), reason };
        create_private(folder).map_err(|error| failure(format!("cannot be made: {error}")))?;
        let metadata = std::fs::metadata(folder).map_err(|error| failure(error.to_string()))?;
        if writable_by_others(&metadata) {
            return Err(failure("others can write it, and machine code is loaded from it; run chmod 700 on it".into()));
        }
        Ok(Self { folder: folder.to_owned() })
    }

    /// The compiled component, and whether it came from disk rather than being compiled now.
    pub(crate) fn component(&self, engine: &Engine, digest: &str, bytes: &[u8]) -> wasmtime::Result<(Component, bool)> {
        let path = self.path(engine, digest);
        if let Some(component) = load(engine, &path) {
            return Ok((component, true));
        }
        let component = Component::new(engine, bytes)?;
        if let Err(error) = component.serialize().map_err(std::io::Error::other).and_then(|artifact| store(&path, &artifact)) {
            tracing::warn!(path = %path.display(), %error, "the compiled plugin could not be cached; the next start compiles it again");
        }
        Ok((component, false))
    }

    fn path(&self, engine: &Engine, digest: &str) -> PathBuf {
        // Covers the engine's version, target, flags and settings.
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        self.folder.join(format!("{digest}-{:016x}.cwasm", hasher.finish()))
    }
}

/// None when there is no artifact or a damaged one.
fn load(engine: &Engine, path: &Path) -> Option<Component> {
    let file = std::fs::read(path).ok()?;
    let (checksum, artifact) = file.split_at_checked(CHECKSUM_BYTES)?;
    if Sha256::digest(artifact).as_slice() != checksum {
        tracing::warn!(path = %path.display(), "a cached plugin is damaged; compiling it again");
        return None;
    }
    #[expect(
        unsafe_code,
        reason = "the artifact was written by this program into a folder that only its user can write, and arrived whole"
    )]
    // SAFETY: `deserialize` asks that the bytes come from `serialize` of a trusted engine: see the reason above.
    let component = unsafe { Component::deserialize(engine, artifact) };
    component.inspect_err(|error| tracing::warn!(path = %path.display(), %error, "a cached plugin does not fit; compiling it again")).ok()
}

/// Writes beside and renames, so that a reader sees all of it or nothing.
fn store(path: &Path, artifact: &[u8]) -> std::io::Result<()> {
    let partial = path.with_extension(format!("{}.partial", std::process::id()));
    let mut file = Sha256::digest(artifact).to_vec();
    file.extend_from_slice(artifact);
    std::fs::write(&partial, &file)?;
    std::fs::rename(&partial, path)
}

#[cfg(unix)]
fn create_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(unix)]
fn writable_by_others(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o022 != 0
}

#[cfg(not(unix))]
fn create_private(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)
}

#[cfg(not(unix))]
fn writable_by_others(_: &std::fs::Metadata) -> bool {
    false
}
