//! What an instance has used, for trials.

use super::EncoderInstance;
use crate::resource_usage::ResourceUsage;

impl EncoderInstance {
    /// What it has used so far; bytes returned are for the caller to count, who sees them.
    pub(crate) fn used(&self) -> ResourceUsage {
        self.store.data().used()
    }

    /// Bytes that it may still give out, without what any call may return whatever its input.
    pub(crate) fn allowance(&self) -> usize {
        self.allowance
    }
}
