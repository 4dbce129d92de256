//! Where capsules go: nowhere, to whoever tries a plugin, or into a folder, one file for each way
//! of failing.

use std::collections::HashSet;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::FailureDump;
use crate::failure::SandboxFailure;

/// Where the capsules of a sandbox, or of one trial, go.
#[derive(Clone, Default)]
pub(crate) enum DumpSink {
    /// Nothing is kept for any.
    #[default]
    Disabled,
    /// Into a folder.
    Folder(Arc<DumpFolder>),
    /// The last one, for whoever asked for it.
    Memory(Arc<Mutex<Option<Box<FailureDump>>>>),
}

/// A folder of capsules.
pub(crate) struct DumpFolder {
    path: PathBuf,
    /// Names that are being written, or could not be: those are not tried again.
    taken: Mutex<HashSet<String>>,
}

impl DumpSink {
    /// Into `folder`, made for its owner alone where there is none.
    ///
    /// # Errors
    /// [`Failure::Capsules`] when it cannot be made.
    pub(crate) fn folder(folder: &Path) -> Result<Self, SandboxFailure> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|error| SandboxFailure::DumpFolder {
            folder: folder.display().to_string(),
            reason: error.to_string(),
        })?;
        Ok(Self::Folder(Arc::new(DumpFolder { path: folder.to_owned(), taken: Mutex::default() })))
    }

    /// To whoever calls [`DumpSink::take`].
    pub(crate) fn in_memory() -> Self {
        Self::Memory(Arc::default())
    }

    /// This one, or one in hand where nothing would be kept.
    pub(crate) fn or_in_memory(&self) -> Self {
        if self.is_enabled() { self.clone() } else { Self::in_memory() }
    }

    /// Whether capsules are wanted.
    pub(crate) fn is_enabled(&self) -> bool {
        !matches!(self, Self::Disabled)
    }

    /// Lets a capsule go. Blocks while a file is written, once for each way in which a component
    /// fails; a refusal, which clients can bring about, is no reason to write one.
    pub(crate) fn write(&self, capsule: FailureDump, is_refusal: bool) {
        match self {
            Self::Disabled => {}
            Self::Folder(_) if is_refusal => {}
            Self::Folder(folder) => folder.write_once(&capsule),
            Self::Memory(hand) => {
                *hand.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(capsule))
            }
        }
    }

    /// The last capsule, where they are held in hand.
    pub(crate) fn take(&self) -> Option<Box<FailureDump>> {
        match self {
            Self::Memory(hand) => hand.lock().unwrap_or_else(PoisonError::into_inner).take(),
            _ => None,
        }
    }
}

impl DumpFolder {
    /// Writes the capsule unless one of its name is there. What goes wrong is logged once.
    fn write_once(&self, capsule: &FailureDump) {
        let name = capsule.file_name();
        if self.path.join(&name).exists() || !self.lock_names().insert(name.clone()) {
            return;
        }
        let plugin = &capsule.about.component.name;
        match capsule.write_to(&self.path) {
            Ok(path) => {
                tracing::warn!(plugin, path = %path.display(), "the plugin's failure is kept: run `yearbook plugin replay` on this file");
                self.lock_names().remove(&name);
            }
            Err(error) => {
                tracing::warn!(plugin, folder = %self.path.display(), %error, "the plugin's failure could not be kept as a capsule");
            }
        }
    }

    fn lock_names(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
