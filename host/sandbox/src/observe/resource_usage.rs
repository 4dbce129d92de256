//! Usage of a guest's limits: `plugin check` shows it to an author, and a release is monitored by
//! it. Knows nothing of the limits themselves.

use std::time::Duration;

use serde::Serialize;

/// The most that an instance has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ResourceUsage {
    /// Largest linear memory, bytes.
    pub memory_bytes: usize,
    /// Largest table, elements.
    pub table_elements: usize,
    /// Processor time of the longest call.
    pub cpu: Duration,
    /// Time of the longest call by the clock on the wall.
    pub wall: Duration,
    /// Bytes that the call with the most bytes returned.
    pub output_bytes: usize,
    /// Calls made, `open` and `describe` included.
    pub calls: u32,
    /// WebAssembly instructions of all calls; 0 unless the sandbox counts them.
    #[serde(skip)]
    pub instructions: u64,
}

impl ResourceUsage {
    /// The larger of each; calls and instructions of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            memory_bytes: self.memory_bytes.max(other.memory_bytes),
            table_elements: self.table_elements.max(other.table_elements),
            cpu: self.cpu.max(other.cpu),
            wall: self.wall.max(other.wall),
            output_bytes: self.output_bytes.max(other.output_bytes),
            calls: self.calls.saturating_add(other.calls),
            instructions: self.instructions.saturating_add(other.instructions),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_instances_together_used_the_larger_of_each() {
        let one = ResourceUsage {
            memory_bytes: 9,
            cpu: Duration::from_millis(1),
            calls: 2,
            ..ResourceUsage::default()
        };
        let other = ResourceUsage {
            memory_bytes: 3,
            cpu: Duration::from_millis(4),
            calls: 5,
            ..ResourceUsage::default()
        };
        let both = one.and(other);
        assert_eq!((both.memory_bytes, both.cpu, both.calls), (9, Duration::from_millis(4), 7));
    }
}
