//! Bytes of a chain: what it holds on the host's side, counted with the memory of guests, and what
//! it makes of what was read.

use std::sync::Arc;

use yearbook_counters::{Counter, Metric as _};
use yearbook_engine::Trap;

use crate::admission::MemoryBudget;
use crate::guest_error::GuestError;

/// Bytes that any chain may make, whatever it reads.
const FREE_BYTES: u64 = 64 << 20;

/// Bytes that a result counts for at least. Each costs a call, and without this a guest could go on
/// for as many calls as it may make bytes.
const MIN_RESULT_BYTES: u64 = 1024;

/// Bytes that are held, given back when this is dropped.
pub(super) struct HeldBytes {
    budget: Arc<MemoryBudget>,
    bytes: usize,
}

impl HeldBytes {
    pub(super) fn new(budget: &Arc<MemoryBudget>) -> Self {
        Self { budget: Arc::clone(budget), bytes: 0 }
    }

    /// Counts so many more.
    ///
    /// # Errors
    /// [`GuestError::Busy`] when the memory of all guests is used up.
    pub(super) fn take(&mut self, bytes: usize) -> Result<(), GuestError> {
        if !self.budget.take(bytes) {
            return Err(GuestError::Busy { retry_after: 1 });
        }
        self.bytes += bytes;
        Ok(())
    }

    /// Bytes so far.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Leaves none here, and returns those that were.
    pub(super) fn split_off(&mut self) -> Self {
        let bytes = std::mem::take(&mut self.bytes);
        Self { budget: Arc::clone(&self.budget), bytes }
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

/// Bytes that the transforms of one chain made, all together, and that were read for them.
#[derive(Default)]
pub(super) struct ChainBytes {
    read: Counter,
    made: Counter,
}

impl ChainBytes {
    /// Counts bytes of the input.
    pub(super) fn record_read(&self, bytes: usize) {
        self.read.add(bytes as u64);
    }

    /// Counts a result of `bytes`.
    ///
    /// # Errors
    /// The limit, where the chain has made more than `amplification` bytes for each that was read.
    pub(super) fn record_made(&self, bytes: usize, amplification: usize) -> Result<(), Trap> {
        let result = (bytes as u64).max(MIN_RESULT_BYTES);
        let made = self.made.add(result).saturating_add(result);
        let allowed = self.read.read().saturating_mul(amplification as u64);
        let allowed = allowed.saturating_add(FREE_BYTES);
        if made <= allowed {
            return Ok(());
        }
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        Err(Trap::TransformAmplification { returned: size(made), allowed: size(allowed) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_makes_64_bytes_for_each_that_was_read_beyond_64_mib_contract_16() {
        let bytes = ChainBytes::default();
        let free = 64 << 20;
        assert_eq!(bytes.record_made(free, 64), Ok(()));
        assert!(bytes.record_made(1, 64).is_err());
        bytes.record_read(1024);
        // What was refused counts too.
        assert_eq!(bytes.record_made(63 * 1024, 64), Ok(()));
        let (returned, allowed) = (free + 65 * 1024, free + 64 * 1024);
        let trap = Trap::TransformAmplification { returned, allowed };
        assert_eq!(bytes.record_made(1, 64), Err(trap));
    }

    #[test]
    fn a_result_counts_a_kibibyte_at_least_contract_16() {
        let bytes = ChainBytes::default();
        let results = (0..).take_while(|_| bytes.record_made(1, 64).is_ok()).count();
        assert_eq!(results, (64 << 20) / 1024);
    }
}
