//! The times that the calendar covers: whole days in UTC, so that it changes at midnight and at
//! releases, and not with each second.

use yearbook_domain::Millis;

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// Days ahead.
const COMING_DAYS: i64 = 366;

/// Days back.
const PAST_DAYS: i64 = 92;

/// The times that the calendar covers on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    today: i64,
}

impl Window {
    /// The window of the day of `now`.
    pub(super) fn at(now: Millis) -> Self {
        Self { today: now.0.saturating_sub(now.0.rem_euclid(DAY)) }
    }

    /// Returns true where it covers `at`.
    pub(super) fn has(self, at: Millis) -> bool {
        let first = self.today.saturating_sub(PAST_DAYS * DAY);
        let end = self.today.saturating_add((COMING_DAYS + 1) * DAY);
        (first..end).contains(&at.0)
    }

    /// Returns the beginning of the next day.
    pub(super) fn next_day(self) -> Millis {
        Millis(self.today.saturating_add(DAY))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_window_is_of_whole_days_contract_21() {
        let at = |text: &str| Millis::parse_iso8601(text).unwrap();
        let morning = Window::at(at("2026-11-28T00:00:00Z"));
        assert_eq!(morning, Window::at(at("2026-11-28T23:59:59.999Z")));
        assert_eq!(morning.next_day(), at("2026-11-29T00:00:00Z"));
        for (time, covered) in [
            ("2026-08-27T23:59:59Z", false),
            ("2026-08-28T00:00:00Z", true),
            ("2026-11-28T12:00:00Z", true),
            ("2027-11-29T23:59:59Z", true),
            ("2027-11-30T00:00:00Z", false),
        ] {
            assert_eq!(morning.has(at(time)), covered, "{time}");
        }
        assert!(!Window::at(Millis(i64::MAX)).has(Millis(0)));
    }
}
