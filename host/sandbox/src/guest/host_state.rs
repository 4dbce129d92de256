//! The host's half of one instance: what it may log, grow and take in time. One value a store.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use wasmtime::{ResourceLimiter, Store, UpdateDeadline};
use yearbook_engine::{EPOCH, GuestClock, Limits, Trap, escape_log_line, sanitize_sentence};
use yearbook_workers::{processor_time, processor_time_at_most};

use super::bindings::yearbook::plugin::{log, types};
use super::{GuestHost, InputSize};
use crate::admission::MemoryBudget;
use crate::guest_error::GuestError;
use crate::observe::{CallMetrics, FailureDump, GuestFunction, GuestLogLine, ResourceUsage};

/// Lines that one instance may log; more are dropped.
const LOG_LINES: u32 = 64;
/// Longest line logged, bytes with its escapes; more is cut.
const LOG_BYTES: usize = 4096;
/// Handles that a guest may hold: one `encoding`, and room for a runtime's own.
const HANDLES: usize = 64;

/// State of a store.
pub(crate) struct HostState {
    /// Counters of the response that it belongs to.
    work: Arc<CallMetrics>,
    /// Memory of all instances, and this one's part of it.
    memory: Arc<MemoryBudget>,
    held: usize,
    /// Growth that was granted last.
    grant: Option<MemoryGrant>,
    pub(super) limits: Limits,
    /// Size of what the guest was given.
    pub(super) input: InputSize,
    /// Bytes of a file among it.
    pub(super) pushed: u64,
    lines_left: u32,
    /// Set once the log says that lines are missing.
    told: bool,
    /// Lines that were logged, where dumps are enabled.
    heard: Vec<GuestLogLine>,
    /// Limit that denied growth during the current call: the guest then traps as `unreachable`,
    /// like any panic, and only this tells why.
    denied: Option<Trap>,
    deadline: Deadline,
    /// Processor time of earlier instances, which the calls of this one are charged with.
    charged: Duration,
    clock: GuestClock,
    used: ResourceUsage,
    /// Set where the engine counts instructions.
    counting: bool,
}

/// Memory that a guest was granted and that the engine may still fail to have.
struct MemoryGrant {
    bytes: usize,
    /// Most that the guest had before it.
    most_before: usize,
}

/// Start of the current call by both clocks, and the limit that it broke. The call runs on one
/// thread from beginning to end.
struct Deadline {
    cpu: Duration,
    wall: Instant,
    broken: Option<Trap>,
}

impl HostState {
    /// A store with every limit of `host` in force, counted in `work`, for a guest that is given
    /// `input`.
    pub(crate) fn new_store(
        host: &GuestHost,
        work: Arc<CallMetrics>,
        input: InputSize,
    ) -> Store<Self> {
        work.record_instance_start();
        let limits = host.limits;
        let deadline = Deadline { cpu: Duration::ZERO, wall: Instant::now(), broken: None };
        let state = Self {
            work,
            memory: Arc::clone(&host.admission.memory),
            held: 0,
            grant: None,
            limits,
            input,
            pushed: 0,
            lines_left: LOG_LINES,
            told: false,
            heard: Vec::new(),
            denied: None,
            deadline,
            charged: Duration::ZERO,
            clock: host.clock.clone(),
            used: ResourceUsage::default(),
            counting: host.counts_instructions,
        };
        let mut store = Store::new(&host.engine, state);
        if host.counts_instructions {
            // The engine refuses only where it does not count. Nothing uses up so much.
            let _ = store.set_fuel(u64::MAX);
        }
        store.limiter(|state| state);
        store.set_hostcall_fuel(limits.output_bytes_per_call);
        store.set_max_component_handles(HANDLES);
        match host.samples.clone() {
            None => {
                store.epoch_deadline_callback(|mut context| context.data_mut().check_deadline());
            }
            Some(samples) => store.epoch_deadline_callback(move |mut context| {
                samples.record(&context);
                context.data_mut().check_deadline()
            }),
        }
        store
    }

    /// Makes a call with its deadline; classifies whatever stops it. The store is spent after a
    /// trap. Every call into a guest is made here, so none is made without stack enough for it.
    pub(crate) fn try_call<T: Send>(
        store: &mut Store<Self>,
        call: impl FnOnce(&mut Store<Self>) -> wasmtime::Result<T> + Send,
    ) -> Result<T, Trap> {
        let stack = store.data().limits.thread_stack_bytes();
        yearbook_workers::with_stack(stack, || Self::call_on_stack(store, call))
    }

