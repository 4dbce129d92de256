//! The one engine of the process: how guests are compiled, under limits, and kept as machine code;
//! where their memory comes from, and the clock that interrupts them. Every limit of the sandbox,
//! what stops a guest and why a component is refused are named here. Knows nothing of interfaces,
//! rows or responses.

mod compile;
mod component_cache;
mod component_limits;
mod error;
mod guest_clock;
mod limits;
mod sanitize;
mod trap;

use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig,
    Strategy,
};

pub use compile::{Compiler, compile_as_child};
pub use component_cache::{CACHE_RESERVED_BYTES, ComponentCache, deserialize_trusted};
pub use component_limits::ComponentStats;
pub use error::{BoxError, ComponentRejection, SandboxFailure};
pub use guest_clock::{EPOCH, GuestClock, RunningCall};
pub use limits::{Limits, NAME_BYTES, STACK_BYTES};
pub use sanitize::{escape_log_line, is_hidden, sanitize, sanitize_sentence};
pub use trap::{Trap, TrapKind};

/// Address space of one linear memory, bytes: all that 32 bits can reach, so that no access needs a
/// bounds check (checks cost 30–45 % of encoding speed). Address space only; nothing is resident.
const RESERVATION: u64 = 4 << 30;

/// Bytes of each pooled memory that are cleared by writing to them instead of being given back to
/// the kernel: a page of a thousand rows touches fewer, and page faults are most of what a fresh
/// instance costs. The kernel says which pages are resident (Linux 6.7; before that, the first
/// pages of a memory count), so it does not matter where they lie; it does matter what instances
/// before have left. All instances together keep this many bytes each at most.
const KEEP_RESIDENT: usize = 1 << 20;

/// Core instances, memories and tables of one component at most. A Rust guest has three instances
/// and one memory; a Python guest 38 instances. There is room for so many in every component that
/// runs, so that no guest can use up a neighbour's; a core instance takes no address space of the
/// pool.
const CORE_INSTANCES: u32 = 64;
const TABLES: u32 = 4;

/// Makes the engine and starts its clock. `counting`: guests consume fuel, so that their
/// instructions can be counted; they are then slower.
///
/// # Errors
/// [`SandboxFailure::Engine`] where address space or a thread cannot be had.
pub fn serving_engine(
    limits: &Limits,
    counting: bool,
) -> Result<(Engine, GuestClock), SandboxFailure> {
    let mut config = serving_config(limits);
    config.consume_fuel(counting);
    let engine = Engine::new(&config).map_err(SandboxFailure::Engine)?;
    let clock = GuestClock::start(&engine).map_err(|error| SandboxFailure::Engine(error.into()))?;
    Ok((engine, clock))
}

/// An engine that only compiles, for those that [`serving_engine`] makes: it reserves no address
/// space and has no clock.
pub(crate) fn compiling_engine() -> wasmtime::Result<Engine> {
    Engine::new(&codegen_config())
}

fn serving_config(limits: &Limits) -> Config {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(limits.instances)
        .total_core_instances(limits.instances.saturating_mul(CORE_INSTANCES))
        .total_memories(limits.instances)
        .total_tables(limits.instances.saturating_mul(TABLES))
        .max_core_instances_per_component(CORE_INSTANCES)
        .max_memories_per_component(1)
        .max_tables_per_component(TABLES)
        .max_tables_per_module(TABLES)
        .table_elements(limits.table_elements)
        .max_memory_size(limits.memory_bytes)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .pagemap_scan(Enabled::Auto)
        .table_keep_resident(limits.table_elements.min(4096));
    let mut config = codegen_config();
    // Nothing here is asynchronous, but the engine wants the two in this order.
    config.async_stack_size(limits.stack_bytes);
    config
        .max_wasm_stack(limits.stack_bytes)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

/// Settings that decide machine code.
fn codegen_config() -> Config {
    let mut config = Config::new();
    config
        .strategy(Strategy::Cranelift)
        .cranelift_opt_level(OptLevel::Speed)
        // The same bytes on every host: no choice of NaN, no relaxed operation.
        .cranelift_nan_canonicalization(true)
        .wasm_relaxed_simd(false)
        .epoch_interruption(true)
        .memory_reservation(RESERVATION)
        .memory_init_cow(true)
        // Features that no guest needs are attack surface; the component model's async streams and
        // the garbage collector are not even compiled in.
        .wasm_memory64(false)
        .wasm_multi_memory(false);
    config
}
