//! Every limit of the sandbox in one value. A limit has a name, a unit, a default and a reason
//! here, and nowhere else a number.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};
use yearbook_domain::json_size::CALL_OUTPUT_BYTES;

/// Longest name of a format, tool or parameter, bytes.
pub const NAME_BYTES: usize = 32;

/// Stack of one call, bytes. Below, a guest that is well made may not find enough; the upper end is
/// more than nested geometries or a guest in Python need, and a thread for each core has it.
pub const STACK_BYTES: RangeInclusive<usize> = 64 << 10..=16 << 20;

/// Stack that the host needs on a thread beside the guest's, bytes: what called the guest, and what
/// the guest calls, a line of the log.
const STACK_MARGIN: usize = 1 << 20;

/// Limits of a guest. Changing `stack_bytes`, `instances`, `memory_bytes`, `total_memory_bytes`
/// or `table_elements` takes effect when the engine is made, that is at start-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Linear memory of one instance, bytes. Default 256 MiB: a Parquet encoder holds one row group
    /// (some 16 MiB), its encoded pages and the batch at hand; ten times that is room, not need.
    pub memory_bytes: usize,
    /// Elements of one table. Default 20,000: a Python guest's function table has some 10,000.
    pub table_elements: usize,
    /// Stack of one call, bytes; from 65,536 to 16,777,216. Default 1 MiB, what a native thread of
    /// musl would have eight of. Each thread that runs guests has so much and a mebibyte for the
    /// host.
    #[serde(deserialize_with = "stack_bytes")]
    pub stack_bytes: usize,
    /// Processor time of one call, milliseconds. Default 2,000: a batch of 4 MB takes our encoders
    /// under 20 ms, a Python guest a hundred times that.
    pub cpu_ms_per_call: u64,
    /// Wall-clock ceiling of one call, milliseconds. Default 30,000: on a busy machine a
    /// descheduled guest is not at fault, but a request cannot wait for ever.
    pub wall_ms_per_call: u64,
    /// Bytes that one call may return. Default 64 MiB ([`CALL_OUTPUT_BYTES`]): sixteen times the
    /// weight of a batch. A batch that exceeds it all the same is given in halves. A row that is
    /// published weighs half of the default at most, so with less than the default some rows may
    /// not be served.
    pub output_bytes_per_call: usize,
    /// Bytes out per byte in, where a cell counts as its bytes, its column's name and 16 more,
    /// since that is what a row-wise text format writes for it. Default 8: JSON escapes grow a byte
    /// to six.
    pub amplification: usize,
    /// Bytes of rows that a reader may make of a byte of its file, beyond 64 MiB; a batch counts 1
    /// KiB at least. Default 256: a cube in JSON-stat has two bytes for a cell, and a row has the
    /// code of each of its dimensions.
    pub read_amplification: usize,
    /// Bytes of rows that the transforms of one response may make, all together, of a byte that was
    /// read for them, beyond 64 MiB; a result counts 1 KiB at least. Default 64: a date and a value
    /// in dictionaries have eight bytes, and a row of text that is made of them some hundred.
    pub transform_amplification: usize,
    /// Bytes that the parts of one response may leave for its tail, together. Default 16 MiB: an
    /// index of 10,000 row groups of 30 columns has some 10 MB.
    pub note_bytes: usize,
    /// Instances alive at once, over all plugins: what bounds the memory of all guests together. A
    /// client that reads slowly holds one (measured: some 8 MB with its buffers), so there must be
    /// many more than cores. Default 512.
    pub instances: u32,
    /// Linear memory of all instances together, bytes. New responses wait while three quarters are
    /// taken; a guest that wants more than there is ends its response, which is not its fault.
    /// Default 4 GiB: 512 slow clients of our encoders, or 100 instances of a Python guest.
    pub total_memory_bytes: usize,
    /// Time that a response may wait for an instance before it is refused, milliseconds.
    /// Default 2,000: longer than a burst, shorter than a client's patience.
    pub queue_ms: u64,
    /// Responses that may wait for an instance at once; more are answered 503 without waiting.
    /// Default 1,024.
    pub queue: usize,
    /// Jobs that may wait for a worker, a thread, before new responses are answered 503: what is
    /// asked for then would begin seconds late. Default 256: small ones take 0.2 ms each, searches
    /// in a million rows some 10.
    pub backlog: usize,
    /// Instances that make one response at once, where its format's parts are independent. Default
    /// 0: as many as there are worker threads. Further instances help only while a worker has
    /// nothing else to do and half of all instances are free; each may have one more chunk made
    /// than `buffered_chunks`.
    pub parallel_parts: usize,
    /// Chunks of a response that may wait for its client. Default 2: one in the socket's hands and
    /// one ready, so that encoding overlaps sending.
    pub buffered_chunks: usize,
    /// Time that a client may leave a full buffer untouched, milliseconds, before its response is
    /// cut off: it holds an instance meanwhile. Each step of a long chunk counts; a client has
    /// `server.write_idle_ms` for one, so less than that is refused. Default 60,000.
    pub stalled_client_ms: u64,
    /// Size of a component, bytes. Default 32 MiB: a Python guest has 18 MB.
    pub component_bytes: usize,
    /// Processor time of compiling a component, milliseconds; by the clock it may take ten times as
    /// long. Default 60,000: our largest plugin (3 MB) takes 5 s, a guest in Python or JavaScript
    /// 12 to 16.
    pub compile_ms: u64,
    /// Address space of the process that compiles, bytes. Default 3 GiB: our largest plugin and
    /// guests in other languages need some 1.5, of which 1.2 are the program itself and its
    /// allocator's reserve; one hard function of 1 MB takes 3.6.
    pub compile_memory_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 256 << 20,
            table_elements: 20_000,
            stack_bytes: 1 << 20,
            cpu_ms_per_call: 2_000,
            wall_ms_per_call: 30_000,
            output_bytes_per_call: CALL_OUTPUT_BYTES,
            amplification: 8,
            read_amplification: 256,
            transform_amplification: 64,
            note_bytes: 16 << 20,
            instances: 512,
            total_memory_bytes: 4 << 30,
            queue_ms: 2_000,
            queue: 1_024,
            backlog: 256,
            parallel_parts: 0,
            buffered_chunks: 2,
            stalled_client_ms: 60_000,
            component_bytes: 32 << 20,
            compile_ms: 60_000,
            compile_memory_bytes: 3 << 30,
        }
    }
}

