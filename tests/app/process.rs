//! Processes that end with the test that started them, and the binary that is tried.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::DirBuilder;
use std::net::TcpListener;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use yearbook_prerequisites::Prerequisite;

/// Variable in which `cargo xtask` puts the path of the binary.
const BINARY: &str = "YEARBOOK_TEST_BINARY";

/// A process that is killed when this is dropped.
pub struct ChildProcess(Child);

impl ChildProcess {
    /// Starts it.
    #[must_use]
    pub fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap())
    }

    /// Returns its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Returns true if it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The binary; `None` where there is none and none is required.
#[must_use]
pub fn binary() -> Option<PathBuf> {
    Prerequisite::Binary
        .or_skip(std::env::var(BINARY).ok().map(PathBuf::from), format!("{BINARY} names no binary"))
}

/// The binary in `folder` with these settings and no others.
#[must_use]
pub fn yearbook(binary: &Path, folder: &Path, variables: &[(String, String)]) -> Command {
    let mut command = Command::new(binary);
    for (name, _) in std::env::vars()
        .filter(|(name, _)| name.starts_with("YEARBOOK_") || name.starts_with("AWS_"))
    {
        command.env_remove(name);
    }
    command
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .current_dir(folder)
        .stdin(Stdio::null());
    command
}

/// Settings by which every run finds the compiled plugins of the first, in `place`.
#[must_use]
pub fn cache(place: &Path) -> [(String, String); 2] {
    DirBuilder::new().recursive(true).mode(0o700).create(place).unwrap();
    [("YEARBOOK_SANDBOX__CACHE_DIR", "cache"), ("YEARBOOK_SANDBOX__CACHE_KEY_FILE", "cache.key")]
        .map(|(name, file)| (name.to_owned(), place.join(file).display().to_string()))
}

/// A port of this machine that nothing listens on.
#[must_use]
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
