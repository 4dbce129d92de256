//! Folders: the source tree, the build folder and the cache. Owns every path outside the source
//! tree that automation writes to.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context as _, Result};

use crate::{command, plugins};

/// Variable that names this program to the product's build script, which runs it for the plugins.
pub(crate) const XTASK: &str = "YEARBOOK_XTASK";

/// Variable that names a built product to the steps of a test run: building it again would replace
/// the program that the tests of the workspace run.
pub(crate) const PRODUCT: &str = "YEARBOOK_PRODUCT";

/// A source tree.
#[derive(Debug)]
pub struct Repository {
    root: PathBuf,
}

/// Build of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Our crates unoptimised, what they depend on optimised.
    Debug,
    /// Built in a quarter of an hour, without what reaches other servers: PostgreSQL, S3, traces.
    Demo,
    /// As shipped.
    Release,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Demo => "demo",
            Self::Release => "release",
        }
    }
}

impl Repository {
    /// The tree whose `cargo xtask` was called. Cargo says which when it runs us; the path at
    /// compile time may be another, because two clones that share a build folder share this binary
    /// too.
    pub fn discover() -> Self {
        let here = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let top = here.ancestors().find(|folder| folder.join("Cargo.lock").exists());
        Self { root: top.unwrap_or(&here).to_owned() }
    }

    /// The top of the source tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder in which cargo builds: `CARGO_TARGET_DIR`, or a folder of the home cache,
    /// so that a fresh clone finds what an earlier one built.
    pub fn target(&self) -> PathBuf {
        env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| self.cache_dir().join("target"), |folder| self.root.join(folder))
    }

    /// `~/.cache/yearbook`: tools and Python environments that outlive a clone.
    pub fn cache_dir(&self) -> PathBuf {
        let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
        let base = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
        base.unwrap_or_else(|| self.root.join("target")).join("yearbook")
    }

    /// The cargo that runs this xtask, at the top of the tree, as if it were called by hand: what
    /// cargo tells programs that it runs of themselves reaches build scripts otherwise, and ring is
    /// built again for each clone, with all that stands on it.
    pub fn cargo(&self) -> Command {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        let of_ourselves =
            |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        for (name, _) in env::vars_os().filter(|(name, _)| name.to_str().is_some_and(of_ourselves))
        {
            cargo.env_remove(name);
        }
        cargo.env_remove(XTASK).current_dir(&self.root).env("CARGO_TARGET_DIR", self.target());
        cargo
    }

    /// Builds the guests into `plugins/dist`, as they are released. They have a folder of their
    /// own, so that builds of guests and of the host don't undo each other's work.
    ///
    /// # Errors
    /// Fails when a plugin cannot be built, or imports more than a plugin may.
    pub fn build_plugins(&self) -> Result<()> {
        for component in self.build_components()? {
            let size = component
                .metadata()
                .with_context(|| format!("cannot read {}", component.display()))?
                .len();
            println!("{} ({} kB)", component.display(), size / 1000);
        }
        Ok(())
    }

    /// Builds the guests as [`Self::build_plugins`] does, without a word, and returns their files,
    /// sorted: the folder may hold others, of plugins that are gone or of another branch.
    pub(crate) fn build_components(&self) -> Result<Vec<PathBuf>> {
        plugins::build(&self.root, &self.target().join("guests"), plugins::PROFILE)
    }

    /// Builds `yearbook` with its plugins inside (its build script calls this program for them) and
    /// returns a copy of the binary, which a later build without them cannot replace; in a step of
    /// a test run, the copy that the run has made.
    ///
    /// # Errors
    /// Fails when the build fails, or the binary cannot be copied.
    pub fn build_product(&self, profile: Profile) -> Result<PathBuf> {
        if let (Profile::Debug, Some(product)) = (profile, env::var_os(PRODUCT)) {
            return Ok(product.into());
        }
        let mut build = self.cargo();
        if let Some(xtask) = xtask()? {
            build.env(XTASK, xtask);
        }
        // As a part of the whole workspace, whose tests then use the same builds of everything it
        // depends on.
        let with_tests =
            ["build", "--workspace", "--bin", "yearbook", "--features", "yearbook-cli/embed"];
        match profile {
            Profile::Debug => build.args(with_tests),
            Profile::Demo => build.args([
                "build",
                "--package",
                "yearbook-cli",
                "--no-default-features",
                "--features",
                "pages,share,adapters",
                "--profile",
                "demo",
            ]),
            Profile::Release => build.args(with_tests).arg("--release"),
        };
        command::run(&mut build)?;
        let built = self.target().join(profile.name()).join("yearbook");
        let copy = self.target().join("xtask").join(profile.name()).join("yearbook");
        if let Some(folder) = copy.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        // A new file, not the old one overwritten: a server may still be running from it.
        let fresh = copy.with_extension(format!("new-{}", std::process::id()));
        fs::copy(&built, &fresh).with_context(|| format!("cannot copy {}", built.display()))?;
        fs::rename(&fresh, &copy).with_context(|| format!("cannot replace {}", copy.display()))?;
        Ok(copy)
    }
}

/// The program that builds plugins: the one that the caller named, or this one where it is
/// `yearbook-xtask`. Without one, the product's build script builds it.
fn xtask() -> Result<Option<PathBuf>> {
    if let Some(named) = env::var_os(XTASK) {
        return Ok(Some(named.into()));
    }
    let this = env::current_exe().context("this program cannot be found")?;
    let is_xtask = this.file_stem().is_some_and(|stem| stem == "yearbook-xtask");
    Ok(is_xtask.then_some(this))
}
