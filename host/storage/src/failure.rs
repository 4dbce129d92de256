//! Failures of stored data through no fault of the caller: logged once, never shown to
//! clients.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use yearbook_domain::StoredFile;

/// A fault of the service's storage. Messages name the object or folder at fault and what an
/// operator can do. Cheap to clone, because everybody who waits for the same load gets the same
/// failure.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageFailure {
    /// The storage address cannot be used.
    #[error("storage address {url:?}: {why}")]
    InvalidUrl {
        /// As configured.
        url: String,
        /// The fault, and what to write instead.
        why: String,
    },
    /// A local file or folder refused an operation.
    #[error(
        "cannot {doing} {path}: {source}; check that it exists and that this user may read and write it"
    )]
    Local {
        /// A verb: `create`, `read`.
        doing: &'static str,
        /// The file or folder.
        path: String,
        /// The operating system's word.
        source: Arc<std::io::Error>,
    },
    /// The object store refused an operation, possibly only for now.
    #[error("object store: {key}: {source}; check the store and try again")]
    Store {
        /// Key of the object, or what was asked of the store.
        key: String,
        /// The store's word.
        source: Arc<object_store::Error>,
    },
    /// The object store did not answer in the time that a read may take.
    #[error(
        "object store: {key}: no answer within {within:?}; check the store and the line to it, or raise storage.answer_ms"
    )]
    Timeout {
        /// Key of the object.
        key: String,
        /// `storage.answer_ms`.
        within: Duration,
    },
    /// The catalog could not record what is about to be stored.
    #[error("{key} was not stored, since it could not be declared: {why}")]
    Unregistered {
        /// Its name without an ending.
        key: String,
        /// The catalog's sentence.
        why: String,
    },
    /// A snapshot's file is not in the store.
    #[error(
        "snapshot file {key} is missing from the object store; restore it, or publish its data package again"
    )]
    Missing {
        /// Key of the object.
        key: String,
    },
    /// A snapshot's file is there but is not what was published.
    #[error(
        "snapshot file {key} is damaged ({why}); restore it, or publish its data package again"
    )]
    Damaged {
        /// Key of the object.
        key: String,
        /// The place and the fault.
        why: String,
    },
    /// A plugin's component is not in the store.
    #[error(
        "the component {key} is missing from the object store; restore it, or install it again"
    )]
    ComponentMissing {
        /// Key of the object.
        key: String,
    },
    /// A plugin's component is there but is not what was installed.
    #[error("the component {key} is refused: {why}; restore it, or install it again")]
    ComponentDamaged {
        /// Key of the object.
        key: String,
        /// The difference.
        why: String,
    },
    /// The catalog and a file disagree, or a plan asks for what its snapshot does not have.
    #[error("{what} does not fit its snapshot: {why}; this is a bug in the service")]
    Mismatch {
        /// The plan or file.
        what: String,
        /// The contradiction.
        why: String,
    },
    /// More memory to find rows than may be held at once.
    #[error("what a selection holds takes more than limits.selection_bytes; raise it")]
    SelectionTooLarge,
    /// Other requests hold the memory that finding rows needs.
    #[error("other selections hold what limits.selection_bytes allows; try again, or raise it")]
    SelectionBusy,
    /// Background work was cut short because the process is shutting down.
    #[error("background work on {what} was cut short; the process is shutting down")]
    ShuttingDown {
        /// The object of the work.
        what: String,
    },
}

impl StorageFailure {
    /// Returns whether the store failed, not what it holds: a later attempt may succeed.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Store { .. } | Self::Timeout { .. })
    }

    /// Returns whether the file of one snapshot is lost or not what was published.
    #[must_use]
    pub fn is_of_one_snapshot(&self) -> bool {
        matches!(self, Self::Missing { .. } | Self::Damaged { .. })
    }

    /// Returns whether one object or the disk below it is at fault: others may be read.
    #[must_use]
    pub fn is_of_one_object(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::Local { .. })
    }

    /// A local file or folder refused to be `doing`.
    #[must_use]
    pub fn local(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Local { doing, path: path.display().to_string(), source: Arc::new(source) }
    }

    /// The object store refused.
    pub(crate) fn store(key: &str, source: object_store::Error) -> Self {
        Self::Store { key: key.to_owned(), source: Arc::new(source) }
    }

    /// The store has `size` bytes of `file`, which is another number than was published.
    pub(crate) fn wrong_size(key: &str, size: u64, file: &StoredFile) -> Self {
        Self::damaged(key, format!("{size} bytes are there, {} were published", file.bytes))
    }

    /// A stored file is not what was published.
    #[must_use]
    pub fn damaged(key: &str, why: impl Into<String>) -> Self {
        Self::Damaged { key: key.to_owned(), why: why.into() }
    }
}
