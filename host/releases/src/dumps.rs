//! Failure dumps on disk: a folder with one file for each way in which a component fails, and the
//! file format. The sandbox makes the dumps; no command line and no output stands here.

mod file;
mod request_record;

use std::collections::HashSet;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use yearbook_sandbox::{DumpSink, FailureDump};

pub use self::file::{DumpReadError, MAX_DUMP_BYTES, read_dump, write_dump};

/// A folder that failure dumps are written into.
#[derive(Debug)]
pub struct DumpFolder {
    path: PathBuf,
    /// Names that are being written, or could not be written: these are not tried again.
    attempted: Mutex<HashSet<String>>,
}

/// The folder for failure dumps cannot be made.
#[derive(Debug, thiserror::Error)]
#[error(
    "the folder {folder} for dumps cannot be made: {reason}; choose another with plugins.dumps"
)]
pub struct DumpFolderError {
    /// The folder.
    pub folder: String,
    /// The operating system's reason.
    pub reason: String,
}

impl DumpFolder {
    /// Uses the folder `path`, made for its owner alone (mode 0700) where there is none.
    ///
    /// # Errors
    /// [`DumpFolderError`] when it cannot be made.
    pub fn open(path: &Path) -> Result<Self, DumpFolderError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|error| DumpFolderError {
            folder: path.display().to_string(),
            reason: error.to_string(),
        })?;
        Ok(Self { path: path.to_owned(), attempted: Mutex::default() })
    }

    /// Writes the dump unless one of its name is there. An error is logged once.
    fn write_once(&self, dump: &FailureDump) {
        let name = dump.file_name();
        if self.path.join(&name).exists() || !self.attempted().insert(name.clone()) {
            return;
        }
        let plugin = &dump.about.component.name;
        match write_dump(dump, &self.path) {
            Ok(path) => {
                tracing::warn!(plugin, path = %path.display(), "the plugin's failure is kept: run `yearbook plugin replay` on this file");
                self.attempted().remove(&name);
            }
            Err(error) => {
                tracing::warn!(plugin, folder = %self.path.display(), %error, "the plugin's failure could not be kept as a dump");
            }
        }
    }

    fn attempted(&self) -> MutexGuard<'_, HashSet<String>> {
        self.attempted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DumpSink for DumpFolder {
    /// Writes a file, once for each way in which a component fails. Clients can provoke a refusal,
    /// so it writes none.
    fn write(&self, dump: &FailureDump, is_refusal: bool) {
        if !is_refusal {
            self.write_once(dump);
        }
    }
}