    fn call_on_stack<T>(
        store: &mut Store<Self>,
        call: impl FnOnce(&mut Store<Self>) -> wasmtime::Result<T>,
    ) -> Result<T, Trap> {
        store.set_epoch_deadline(1);
        store.data_mut().deadline =
            Deadline { cpu: processor_time_at_most(), wall: Instant::now(), broken: None };
        store.data_mut().denied = None;
        let running = store.data().clock.enter();
        let outcome = call(store);
        drop(running);
        if store.data().counting {
            let left = store.get_fuel().unwrap_or(u64::MAX);
            store.data_mut().used.instructions = u64::MAX - left;
        }
        store.data_mut().record_call();
        outcome.map_err(|error| store.data_mut().classify(&error))
    }

    /// Counters of the response that the instance belongs to.
    pub(crate) fn work(&self) -> &CallMetrics {
        &self.work
    }

    /// The same, for an instance that takes its place.
    pub(crate) fn shared_metrics(&self) -> Arc<CallMetrics> {
        Arc::clone(&self.work)
    }

    /// Lines that the instance has logged; none where dumps are disabled.
    pub(crate) fn guest_log(&self) -> &[GuestLogLine] {
        &self.heard
    }

    /// Leaves `dump` behind, if the plugin has part in the failure.
    pub(crate) fn write_dump(&self, dump: FailureDump, call: GuestFunction, error: &GuestError) {
        dump.write_failure(call, error, self.guest_log(), self.work());
    }

    /// Charges its calls with the processor time of other instances: all of them have the time of
    /// one call.
    pub(crate) fn charge(&mut self, cpu: Duration) {
        self.charged = cpu;
    }

    /// Usage of the instance so far.
    pub(crate) fn used(&self) -> ResourceUsage {
        self.used
    }

    /// Counts what the guest is given beside what it was opened with.
    pub(crate) fn add_input(&mut self, bytes: usize) {
        self.input.add(bytes);
    }

    /// Counts bytes of a file.
    pub(crate) fn push_input(&mut self, bytes: usize) {
        self.input.add(bytes);
        self.pushed = self.pushed.saturating_add(bytes as u64);
    }

    /// Bytes of a file so far.
    pub(crate) fn pushed(&self) -> u64 {
        self.pushed
    }

    /// Counts bytes that a call returned.
    pub(crate) fn record_output(&mut self, bytes: usize) {
        self.work.returned(bytes);
        self.used.output_bytes = self.used.output_bytes.max(bytes);
    }

    fn record_call(&mut self) {
        self.used.calls += 1;
        let wall = self.deadline.wall.elapsed();
        // Whoever has a core for so short a time keeps it as a rule.
        let cpu =
            if wall < EPOCH { wall } else { processor_time().saturating_sub(self.deadline.cpu) };
        self.work.record_call(cpu, self.used.memory_bytes);
        self.used.cpu = self.used.cpu.max(cpu);
        self.used.wall = self.used.wall.max(wall);
    }

    /// Ends a call beyond its deadline, at a tick of the clock. A long call offers its core to
    /// threads that wait for one; the kernel would do so at a tick of its own clock, milliseconds
    /// later, whatever the priorities of both. Short calls do not: under load there are many,
    /// and all would wait for each other.
    fn check_deadline(&mut self) -> wasmtime::Result<UpdateDeadline> {
        let Limits { cpu_ms_per_call, wall_ms_per_call, .. } = self.limits;
        let cpu = processor_time().saturating_sub(self.deadline.cpu);
        let trap = if cpu + self.charged > self.limits.cpu_timeout() {
            Trap::Cpu(cpu_ms_per_call)
        } else if self.deadline.wall.elapsed() > self.limits.wall_timeout() {
            Trap::Wall(wall_ms_per_call)
        } else {
            if cpu >= EPOCH {
                thread::yield_now();
            }
            return Ok(UpdateDeadline::Continue(1));
        };
        self.deadline.broken = Some(trap.clone());
        Err(wasmtime::Error::new(trap))
    }

