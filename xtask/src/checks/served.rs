//! A server with published data for the checks that scripts in `tests/external` make of one: builds
//! the product, empties a folder, publishes, issues keys, serves, runs the script and stops. Knows
//! no check.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context as _, Result};

use super::report::CheckCounts;
use super::suites;
use crate::repository::{PRODUCT, Profile, Repository};
use crate::server::{self, ServerProcess};
use crate::{command, demo, packages};

/// Variable that names a data folder with every demo dataset to the steps of a test run, each of
/// which would publish them again.
const PUBLISHED: &str = "YEARBOOK_PUBLISHED";

/// Lines of the server's log that are printed for a failed check.
const LINES: usize = 40;

/// A product and a folder of its own for one step.
#[derive(Clone, Debug)]
pub struct ServerFixture {
    root: PathBuf,
    binary: PathBuf,
    folder: PathBuf,
}

impl ServerFixture {
    /// Builds the product and empties the folder of the step called `name`.
    pub(crate) fn prepare(repository: &Repository, name: &str) -> Result<Self> {
        Self::with_profile(repository, name, Profile::Debug)
    }

    /// The same with a product built as `profile` says.
    ///
    /// # Errors
    /// Fails when the product cannot be built, or the folder cannot be emptied.
    pub fn with_profile(repository: &Repository, name: &str, profile: Profile) -> Result<Self> {
        let binary = repository.build_product(profile)?;
        let folder = repository.target().join("xtask").join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        let fixture = Self { root: repository.root().to_owned(), binary, folder };
        fs::create_dir_all(fixture.data_dir())
            .with_context(|| format!("cannot make {}", fixture.data_dir().display()))?;
        Ok(fixture)
    }

    /// Has `step`, a process of this program, use this product and take the demo's datasets from
    /// here.
    pub(crate) fn share_with(&self, step: &mut Command) {
        step.env(PRODUCT, &self.binary).env(PUBLISHED, self.data_dir());
    }

    /// True in a step of a whole run, which [shares](Self::share_with) its product; false in one
    /// that was asked for alone.
    pub(crate) fn is_shared() -> bool {
        env::var_os(PRODUCT).is_some()
    }

    /// Returns the folder into which the step may write.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// `yearbook` on the data of the step.
    pub fn yearbook(&self) -> Command {
        let mut yearbook = Command::new(&self.binary);
        yearbook.arg("--data-dir").arg(self.data_dir());
        yearbook
    }

    /// Publishes packages in their order.
    ///
    /// # Errors
    /// Fails when a package cannot be published.
    pub fn publish<P: AsRef<OsStr>>(&self, descriptors: &[P]) -> Result<()> {
        command::run(self.yearbook().arg("publish").args(descriptors))
    }

    /// Publishes every demo dataset before any other, or copies them from where the test run has
    /// published them; all their descriptors.
    ///
    /// # Errors
    /// Fails when a package cannot be published or copied.
    pub fn publish_demo(&self) -> Result<Vec<PathBuf>> {
        let descriptors = packages::descriptors(&self.root.join("datasets"))?;
        match env::var_os(PUBLISHED) {
            Some(published) => {
                let mut copy = Command::new("cp");
                command::run(
                    copy.arg("--recursive")
                        .arg("--no-target-directory")
                        .args([published, self.data_dir().into()]),
                )?;
            }
            None => self.publish(&descriptors)?,
        }
        Ok(descriptors)
    }

    /// Installs every format that is not part of the product.
    pub(crate) fn install_formats(&self, repository: &Repository) -> Result<()> {
        demo::install_formats(repository, &self.binary, &self.data_dir())
    }

    /// A new key of `plan`.
    ///
    /// # Errors
    /// Fails when the key cannot be issued.
    pub fn key(&self, plan: &str) -> Result<String> {
        demo::key(&self.binary, &self.data_dir(), plan)
    }

    /// `script`, a file below `tests/external`, for a Python; it finds what the scripts share, and
    /// leaves no compiled Python in the source tree.
    pub(crate) fn script(&self, python: &Path, script: &str) -> Command {
        let tests = self.root.join("tests/external");
        let mut run = Command::new(python);
        run.arg(tests.join(script))
            .env("PYTHONPATH", tests.join("common"))
            .env("PYTHONDONTWRITEBYTECODE", "1");
        run
    }

    /// Serves the data with `settings`, environment variables, and logs to a file.
    ///
    /// # Errors
    /// Fails when the server cannot be run, or is not healthy within 180 s.
    pub fn serve(&self, log: &Path, settings: &[(&str, &str)]) -> Result<ServerProcess> {
        ServerProcess::start(
            &self.binary,
            &self.data_dir(),
            server::free_address()?,
            Some(log),
            settings,
        )
    }

    /// Serves the data with `settings`, environment variables, runs what `script` makes for that
    /// server and adds up what it prints.
    pub(crate) fn count(
        &self,
        settings: &[(&str, &str)],
        script: impl FnOnce(&ServerProcess) -> Result<Command>,
    ) -> Result<CheckCounts> {
        let log = self.folder.join("server.log");
        let mut server = self.serve(&log, settings)?;
        let tally = script(&server).and_then(|mut script| suites::count(&mut script));
        server.stop()?;
        if tally.as_ref().is_ok_and(|tally| tally.failed > 0) {
            print_log_tail(&log);
        }
        tally
    }

    fn data_dir(&self) -> PathBuf {
        self.folder.join("data")
    }
}

/// The last lines of the server's log, where a failed check is explained.
fn print_log_tail(log: &Path) {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    println!("-- end of {}", log.display());
    for line in lines.iter().skip(lines.len().saturating_sub(LINES)) {
        println!("{line}");
    }
}