impl Limits {
    /// Stack of a thread that runs guests, bytes.
    #[must_use]
    pub fn thread_stack_bytes(&self) -> usize {
        self.stack_bytes.saturating_add(STACK_MARGIN).max(yearbook_workers::STACK_BYTES)
    }

    /// Processor time of compiling a component.
    #[must_use]
    pub fn compile_timeout(&self) -> Duration {
        Duration::from_millis(self.compile_ms)
    }

    /// Processor time of one call.
    #[must_use]
    pub fn cpu_timeout(&self) -> Duration {
        Duration::from_millis(self.cpu_ms_per_call)
    }

    /// Ceiling of one call by the clock.
    #[must_use]
    pub fn wall_timeout(&self) -> Duration {
        Duration::from_millis(self.wall_ms_per_call)
    }

    /// Time that a response may wait for an instance.
    #[must_use]
    pub fn queue_timeout(&self) -> Duration {
        Duration::from_millis(self.queue_ms)
    }

    /// Time that a client may leave a full buffer untouched.
    #[must_use]
    pub fn stalled_client_timeout(&self) -> Duration {
        Duration::from_millis(self.stalled_client_ms)
    }
}

/// Reads `stack_bytes` within its bounds.
fn stack_bytes<'de, D: Deserializer<'de>>(value: D) -> Result<usize, D::Error> {
    let bytes = usize::deserialize(value)?;
    if STACK_BYTES.contains(&bytes) {
        return Ok(bytes);
    }
    let expected = format!("a whole number from {} to {}", STACK_BYTES.start(), STACK_BYTES.end());
    Err(D::Error::invalid_value(Unexpected::Unsigned(bytes as u64), &expected.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_out_of_bounds_is_refused_wherever_it_is_read() {
        for (bytes, expected) in [
            (0, false),
            (65_535, false),
            (65_536, true),
            (2 << 20, true),
            (16 << 20, true),
            ((16 << 20) + 1, false),
            (usize::MAX, false),
        ] {
            let read =
                serde_json::from_value::<Limits>(serde_json::json!({ "stack_bytes": bytes }));
            assert_eq!(
                read.as_ref().map(|limits| limits.stack_bytes).ok(),
                expected.then_some(bytes)
            );
            let said = read.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(
                expected || said.contains("expected a whole number from 65536 to 16777216"),
                "{said}"
            );
        }
    }

    #[test]
    fn workers_have_the_stack_of_a_guest_with_the_default_limits() {
        assert!(Limits::default().thread_stack_bytes() <= yearbook_workers::STACK_BYTES);
    }
}
