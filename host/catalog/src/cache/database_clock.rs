//! The database's clock as this host knows it (contract-21-release-clock): from the last answers
//! and the host's own monotonic clock, never from its wall clock. What is known is an interval that
//! holds the database's present; its lower end is what releases wait for, so a host may be late and
//! is never early.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use yearbook_domain::Millis;

/// Time without an answer after which the clock is not known.
const SILENCE: Duration = Duration::from_secs(2);

/// Difference in speed of two clocks at most, one part in so many: twice what clocks are slewed by.
const DRIFT: i64 = 1_000;

/// Microseconds by which the answer may be off: clocks are read in whole milliseconds, and SQLite's
/// rounds them.
const RESOLUTION_US: i64 = 1_000;

/// The database's clock.
#[derive(Debug)]
pub(crate) struct DatabaseClock {
    started: Instant,
    known: Mutex<Option<ClockBounds>>,
}

/// Bounds of the database's clock less the host's, in microseconds, as of the last answer.
#[derive(Clone, Copy, Debug)]
struct ClockBounds {
    least: i64,
    most: i64,
    /// Host's clock at the last answer.
    heard: i64,
}

/// Knowledge of the database's clock at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockReading {
    /// Its present at least.
    pub least: Millis,
    /// By how much it may be later.
    pub uncertainty: Duration,
}

impl DatabaseClock {
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), known: Mutex::new(None) }
    }

    /// Takes in that the database said `time`, between the question at `asked` and the answer at
    /// `heard`.
    pub(crate) fn hear(&self, time: Millis, asked: Instant, heard: Instant) {
        let us = time.0.saturating_mul(1_000);
        let new = ClockBounds {
            least: us - RESOLUTION_US - self.micros(heard),
            most: us + RESOLUTION_US + RESOLUTION_US - self.micros(asked),
            heard: self.micros(heard),
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let joined = known.map(|known| {
            let drift = known.drift_until(new.heard);
            let (least, most) = (known.least - drift, known.most + drift);
            ClockBounds { least: least.max(new.least), most: most.min(new.most), ..new }
        });
        // Without a common point the clock was set in between, and only the answer counts.
        *known = Some(joined.filter(|joined| joined.least <= joined.most).unwrap_or(new));
    }

    /// Returns what is known now; `None` where the database has not answered for too long.
    pub(crate) fn read(&self) -> Option<ClockReading> {
        let known = (*self.known.lock().unwrap_or_else(PoisonError::into_inner))?;
        let now = self.micros(Instant::now());
        let silence = i64::try_from(SILENCE.as_micros()).unwrap_or(i64::MAX);
        if now - known.heard > silence {
            return None;
        }
        let drift = known.drift_until(now);
        let uncertain = (known.most - known.least + 2 * drift).max(0);
        Some(ClockReading {
            least: Millis((now + known.least - drift).div_euclid(1_000)),
            uncertainty: Duration::from_micros(uncertain.unsigned_abs()),
        })
    }

    /// Returns true once the database's clock stands at `at` or later, as far as is known.
    pub(crate) fn has_reached(&self, at: Millis) -> bool {
        self.read().is_some_and(|reading| reading.least >= at)
    }

    fn micros(&self, at: Instant) -> i64 {
        i64::try_from(at.saturating_duration_since(self.started).as_micros()).unwrap_or(i64::MAX)
    }
}

impl ClockBounds {
    /// By how much the clocks may have moved apart since the last answer.
    fn drift_until(&self, now: i64) -> i64 {
        (now - self.heard).max(0) / DRIFT + 1
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// A clock that hears that it was `time` at `asked..heard`, milliseconds after its start.
    fn hear(clock: &DatabaseClock, time: i64, asked: u64, heard: u64) {
        let at = |ms| clock.started + Duration::from_millis(ms);
        clock.hear(Millis(time), at(asked), at(heard));
    }

    fn bounds(clock: &DatabaseClock) -> (i64, i64) {
        let known = clock.known.lock().unwrap().unwrap();
        (known.least / 1_000, known.most / 1_000)
    }

    #[test]
    fn the_present_is_at_least_what_was_said_and_what_has_passed_since_contract_21() {
        let clock = DatabaseClock::new();
        assert_eq!(clock.read(), None);
        assert!(!clock.has_reached(Millis(0)));
        hear(&clock, 1_000_000, 0, 40);
        assert_eq!(bounds(&clock), (1_000_000 - 1 - 40, 1_000_002));
        // A quicker answer says more, a slower one nothing.
        hear(&clock, 1_000_510, 500, 505);
        let (least, most) = bounds(&clock);
        assert!((1_000_003..=1_000_004).contains(&least), "{least}");
        hear(&clock, 1_001_400, 1_000, 1_900);
        assert!(bounds(&clock).0 >= least - 3 && bounds(&clock).1 <= most + 3);
    }

    #[test]
    fn a_clock_that_was_set_is_taken_as_it_is_now_contract_21() {
        for set_to in [900_000, 1_100_000] {
            let clock = DatabaseClock::new();
            hear(&clock, 1_000_000, 0, 2);
            hear(&clock, set_to, 500, 502);
            assert_eq!(bounds(&clock), (set_to - 1 - 502, set_to + 2 - 500));
        }
    }

    #[test]
    fn a_database_that_is_silent_for_2_s_tells_no_time_contract_21() {
        let mut clock = DatabaseClock::new();
        let now = Instant::now();
        clock.started = now.checked_sub(Duration::from_secs(10)).unwrap();
        hear(&clock, 1_000_000, 7_000, 7_001);
        assert_eq!(clock.read(), None, "three seconds ago");
        hear(&clock, 1_001_000, 9_000, 9_001);
        let reading = clock.read().unwrap();
        assert!(reading.least.0 >= 1_001_990, "{reading:?}");
        assert!(clock.has_reached(Millis(1_001_900)) && !clock.has_reached(Millis(1_004_000)));
    }
}