    fn classify(&mut self, error: &wasmtime::Error) -> Trap {
        if let Some(trap) = self.deadline.broken.take().or_else(|| self.denied.take()) {
            return trap;
        }
        // A rule that the host checks on what a call returned.
        if let Some(trap) = error.downcast_ref::<Trap>() {
            return trap.clone();
        }
        match error.downcast_ref::<wasmtime::Trap>() {
            Some(wasmtime::Trap::StackOverflow) => Trap::Stack(self.limits.stack_bytes),
            Some(trap) => Trap::Wasm(trap.to_string()),
            // The engine has no type for this refusal: it is an ordinary error of the host's own
            // lifting.
            None if error.root_cause().to_string().contains("fuel allocated for hostcalls") => {
                Trap::Output(self.limits.output_bytes_per_call)
            }
            None => Trap::Wasm(sanitize_sentence(&error.root_cause().to_string())),
        }
    }
}

impl Drop for HostState {
    fn drop(&mut self) {
        self.memory.give_back(self.held);
        self.work.record_instance_end();
    }
}

impl ResourceLimiter for HostState {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        self.grant = None;
        if exceeds_own_maximum(desired, maximum, self.limits.memory_bytes) {
            return Ok(false);
        }
        let more = desired.saturating_sub(current);
        if desired > self.limits.memory_bytes {
            self.denied = Some(Trap::Memory(self.limits.memory_bytes));
        } else if !self.memory.take(more) {
            let bytes = self.limits.total_memory_bytes;
            self.denied =
                Some(Trap::TotalMemory { bytes, shared: self.held.saturating_add(more) <= bytes });
        } else {
            self.held += more;
            let most_before = self.used.memory_bytes;
            self.grant = Some(MemoryGrant { bytes: more, most_before });
            self.used.memory_bytes = self.used.memory_bytes.max(desired);
            return Ok(true);
        }
        Ok(false)
    }

    /// Takes back what was granted last, which the operating system did not give. The engine
    /// reports no other growth: it asks first about all but those of pages of a byte, which are
    /// disabled.
    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        let Some(MemoryGrant { bytes, most_before }) = self.grant.take() else { return Ok(()) };
        self.memory.give_back(bytes);
        self.held -= bytes;
        self.used.memory_bytes = most_before;
        let plugin = self.work.plugin_name();
        tracing::warn!(plugin, %error, "the operating system gave a guest no more memory");
        // Not the guest's fault either.
        self.denied =
            Some(Trap::TotalMemory { bytes: self.limits.total_memory_bytes, shared: true });
        Ok(())
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if exceeds_own_maximum(desired, maximum, self.limits.table_elements) {
            return Ok(false);
        }
        let granted = desired <= self.limits.table_elements;
        if granted {
            self.used.table_elements = self.used.table_elements.max(desired);
        } else {
            self.denied = Some(Trap::Table(self.limits.table_elements));
        }
        Ok(granted)
    }
}

/// Returns true for a growth that the guest's own declaration forbids, within `limit`: the engine
/// refuses it whatever the host says, so it counts for nothing and no limit is to blame.
fn exceeds_own_maximum(desired: usize, maximum: Option<usize>, limit: usize) -> bool {
    maximum.is_some_and(|most| most < desired && most < limit)
}

/// The interface `types` has no functions.
impl types::Host for HostState {}

impl log::Host for HostState {
    fn write(&mut self, level: log::Level, message: String) -> wasmtime::Result<()> {
        let plugin = self.work.plugin_name();
        if self.lines_left == 0 {
            if !std::mem::replace(&mut self.told, true) {
                tracing::warn!(
                    plugin,
                    "it logs more than {LOG_LINES} lines for one response; the rest is dropped"
                );
            }
            return Ok(());
        }
        self.lines_left -= 1;
        let message = escape_log_line(&message, LOG_BYTES);
        let name = match level {
            log::Level::Trace => "trace",
            log::Level::Debug => "debug",
            log::Level::Info => "info",
            log::Level::Warn => "warn",
            log::Level::Error => "error",
        };
        match level {
            log::Level::Trace => tracing::trace!(plugin, "{message}"),
            log::Level::Debug => tracing::debug!(plugin, "{message}"),
            log::Level::Info => tracing::info!(plugin, "{message}"),
            log::Level::Warn => tracing::warn!(plugin, "{message}"),
            log::Level::Error => tracing::error!(plugin, "{message}"),
        }
        if self.work.dump_target().is_enabled() {
            self.heard.push(GuestLogLine { level: name.to_owned(), message });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
