//! Call stacks of guests, taken at the interruptions that every guest has anyway (decision 0459). A
//! sandbox that serves takes none.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use wasmtime::{AsContext, WasmBacktrace};

/// Stacks of all guests of a sandbox.
#[derive(Debug, Default)]
pub struct GuestSamples(Mutex<Vec<GuestSample>>);

/// Functions that ran at one moment.
#[derive(Clone, Debug)]
pub struct GuestSample {
    /// The moment.
    pub at: Instant,
    /// Names as the compiler mangled them, the outermost first; `None` for a function without.
    pub stack: Vec<Option<String>>,
}

impl GuestSamples {
    pub(crate) fn record(&self, store: impl AsContext) {
        let trace = WasmBacktrace::force_capture(store);
        let frames = trace.frames().iter().rev();
        let stack = frames.map(|frame| frame.func_name().map(str::to_owned)).collect();
        let mut samples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        samples.push(GuestSample { at: Instant::now(), stack });
    }

    /// All so far, in the order of their times.
    #[must_use]
    pub fn take(&self) -> Vec<GuestSample> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
