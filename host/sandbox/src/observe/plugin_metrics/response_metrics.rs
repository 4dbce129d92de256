//! One response while it is made: counted when it begins and once when it ends, whichever way. Its
//! span says the same to whoever traces.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::Span;
use tracing::field::Empty;
use yearbook_counters::{Counter, Metric as _, TimeCounter};
use yearbook_engine::{Trap, TrapKind};

use super::{FIRST_BYTES_BUCKETS_US, PluginMetrics, ReleaseName};
use crate::guest_error::GuestError;
use crate::observe::{DumpTarget, ResponseOutcome};

/// Counters of the guests of one response, or of one trial. Instances share it.
pub(crate) struct CallMetrics {
    tally: Arc<PluginMetrics>,
    cpu: TimeCounter,
    rows: Counter,
    bytes_in: Counter,
    bytes_out: Counter,
    noted: Counter,
    dump_target: DumpTarget,
}

impl CallMetrics {
    /// Counted in `tally` too; what fails goes to `dump_target`.
    pub(crate) fn new(tally: Arc<PluginMetrics>, dump_target: DumpTarget) -> Arc<Self> {
        Arc::new(Self {
            tally,
            cpu: TimeCounter::default(),
            rows: Counter::default(),
            bytes_in: Counter::default(),
            bytes_out: Counter::default(),
            noted: Counter::default(),
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
        self.cpu.read()
    }

    /// Counts an instance that begins to live.
    pub(crate) fn record_instance_start(&self) {
        self.tally.instances.increment();
    }

    /// Counts an instance that is gone.
    pub(crate) fn record_instance_end(&self) {
        self.tally.instances.decrement();
    }

    /// Counts a call that took `cpu` of an instance whose memory has `memory_bytes`.
    pub(crate) fn record_call(&self, cpu: Duration, memory_bytes: usize) {
        self.cpu.add(cpu);
        self.tally.cpu.add(cpu);
        self.tally.calls.increment();
        self.tally.memory_bytes.raise_to(memory_bytes);
    }

    /// Counts what is given to a guest.
    pub(crate) fn record_input(&self, rows: usize, bytes: usize) {
        for (own, all, value) in
            [(&self.rows, &self.tally.rows, rows), (&self.bytes_in, &self.tally.bytes_in, bytes)]
        {
            own.add(value as u64);
            all.add(value as u64);
        }
    }

    /// Counts bytes of notes that a part leaves; how many all parts left before it.
    pub(crate) fn record_notes(&self, bytes: usize) -> usize {
        usize::try_from(self.noted.add(bytes as u64)).unwrap_or(usize::MAX)
    }

    /// Counts bytes that a guest returned.
    pub(crate) fn returned(&self, bytes: usize) {
        self.bytes_out.add(bytes as u64);
        self.tally.bytes_out.add(bytes as u64);
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
        tally.begun.increment();
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

    /// Its own span, which is disabled where it is not wanted.
    pub(crate) fn own_span(&self) -> Span {
        self.span.clone()
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
        tally.first_bytes[bucket].increment();
        tally.first_bytes_time.add(time);
    }

    /// All of it is made.
    pub(crate) fn complete(mut self) {
        self.end(ResponseOutcome::Completed, None);
    }

    /// It failed.
    pub(crate) fn finish_failed(mut self, error: &GuestError) {
        self.end(error.outcome(), error.trap().map(Trap::kind));
    }

    fn end(&mut self, outcome: ResponseOutcome, trap: Option<TrapKind>) {
        self.ended = true;
        let CallMetrics { tally, cpu, rows, bytes_in, bytes_out, .. } = &*self.work;
        tally.outcomes[outcome as usize].increment();
        if let Some(trap) = trap {
            tally.traps[trap as usize].increment();
        }
        if self.span.is_disabled() {
            return;
        }
        self.span.record("outcome", outcome.name());
        let microseconds = u64::try_from(cpu.read().as_micros()).unwrap_or(u64::MAX);
        self.span.record("cpu_us", microseconds);
        for (field, value) in [("rows", rows), ("bytes_in", bytes_in), ("bytes_out", bytes_out)] {
            self.span.record(field, value.read());
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
