//! Instants at which versions are released, as publishers write them (contract-21-release-time):
//! RFC 3339 with an offset, or a local time with its zone (RFC 9557).

use jiff::fmt::temporal::{DateTimeParser, Pieces};
use jiff::tz::{AmbiguousOffset, OffsetConflict, TimeZone};

use crate::Millis;

/// Form of a time, for sentences.
pub const EXPECTED: &str = "a time with its offset, 2026-11-27T10:45:00+13:00, or with its zone, 2026-11-27T10:45:00[Pacific/Auckland]";

/// Seconds of a day, which no offset has.
const DAY_SECONDS: i32 = 86_400;

/// Reads an instant in whole seconds.
///
/// # Errors
/// A sentence that says what is wrong: no zone and no offset, fractions of a second, a local time
/// that does not exist or exists twice, an offset that is not that of the zone.
pub fn parse(text: &str) -> Result<Millis, String> {
    let text = text.trim();
    let unreadable = || format!("{text:?} is no time; write {EXPECTED}");
    let pieces = Pieces::parse(text).map_err(|_| unreadable())?;
    let time = pieces.time().filter(|_| text.contains(':')).ok_or_else(unreadable)?;
    if text.contains(['.', ',']) {
        return Err(format!("{text:?} has fractions of a second; releases count whole ones"));
    }
    let offset = pieces.to_numeric_offset().map(|offset| offset.seconds());
    // The parser takes more than RFC 3339: a 60th second as the one before, and these offsets.
    let is_odd = |seconds: i32| seconds % 60 != 0 || seconds.abs() >= DAY_SECONDS;
    if text.contains(":60") || offset.is_some_and(is_odd) {
        return Err(unreadable());
    }
    let Some(named) = pieces.time_zone_annotation() else {
        if pieces.offset().is_none() {
            return Err(format!("{text:?} has neither offset nor zone; write {EXPECTED}"));
        }
        let instant = text.parse::<jiff::Timestamp>();
        return instant.map(|instant| Millis(instant.as_millisecond())).map_err(|_| unreadable());
    };
    let zone = named.to_time_zone().map_err(|_| {
        format!(
            "{text:?} names a zone that is not known; take a name of the IANA time zone database"
        )
    })?;
    refuse_odd_local_time(text, &zone, pieces.date().to_datetime(time), offset.is_some())?;
    let parser = DateTimeParser::new().offset_conflict(OffsetConflict::Reject);
    let zoned = parser.parse_zoned_datetime(text).map_err(|_| {
        format!(
            "{text:?} has an offset that its zone does not have at that time; leave one of them out"
        )
    })?;
    Ok(Millis(zoned.timestamp().as_millisecond()))
}

/// Refuses a local time that its zone skips, or has twice while no offset says which is meant.
fn refuse_odd_local_time(
    text: &str,
    zone: &TimeZone,
    local: jiff::civil::DateTime,
    has_offset: bool,
) -> Result<(), String> {
    match zone.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Gap { .. } => Err(format!(
            "{text:?} does not exist: clocks of this zone are put forward past it; write another time"
        )),
        AmbiguousOffset::Fold { .. } if !has_offset => Err(format!(
            "{text:?} exists twice: clocks of this zone are put back over it; write the offset that is meant"
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_release_time_is_an_instant_in_whole_seconds_contract_21() {
        for (text, instant) in [
            ("2026-11-27T10:45:00[Pacific/Auckland]", "2026-11-26T21:45:00Z"),
            ("2026-11-27T10:45:00+13:00[Pacific/Auckland]", "2026-11-26T21:45:00Z"),
            ("2026-11-27T10:45:00+13:00", "2026-11-26T21:45:00Z"),
            ("2026-11-26T21:45:00Z", "2026-11-26T21:45:00Z"),
            ("2026-11-26 21:45Z", "2026-11-26T21:45:00Z"),
            (" 2026-03-29T01:30:00+00:00[Europe/London] ", "refused: gap"),
            // The hour that Berlin has twice, with the offset that is meant.
            ("2026-10-25T02:30:00+01:00[Europe/Berlin]", "2026-10-25T01:30:00Z"),
            ("2026-10-25T02:30:00+02:00[Europe/Berlin]", "2026-10-25T00:30:00Z"),
        ] {
            let parsed = parse(text).map(Millis::to_rfc3339);
            match instant.strip_prefix("refused") {
                None => assert_eq!(parsed.as_deref(), Ok(instant), "{text}"),
                Some(_) => assert!(parsed.is_err(), "{text}"),
            }
        }
    }

    #[test]
    fn a_release_time_that_may_mean_another_is_refused_contract_21() {
        for (text, says) in [
            ("2026-11-27", "is no time"),
            ("noon", "is no time"),
            ("2026-11-27T10:45:60Z", "is no time"),
            ("2026-11-27T10:45:60[Pacific/Auckland]", "is no time"),
            ("2026-11-27T10:45:00+24:00", "is no time"),
            ("2026-11-27T10:45:00+13:00:30", "is no time"),
            ("9999-12-31T23:59:59Z", "is no time"),
            ("2026-11-27T10:45:00", "neither offset nor zone"),
            ("2026-11-27T10:45:00.5Z", "fractions"),
            ("2026-11-27T10:45:00.0Z", "fractions"),
            ("2026-11-27T10:45:00[Pacific/Atlantis]", "not known"),
            ("2026-09-27T02:30:00[Pacific/Auckland]", "does not exist"),
            ("2026-04-05T02:30:00[Pacific/Auckland]", "exists twice"),
            ("2026-11-27T10:45:00+12:00[Pacific/Auckland]", "its zone does not have"),
        ] {
            let refused = parse(text).unwrap_err();
            assert!(refused.contains(says), "{text}: {refused}");
        }
    }
}
