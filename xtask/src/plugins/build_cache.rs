//! Guests that were built before, by what they were built of: a fresh clone of the same sources has
//! newer files, for which cargo would build every guest again, two minutes for the same bytes.

use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// Sources of all guests, from the top of the tree.
const SHARED_SOURCES: [&str; 4] = ["Cargo.lock", "Cargo.toml", "rust-toolchain.toml", "wit"];

/// Folders of crates, guests and what they share. What else lies there is no source of theirs: the
/// tools of other languages write beside the examples that they build.
const CRATES: [&str; 2] = ["plugins", "examples"];

/// Builds that are kept: those of some branches side by side.
const MAX_BUILDS: usize = 8;

/// A folder with the components of one build, which may not be there yet.
pub(super) struct BuildCache(PathBuf);

impl BuildCache {
    /// Opens the build of the sources in `root`, made by `compiler` with `flags`.
    pub(super) fn open(
        root: &Path,
        target_dir: &Path,
        compiler: &str,
        flags: &str,
    ) -> Result<Self> {
        let mut hasher = DefaultHasher::new();
        (compiler, flags).hash(&mut hasher);
        for source in SHARED_SOURCES {
            hash(root, Path::new(source), &mut hasher)?;
        }
        for folder in CRATES.map(Path::new) {
            for name in names(&root.join(folder))? {
                let member = folder.join(name);
                if root.join(&member).join("Cargo.toml").exists() {
                    hash(root, &member, &mut hasher)?;
                }
            }
        }
        Ok(Self(target_dir.join("built").join(format!("{:016x}", hasher.finish()))))
    }

    /// The bytes of a component, where it was built.
    pub(super) fn component(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.0.join(name)).ok()
    }

    /// Keeps the components of a whole build, and no more builds than [`MAX_BUILDS`].
    pub(super) fn insert(&self, components: &[(String, Vec<u8>)]) -> Result<()> {
        let beside = self.0.with_extension(std::process::id().to_string());
        fs::create_dir_all(&beside).with_context(|| format!("cannot make {}", beside.display()))?;
        for (name, bytes) in components {
            fs::write(beside.join(name), bytes)
                .with_context(|| format!("cannot write into {}", beside.display()))?;
        }
        // Somebody else may have been quicker with the same.
        let _ = fs::remove_dir_all(&self.0);
        fs::rename(&beside, &self.0)
            .with_context(|| format!("cannot rename to {}", self.0.display()))?;
        let mut builds = Vec::new();
        for build in self.0.parent().map(fs::read_dir).context("a folder in another")??.flatten() {
            builds.push((build.metadata()?.modified()?, build.path()));
        }
        builds.sort();
        for (_, old) in builds.iter().rev().skip(MAX_BUILDS) {
            fs::remove_dir_all(old).with_context(|| format!("cannot remove {}", old.display()))?;
        }
        Ok(())
    }
}

/// Adds a file, or every file of a folder in order; not what was built there.
fn hash(root: &Path, path: &Path, hasher: &mut DefaultHasher) -> Result<()> {
    let place = root.join(path);
    if place.is_dir() {
        for name in names(&place)?.iter().filter(|name| *name != "target") {
            hash(root, &path.join(name), hasher)?;
        }
    } else {
        let bytes = fs::read(&place).with_context(|| format!("cannot read {}", place.display()))?;
        (path, bytes).hash(hasher);
    }
    Ok(())
}

/// Names in a folder, sorted.
fn names(folder: &Path) -> Result<Vec<OsString>> {
    let cannot = || format!("cannot list {}", folder.display());
    let entries = fs::read_dir(folder).with_context(cannot)?;
    let names = entries.map(|entry| Ok(entry.with_context(cannot)?.file_name()));
    let mut names = names.collect::<Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// A tree with one plugin, in a folder of its own.
    fn tree(name: &str) -> PathBuf {
        let root =
            std::env::temp_dir().join(format!("yearbook-xtask-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("plugins/csv/src")).unwrap();
        fs::create_dir_all(root.join("plugins/dist")).unwrap();
        fs::create_dir_all(root.join("examples/python-markdown")).unwrap();
        fs::create_dir_all(root.join("wit")).unwrap();
        for file in [
            "Cargo.lock",
            "Cargo.toml",
            "rust-toolchain.toml",
            "plugins/csv/Cargo.toml",
            "plugins/csv/src/lib.rs",
            "wit/world.wit",
        ] {
            fs::write(root.join(file), file).unwrap();
        }
        root
    }

    #[test]
    fn the_same_sources_are_built_once_and_others_again() {
        let (one, other) = (tree("kept-one"), tree("kept-other"));
        let target = one.join("target");
        let of = |root: &Path, flags: &str| {
            BuildCache::open(root, &target, "rustc 1.95", flags).unwrap()
        };
        assert_eq!(of(&one, "").component("csv.wasm"), None);
        of(&one, "").insert(&[("csv.wasm".to_owned(), b"built".to_vec())]).unwrap();
        fs::write(other.join("plugins/dist/csv.wasm"), "built").unwrap();
        fs::create_dir(other.join("examples/python-markdown/__pycache__")).unwrap();
        fs::write(other.join("examples/python-markdown/__pycache__/encoder.pyc"), "").unwrap();
        assert_eq!(
            of(&other, "").component("csv.wasm").as_deref(),
            Some(&b"built"[..]),
            "the same in another clone"
        );
        assert_eq!(of(&one, "-C").component("csv.wasm"), None, "other flags");
        fs::write(other.join("plugins/csv/src/lib.rs"), "changed").unwrap();
        assert_eq!(of(&other, "").component("csv.wasm"), None, "another source");
        for number in 0..2 * MAX_BUILDS {
            of(&one, &number.to_string()).insert(&[]).unwrap();
        }
        assert_eq!(fs::read_dir(target.join("built")).unwrap().count(), MAX_BUILDS);
        let _ = fs::remove_dir_all(one);
        let _ = fs::remove_dir_all(other);
    }
}
