//! Size of what one guest was given, and with it the answer to a question: does a limit that the
//! guest ran into tell something of the guest, or of its input (decision 0220)?

use yearbook_engine::{Limits, Trap};

/// Columns of a small input. An encoder holds buffers for each column, so a wide table may need
/// much memory for a single row; a hundred columns never do.
const SMALL_COLUMNS: usize = 100;

/// Part of `sandbox.memory_bytes` that a small input weighs at most: 1 MiB of the default.
const MEMORY_SHARE: usize = 256;

/// Part of `sandbox.output_bytes_per_call` that a small input weighs at most: 1 MiB of the default.
const OUTPUT_SHARE: usize = 64;

/// Everything that one instance was given so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputSize {
    columns: usize,
    bytes: usize,
    /// Set where every option has its default.
    plain: bool,
}

impl InputSize {
    /// An input without rows yet. `plain`: every option has its default.
    pub(crate) fn new(columns: usize, bytes: usize, plain: bool) -> Self {
        Self { columns, bytes, plain }
    }

    /// Adds rows or notes that weigh so much.
    pub(crate) fn add(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Returns true where `trap` is a refusal of this input rather than a failure of the guest. No
    /// guest may run into a limit at a small input without options: one that always does must be
    /// found.
    pub(crate) fn attributes_to_input(&self, trap: &Trap, limits: &Limits) -> bool {
        let small = self.columns <= SMALL_COLUMNS && self.bytes <= small_input_bytes(limits);
        trap.depends_on_input() && !(self.plain && small)
    }
}

fn small_input_bytes(limits: &Limits) -> usize {
    (limits.memory_bytes / MEMORY_SHARE).min(limits.output_bytes_per_call / OUTPUT_SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn a_limit_that_a_large_wide_or_chosen_input_runs_into_is_no_fault_of_the_plugin() {
        let limits = Limits::default();
        let limits_of_inputs = [
            Trap::Memory(1),
            Trap::Output(1),
            Trap::Notes(1),
            Trap::Amplification { returned: 2, allowed: 1 },
        ];
        let faults = [
            Trap::Cpu(1),
            Trap::Wall(1),
            Trap::Stack(1),
            Trap::Table(1),
            Trap::Wasm("unreachable".to_owned()),
        ];
        // Columns, bytes, whether every option has its default, and whether a limit is the input's.
        for (columns, bytes, plain, expected) in [
            (3, 0, true, false),
            (100, MIB, true, false),
            (101, 0, true, true),
            (3, MIB + 1, true, true),
            (3, 0, false, true),
        ] {
            let input = InputSize::new(columns, bytes, plain);
            for trap in &limits_of_inputs {
                assert_eq!(
                    input.attributes_to_input(trap, &limits),
                    expected,
                    "{columns} {bytes} {plain}: {trap}"
                );
            }
            for trap in &faults {
                assert!(
                    !input.attributes_to_input(trap, &limits),
                    "{columns} {bytes} {plain}: {trap}"
                );
            }
        }
    }

    #[test]
    fn rows_add_up_and_smaller_limits_make_smaller_inputs() {
        let mut input = InputSize::new(1, 0, true);
        input.add(MIB);
        let trap = Trap::Memory(1);
        assert!(!input.attributes_to_input(&trap, &Limits::default()));
        for tight in [
            Limits { memory_bytes: 255 * MIB, ..Limits::default() },
            Limits { output_bytes_per_call: 63 * MIB, ..Limits::default() },
        ] {
            assert!(input.attributes_to_input(&trap, &tight));
        }
        input.add(1);
        assert!(input.attributes_to_input(&trap, &Limits::default()));
    }
}
