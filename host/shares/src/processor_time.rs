//! Processor time that a caller used recently. It decays, so that an hour of work in the morning
//! counts for nothing at noon. Never decides anything.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time after which half of what was used counts.
const HALF_LIFE: Duration = Duration::from_secs(1);

/// A sum of processor time that halves every [`HALF_LIFE`]. A caller that keeps one core busy
/// approaches 1.44 s.
#[derive(Default)]
pub(crate) struct RecentProcessorTime(Mutex<Option<Sum>>);

#[derive(Clone, Copy)]
struct Sum {
    seconds: f64,
    at: Instant,
}

impl RecentProcessorTime {
    /// Adds `spent`, which ended at `now`.
    pub(crate) fn add(&self, spent: Duration, now: Instant) {
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = sum.map_or(0.0, |sum| sum.seconds_at(now));
        *sum = Some(Sum { seconds: before + spent.as_secs_f64(), at: now });
    }

    /// Returns the sum as of `now`.
    pub(crate) fn get(&self, now: Instant) -> Duration {
        let sum = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Duration::from_secs_f64(sum.map_or(0.0, |sum| sum.seconds_at(now)))
    }
}

impl Sum {
    fn seconds_at(self, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(self.at);
        self.seconds * (-passed.as_secs_f64() / HALF_LIFE.as_secs_f64()).exp2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_halves_every_second() {
        let (used, start) = (RecentProcessorTime::default(), Instant::now());
        assert_eq!(used.get(start), Duration::ZERO);
        used.add(Duration::from_millis(80), start);
        for (seconds, expected) in [(0, 80), (1, 40), (2, 20), (3, 10)] {
            let left = used.get(start + Duration::from_secs(seconds));
            assert!(left.abs_diff(Duration::from_millis(expected)) < Duration::from_micros(1));
        }
        used.add(Duration::from_millis(60), start + Duration::from_secs(2));
        let left = used.get(start + Duration::from_secs(3));
        assert!(left.abs_diff(Duration::from_millis(40)) < Duration::from_micros(1));
        let ages = used.get(start + Duration::from_secs(86_400));
        assert!(ages < Duration::from_micros(1));
    }
}
