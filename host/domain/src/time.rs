//! Instants as every layer stores them: milliseconds since the Unix epoch, UTC.

use serde::{Deserialize, Serialize};

use crate::Date;

/// An instant, in milliseconds since the Unix epoch, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub i64);

impl Millis {
    /// The whole second that the instant is in: what every text of an instant shows.
    #[must_use]
    pub const fn whole_second(self) -> Self {
        Self(self.0.saturating_sub(self.0.rem_euclid(1000)))
    }

    /// RFC 3339 with whole seconds, `2026-11-21T09:13:00Z`.
    #[must_use]
    pub fn to_rfc3339(self) -> String {
        let seconds = self.0.div_euclid(1000);
        jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_string()
    }

    /// Parses ISO 8601 with seconds, `2026-11-21T09:13:00Z`. A blank in place of `T`, a fraction
    /// and an offset are allowed; without an offset it is UTC. None for anything else.
    #[must_use]
    pub fn parse_iso8601(text: &str) -> Option<Self> {
        let text = text.trim();
        // A day alone names no instant.
        text.contains(':').then_some(())?;
        if let Ok(instant) = text.parse::<jiff::Timestamp>() {
            return Some(Self(instant.as_millisecond()));
        }
        // An offset that is wrong must not be taken for none.
        let is_local = text.bytes().all(|byte| {
            byte.is_ascii_digit() || matches!(byte, b'-' | b':' | b'.' | b'T' | b't' | b' ')
        });
        let local = text.parse::<jiff::civil::DateTime>().ok().filter(|_| is_local)?;
        let instant = local.to_zoned_datetime(jiff::tz::TimeZone::UTC).ok()?.timestamp();
        Some(Self(instant.as_millisecond()))
    }

    /// The calendar day in UTC, `2026-11-21`.
    #[must_use]
    pub fn date(self) -> Date {
        // Outside of the years 1 to 9999 no clock stands.
        Date::parse(&self.utc_date().to_string()).unwrap_or(Date::UNIX_EPOCH)
    }

    /// The calendar month in UTC, `2026-11`: what monthly quotas count by.
    #[must_use]
    pub fn month(self) -> String {
        let date = self.utc_date();
        format!("{:04}-{:02}", date.year(), date.month())
    }

    /// The first instant of the next calendar month in UTC, when a monthly quota starts again.
    #[must_use]
    pub fn next_month(self) -> Self {
        let date = self.utc_date();
        self.or_midnight_of(date.last_of_month().tomorrow().unwrap_or(date.first_of_month()))
    }

    /// The same time of day so many calendar months later in UTC; on the last day of a month that
    /// is too short.
    #[must_use]
    pub fn plus_months(self, months: i32) -> Self {
        self.to_timestamp()
            .to_zoned_datetime(jiff::tz::TimeZone::UTC)
            .checked_add(jiff::Span::new().months(months))
            .map_or(Self(i64::MAX), |later| Self(later.timestamp().as_millisecond()))
    }

    /// The first instant of the calendar month in UTC.
    #[must_use]
    pub fn month_start(self) -> Self {
        self.or_midnight_of(self.utc_date().first_of_month())
    }

    /// The first instant of `date` in UTC; this one where there is none.
    fn or_midnight_of(self, date: jiff::civil::Date) -> Self {
        jiff::tz::Offset::UTC
            .to_timestamp(date.at(0, 0, 0, 0))
            .map_or(self, |midnight| Self(midnight.as_millisecond()))
    }

    // By an offset: a time zone is looked at for its rules, and every request asks for its month.
    fn utc_date(self) -> jiff::civil::Date {
        jiff::tz::Offset::UTC.to_datetime(self.to_timestamp()).date()
    }

    fn to_timestamp(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read_as_clients_write_them() {
        const NOON: i64 = 1_795_262_400_000; // 2026-11-21T12:00:00Z
        for (text, expected) in [
            ("2026-11-21T12:00:00Z", Some(NOON)),
            ("2026-11-21 12:00:00", Some(NOON)),
            ("2026-11-21T12:00:00.250Z", Some(NOON + 250)),
            ("2026-11-21T13:00:00+01:00", Some(NOON)),
            ("2026-11-21", None),
            ("noon", None),
            ("2026-11-31T12:00:00Z", None),
            ("2026-11-21T12:00:00 CET", None),
        ] {
            assert_eq!(Millis::parse_iso8601(text), expected.map(Millis), "{text}");
        }
    }

    #[test]
    fn an_instant_is_in_the_whole_second_that_its_text_shows_contract_7() {
        for (at, second) in [(0, 0), (999, 0), (1_000, 1_000), (1_999, 1_000), (-1, -1_000)] {
            assert_eq!(Millis(at).whole_second(), Millis(second));
            assert_eq!(Millis(at).to_rfc3339(), Millis(second).to_rfc3339());
        }
        assert_eq!(Millis(i64::MIN).whole_second(), Millis(i64::MIN));
    }

    #[test]
    fn months_follow_the_utc_calendar() {
        let new_year = Millis(1_798_761_599_000); // 2026-12-31T23:59:59Z
        assert_eq!(new_year.to_rfc3339(), "2026-12-31T23:59:59Z");
        assert_eq!(new_year.date().as_str(), "2026-12-31");
        assert_eq!(new_year.month(), "2026-12");
        assert_eq!(new_year.next_month().to_rfc3339(), "2027-01-01T00:00:00Z");
        assert_eq!(new_year.month_start().to_rfc3339(), "2026-12-01T00:00:00Z");
        assert_eq!(Millis(-1).month(), "1969-12");
    }
}
