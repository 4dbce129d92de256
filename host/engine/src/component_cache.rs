//! Precompiled components on disk, so that a restart does not compile again. An entry is machine
//! code, so it counts only with this host's seal: a code over the component's digest, everything of
//! the engine that decides machine code, and the entry itself, under a secret that the folder does
//! not hold. What does not check out is compiled again. An entry is mapped, so that memory holds
//! what is used of it; its seal is at its end, since machine code begins with a page. The folder
//! often shares its disk with the database, so an entry is written only where room stays. Holds
//! the crate's only `unsafe`.

mod eviction;
mod mac;
mod ownership;

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use wasmtime::Engine;
use wasmtime::component::Component;

use self::mac::{MacKey, SEAL_BYTES};
use crate::error::SandboxFailure;
use yearbook_domain::Digest;

/// Bytes of the disk that stay free for others: twice what the database's log keeps at its largest.
pub const CACHE_RESERVED_BYTES: u64 = 128 << 20;

/// A folder that only this host's user can write, and the secret that seals its entries.
pub struct ComponentCache {
    folder: PathBuf,
    seal: MacKey,
    /// [`CACHE_RESERVED_BYTES`].
    reserved: u64,
}

impl ComponentCache {
    /// Uses `folder` with the secret in the file `key`, making both (modes 0700 and 0600) when they
    /// are not there. What nobody needs any more is removed from it.
    ///
    /// # Errors
    /// [`SandboxFailure::Cache`] when they cannot be made, when either belongs to another user,
    /// when others can write the folder, or when others can read the secret.
    pub fn open(folder: &Path, key: &Path) -> Result<Self, SandboxFailure> {
        let failure =
            |reason: String| SandboxFailure::Cache { folder: folder.display().to_string(), reason };
        create_private(folder).map_err(|error| failure(format!("cannot be made: {error}")))?;
        let metadata = std::fs::metadata(folder).map_err(|error| failure(error.to_string()))?;
        ownership::check(&metadata).map_err(failure)?;
        if writable_by_others(&metadata) {
            return Err(failure(
                "others can write it, and machine code is loaded from it; run chmod 700 on it"
                    .into(),
            ));
        }
        eviction::evict_unused(folder);
        let seal = MacKey::open(key)
            .map_err(|reason| failure(format!("its key {}: {reason}", key.display())))?;
        Ok(Self { folder: folder.to_owned(), seal, reserved: CACHE_RESERVED_BYTES })
    }

    /// The compiled component from disk, or what `compile` makes of it (the form that
    /// [`Component::serialize`] gives); and whether it came from disk.
    ///
    /// # Errors
    /// Those of `compile`, and machine code that this engine does not take.
    pub fn component<E: From<wasmtime::Error>>(
        &self,
        engine: &Engine,
        digest: &Digest,
        compile: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<(Component, bool), E> {
        let environment = engine_hash(engine);
        let path = self.folder.join(format!("{digest}-{environment:016x}.{}", eviction::ENTRY));
        let name = format!("{digest} {environment:016x}");
        if let Some(component) = self.read_entry(engine, &path, &name) {
            return Ok((component, true));
        }
        let artifact = compile()?;
        // First: what this host cannot run is not worth keeping.
        let component = deserialize_trusted(engine, &artifact)?;
        match self.write_entry(&path, &name, &artifact) {
            Ok(()) => Ok((self.read_entry(engine, &path, &name).unwrap_or(component), false)),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "the compiled plugin could not be cached; the next start compiles it again");
                Ok((component, false))
            }
        }
    }

    /// None when there is no entry, or one that this host did not make for this component and this
    /// engine.
    fn read_entry(&self, engine: &Engine, path: &Path, name: &str) -> Option<Component> {
        let mut file = File::open(path).ok()?;
        let Some(artifact) = self.read_sealed(&mut file, name) else {
            tracing::warn!(path = %path.display(), "a cached plugin is damaged, or was not made by this host; compiling it again");
            return None;
        };
        // Not every system lets an open file be opened again.
        let component =
            map_trusted(engine, &file).or_else(|_| deserialize_trusted(engine, &artifact));
        eviction::used(path);
        component
            .inspect_err(|error| tracing::warn!(path = %path.display(), %error, "a cached plugin does not fit; compiling it again"))
            .ok()
    }

    /// Machine code with this host's seal, of a file that nobody else can change while it is
    /// mapped.
    fn read_sealed(&self, file: &mut File, name: &str) -> Option<Vec<u8>> {
        let metadata = file.metadata().ok()?;
        ownership::check(&metadata).ok()?;
        let mut entry = Vec::new();
        file.read_to_end(&mut entry).ok()?;
        let (artifact, seal) = entry.split_last_chunk::<SEAL_BYTES>()?;
        let trusted = !writable_by_others(&metadata) && self.seal.verify(name, artifact, seal);
        entry.truncate(artifact.len());
        trusted.then_some(entry)
    }

    /// Writes beside and renames, so that a reader sees all of it or nothing, and a file that is
    /// mapped is never written.
    fn write_entry(&self, path: &Path, name: &str, artifact: &[u8]) -> std::io::Result<()> {
        let disk = rustix::fs::statvfs(&self.folder)?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if free < self.reserved.saturating_add(artifact.len() as u64) {
            let reason = format!("{free} bytes are free, and {} are to stay so", self.reserved);
            return Err(std::io::Error::new(std::io::ErrorKind::StorageFull, reason));
        }
        let partial = path.with_extension(format!("{}.{}", std::process::id(), eviction::PARTIAL));
        let entry = [artifact, self.seal.sign(name, artifact).as_slice()].concat();
        let written =
            std::fs::write(&partial, entry).and_then(|()| std::fs::rename(&partial, path));
        if written.is_err() {
            // What was written of it fills a disk that is full already.
            let _ = std::fs::remove_file(&partial);
        }
        written
    }
}

/// The component of machine code that this host, or the child process that compiles for it, has
/// just made, or that bears this host's seal.
///
/// # Errors
/// Machine code of another engine.
pub fn deserialize_trusted(engine: &Engine, artifact: &[u8]) -> wasmtime::Result<Component> {
    #[expect(
        unsafe_code,
        reason = "the artifact comes from this program's own compiler, unchanged: see the callers"
    )]
    // SAFETY: `deserialize` asks that the bytes come from `serialize` of a trusted engine: see the
    // reason above.
    unsafe {
        Component::deserialize(engine, artifact)
    }
}

/// The component of an entry that bears this host's seal, from the file itself: pages of it that
/// nobody uses take no memory.
fn map_trusted(engine: &Engine, entry: &File) -> wasmtime::Result<Component> {
    // Whatever bears the entry's name by now, this is the file that was checked.
    let checked = format!("/proc/self/fd/{}", entry.as_raw_fd());
    #[expect(
        unsafe_code,
        reason = "the entry bears this host's seal, and nobody else can change it"
    )]
    // SAFETY: `deserialize_file` asks for what `deserialize` does, and that the file stays as it
    // is. This host's user alone can write it; the host removes and replaces files and writes into
    // none, which leaves what is mapped.
    unsafe {
        Component::deserialize_file(engine, checked)
    }
}

/// Covers the engine's version, target, flags and settings.
pub(crate) fn engine_hash(engine: &Engine) -> u64 {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.finish()
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

#[cfg(test)]
mod tests;
