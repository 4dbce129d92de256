//! One guest: its store under limits, one call into it, and values as they cross. Every kind
//! of plugin builds on it, and it knows none of them.

mod arrays;
pub(crate) mod bindings;
mod calls;
mod column_bytes;
mod convert;
mod host_state;
mod input_size;
pub(crate) mod linker;
pub(crate) mod parameters;

use std::sync::Arc;

use wasmtime::Engine;
use yearbook_engine::{GuestClock, Limits};

use crate::admission::Admission;
use crate::observe::{DumpTarget, GuestSamples};

pub(crate) use self::arrays::check_arrays;
pub(crate) use self::calls::GuestReport;
pub(crate) use self::column_bytes::column_bytes;
pub(crate) use self::convert::{WireColumns, WireConverter, WireSchema, plain};
pub(crate) use self::host_state::HostState;
pub(crate) use self::input_size::InputSize;

/// Everything that a guest needs of its host. Plugins of one sandbox share it.
pub(crate) struct GuestHost {
    pub(crate) engine: Engine,
    /// Clock of the engine.
    pub(crate) clock: GuestClock,
    pub(crate) limits: Limits,
    /// Set where guests consume fuel, so that their instructions are counted.
    pub(crate) counts_instructions: bool,
    /// Set where stacks of guests are sampled.
    pub(crate) samples: Option<Arc<GuestSamples>>,
    pub(crate) admission: Admission,
    /// Destination of failure dumps.
    pub(crate) dump_target: DumpTarget,
}
