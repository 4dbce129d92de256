//! The clock that interrupts guests, so that they check their deadline and offer their core to
//! others. It ticks fast while a guest runs, and slowly while none does.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use wasmtime::Engine;

/// Interval at which a running guest is interrupted, which takes about a microsecond.
pub const EPOCH: Duration = Duration::from_micros(500);

/// Interval at which the clock looks whether a guest runs, and in which the first interruption of a
/// call comes.
const IDLE_EPOCH: Duration = Duration::from_millis(5);

/// The clock of an engine, which stops when the last handle on the engine is dropped.
#[derive(Clone, Debug, Default)]
pub struct GuestClock {
    running: Arc<AtomicUsize>,
}

/// A call into a guest, which the clock interrupts until this is dropped.
pub struct RunningCall {
    running: Arc<AtomicUsize>,
}

impl GuestClock {
    /// Starts the clock of `engine`.
    ///
    /// # Errors
    /// Fails when the operating system refuses a thread.
    pub fn start(engine: &Engine) -> io::Result<Self> {
        let clock = Self::default();
        let (running, engine) = (Arc::clone(&clock.running), engine.weak());
        let tick = move || {
            while let Some(engine) = engine.upgrade() {
                engine.increment_epoch();
                drop(engine);
                let is_running = running.load(Ordering::Relaxed) > 0;
                thread::sleep(if is_running { EPOCH } else { IDLE_EPOCH });
            }
        };
        thread::Builder::new().name("guest-clock".into()).spawn(tick)?;
        Ok(clock)
    }

    /// Counts a call until what is returned is dropped.
    pub fn enter(&self) -> RunningCall {
        self.running.fetch_add(1, Ordering::Relaxed);
        RunningCall { running: Arc::clone(&self.running) }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::Relaxed);
    }
}
