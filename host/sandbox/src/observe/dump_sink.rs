//! Destinations of failure dumps: none, a sink that somebody brings, or memory, where the caller of
//! a trial takes the dump. Knows no file.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use super::FailureDump;

/// Takes the failure dumps of a sandbox.
pub trait DumpSink: Debug + Send + Sync {
    /// Takes a dump. `is_refusal`: clients can provoke it. May block, for a file's write at most.
    fn write(&self, dump: &FailureDump, is_refusal: bool);
}

/// Destination of the dumps of a sandbox, or of one trial.
#[derive(Clone, Default)]
pub(crate) enum DumpTarget {
    /// Dumps are not even made.
    #[default]
    Disabled,
    /// A sink of the sandbox's configuration.
    Sink(Arc<dyn DumpSink>),
    /// The last dump, for [`DumpTarget::take`].
    Memory(Arc<Mutex<Option<Box<FailureDump>>>>),
}

impl DumpTarget {
    /// Memory, for the caller of [`DumpTarget::take`].
    pub(crate) fn in_memory() -> Self {
        Self::Memory(Arc::default())
    }

    /// This target, or memory where it is disabled.
    pub(crate) fn or_in_memory(&self) -> Self {
        if self.is_enabled() { self.clone() } else { Self::in_memory() }
    }

    /// Returns whether dumps are wanted.
    pub(crate) fn is_enabled(&self) -> bool {
        !matches!(self, Self::Disabled)
    }

    /// Hands a dump over. Blocks as long as the sink does.
    pub(crate) fn write(&self, dump: FailureDump, is_refusal: bool) {
        match self {
            Self::Disabled => {}
            Self::Sink(sink) => sink.write(&dump, is_refusal),
            Self::Memory(last) => {
                *last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(dump))
            }
        }
    }

    /// The last dump, where dumps stay in memory.
    pub(crate) fn take(&self) -> Option<Box<FailureDump>> {
        match self {
            Self::Memory(last) => last.lock().unwrap_or_else(PoisonError::into_inner).take(),
            _ => None,
        }
    }
}
