//! Processor time of threads. Reading its clock is a system call that takes the scheduler's lock: a
//! small response made ten of them, 3 % of its time. So a reading serves for a while.

use std::cell::Cell;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Age up to which a reading serves.
const RECENT: Duration = Duration::from_millis(1);

thread_local! {
    /// The last reading, and the time for which it holds.
    static READ: Cell<Option<(Duration, Instant)>> = const { Cell::new(None) };
}

/// Reads the processor time of this thread. Time for which the thread had no core does not count.
#[must_use]
pub fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default();
    READ.set(Some((time, Instant::now())));
    time
}

/// Returns the processor time of this thread as if it had had a core since the last reading, where
/// that is recent. Too much by [`RECENT`] at most, if others had the core.
#[must_use]
pub fn processor_time_at_most() -> Duration {
    match READ.get().map(|(time, at)| (time, at.elapsed())) {
        Some((time, since)) if since < RECENT => time + since,
        _ => processor_time(),
    }
}

/// Returns the processor time of a thread that has done nothing but wait since its last reading.
pub(crate) fn resume() -> Duration {
    match READ.get() {
        Some((time, _)) => {
            READ.set(Some((time, Instant::now())));
            time
        }
        None => processor_time(),
    }
}

/// Forgets the last reading of this thread: it has worked since.
pub(crate) fn forget() {
    READ.set(None);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_serves_for_a_while_and_never_says_too_little() {
        let first = processor_time();
        let begun = Instant::now();
        let mut last = first;
        while begun.elapsed() < RECENT * 3 {
            let estimate = processor_time_at_most();
            // It may be less than the one before, once the clock is read again.
            assert!(estimate >= first, "{estimate:?} {first:?}");
            last = estimate;
        }
        // Estimates of a busy thread are what the clock says, within the time that one serves.
        let read = processor_time();
        assert!(last.saturating_sub(read) <= RECENT, "{last:?} {read:?}");
        std::thread::sleep(RECENT * 3);
        let rested = processor_time_at_most();
        assert!(rested < read + RECENT, "a thread that sleeps uses nothing: {rested:?} {read:?}");
        std::thread::sleep(RECENT * 3);
        assert_eq!(resume(), rested, "who waited is not asked again");
        assert!(processor_time() >= rested);
    }
}
