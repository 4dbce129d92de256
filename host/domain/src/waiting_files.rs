//! The files of released versions that still lie where they waited (contract-21-waiting-files).

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::Digest;

/// Digests of files that lie in the store's folder for what waits. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct WaitingFiles {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// False as a rule, which costs readers nothing.
    any: AtomicBool,
    digests: RwLock<HashSet<Digest>>,
}

impl WaitingFiles {
    /// Returns true where the file lies there.
    #[must_use]
    pub fn contains(&self, file: &Digest) -> bool {
        self.shared.any.load(Ordering::Acquire)
            && self.shared.digests.read().unwrap_or_else(PoisonError::into_inner).contains(file)
    }

    /// Adds a file.
    pub fn insert(&self, file: Digest) {
        self.shared.digests.write().unwrap_or_else(PoisonError::into_inner).insert(file);
        self.shared.any.store(true, Ordering::Release);
    }

    /// Takes these files in place of those that were known.
    pub fn replace(&self, files: HashSet<Digest>) {
        let any = !files.is_empty();
        *self.shared.digests.write().unwrap_or_else(PoisonError::into_inner) = files;
        self.shared.any.store(any, Ordering::Release);
    }
}
