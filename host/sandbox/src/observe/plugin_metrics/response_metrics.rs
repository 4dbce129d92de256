//! One response while it is made: counted when it begins and once when it ends, whichever way. Its
//! span says the same to whoever traces.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tracing::Span;
use tracing::field::Empty;

use super::{FIRST_BYTES_BUCKETS_US, PluginMetrics, ReleaseName, increment, nanoseconds};
use crate::observe::{DumpTarget, PluginError, ResponseOutcome};
use crate::trap::TrapKind;

/// Counters of the guests of one response, or of one trial. Instances share it.
pub(crate) struct CallMetrics {
    tally: Arc<PluginMetrics>,
    cpu_ns: AtomicU64,
    rows: AtomicU64,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
    noted: AtomicUsize,
    dump_target: DumpTarget,
}

impl CallMetrics {
    /// Counted in `tally` too; what fails goes to `dump_target`.
    pub(crate) fn new(tally: Arc<PluginMetrics>, dump_target: DumpTarget) -> Arc<Self> {
        let zero = AtomicU64::default;
        Arc::new(Self {
            tally,
            cpu_ns: zero(),
            rows: zero(),
            bytes_in: zero(),
            bytes_out: zero(),
            noted: AtomicUsize::default(),
            dump_target,
        })
    }

    /// Format or tool.
    pub(crate) fn plugin_name(&self) -> &str {
        &self.tally.release.id.name
    }

    /// The release.
    pub(crate) fn release(&self) -> &ReleaseName {
        &self.tally.release
    }

    /// Destination of failure dumps.
    pub(crate) fn dump_target(&self) -> &DumpTarget {
        &self.dump_target
    }

    /// Processor time of the calls so far.
    pub(crate) fn cpu(&self) -> Duration {
        Duration::from_nanos(self.cpu_ns.load(Ordering::Relaxed))
    }

    /// Counts an instance that begins to live.
    pub(crate) fn record_instance_start(&self) {
        self.tally.instances.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an instance that is gone.
    pub(crate) fn record_instance_end(&self) {
        self.tally.instances.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts a call that took `cpu` of an instance whose memory has `memory_bytes`.
    pub(crate) fn record_call(&self, cpu: Duration, memory_bytes: usize) {
        let cpu = nanoseconds(cpu);
        increment(&self.cpu_ns, cpu);
        increment(&self.tally.cpu_ns, cpu);
        increment(&self.tally.calls, 1);
        // Written only while it grows: reading a shared line is cheap.
        if memory_bytes > self.tally.memory_bytes.load(Ordering::Relaxed) {
            self.tally.memory_bytes.fetch_max(memory_bytes, Ordering::Relaxed);
        }
    }

    /// Counts what is given to a guest.
    pub(crate) fn record_input(&self, rows: usize, bytes: usize) {
        for (own, all, value) in
            [(&self.rows, &self.tally.rows, rows), (&self.bytes_in, &self.tally.bytes_in, bytes)]
        {
            increment(own, value as u64);
            increment(all, value as u64);
        }
    }

    /// Counts bytes of notes that a part leaves; how many all parts left before it.
    pub(crate) fn record_notes(&self, bytes: usize) -> usize {
        self.noted.fetch_add(bytes, Ordering::Relaxed)
    }

    /// Counts bytes that a guest returned.
    pub(crate) fn returned(&self, bytes: usize) {
        increment(&self.bytes_out, bytes as u64);
        increment(&self.tally.bytes_out, bytes as u64);
    }
}

/// A response that has its place among the instances. Dropped without an end, it was abandoned.
pub(crate) struct ResponseMetrics {
    work: Arc<CallMetrics>,
    since: Instant,
    span: Span,
    ended: bool,
}

impl ResponseMetrics {
    pub(crate) fn begin(tally: &Arc<PluginMetrics>, dump_target: &DumpTarget) -> Self {
        increment(&tally.begun, 1);
        let release = &tally.release;
        let span = tracing::debug_span!(
            "plugin",
            kind = release.id.kind.as_str(),
            name = release.id.name,
            version = release.version,
            digest = release.id.digest.as_str(),
            outcome = Empty,
            cpu_us = Empty,
            rows = Empty,
            bytes_in = Empty,
            bytes_out = Empty,
        );
        Self {
            work: CallMetrics::new(Arc::clone(tally), dump_target.clone()),
            since: Instant::now(),
            span,
            ended: false,
        }
    }

    /// Counters of its guests.
    pub(crate) fn work(&self) -> Arc<CallMetrics> {
        Arc::clone(&self.work)
    }

    /// The span that its log belongs to: the request's, where its own is not wanted.
    pub(crate) fn span(&self) -> Span {
        if self.span.is_disabled() { Span::current() } else { self.span.clone() }
    }

    /// Its first bytes are made.
    pub(crate) fn first_bytes(&self) {
        let tally = &self.work.tally;
        let time = self.since.elapsed();
        let microseconds = time.as_micros();
        let bucket = FIRST_BYTES_BUCKETS_US
            .iter()
            .position(|bound| microseconds <= u128::from(*bound))
            .unwrap_or(FIRST_BYTES_BUCKETS_US.len());
        increment(&tally.first_bytes[bucket], 1);
        increment(&tally.first_bytes_ns, nanoseconds(time));
    }

    /// All of it is made.
    pub(crate) fn complete(mut self) {
        self.end(ResponseOutcome::Completed, None);
    }

    /// It failed.
    pub(crate) fn finish_failed(mut self, error: &impl PluginError) {
        let (outcome, trap) = error.outcome();
        self.end(outcome, trap);
    }

    fn end(&mut self, outcome: ResponseOutcome, trap: Option<TrapKind>) {
        self.ended = true;
        let CallMetrics { tally, cpu_ns, rows, bytes_in, bytes_out, .. } = &*self.work;
        increment(&tally.outcomes[outcome as usize], 1);
        if let Some(trap) = trap {
            increment(&tally.traps[trap as usize], 1);
        }
        if self.span.is_disabled() {
            return;
        }
        self.span.record("outcome", outcome.name());
        self.span.record("cpu_us", cpu_ns.load(Ordering::Relaxed) / 1_000);
        for (field, value) in [("rows", rows), ("bytes_in", bytes_in), ("bytes_out", bytes_out)] {
            self.span.record(field, value.load(Ordering::Relaxed));
        }
        tracing::debug!(parent: &self.span, "the plugin's response ended");
    }
}

impl Drop for ResponseMetrics {
    fn drop(&mut self) {
        if !self.ended {
            self.end(ResponseOutcome::Abandoned, None);
        }
    }
}
