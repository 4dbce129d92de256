//! Dates and times as ISO 8601 writes them, in the proleptic Gregorian calendar.

use super::calendar::CivilDate;
use crate::schema::TimeUnit;

const DAY: i64 = 86_400;

/// `YYYY-MM-DD` of a day since 1970-01-01; years outside 0..=9999 get a sign.
pub(super) fn date(days: i64, out: &mut Vec<u8>) {
    let CivilDate { year, month, day } = CivilDate::from_days(days);
    if (0..=9999).contains(&year) {
        padded(year, 4, out);
    } else {
        out.push(if year < 0 { b'-' } else { b'+' });
        padded(year.abs(), 6, out);
    }
    out.push(b'-');
    padded(month, 2, out);
    out.push(b'-');
    padded(day, 2, out);
}

/// `HH:MM:SS` with the unit's digits after a point.
pub(super) fn time(since_midnight: i64, unit: TimeUnit, out: &mut Vec<u8>) {
    let (seconds, fraction) = (
        since_midnight.div_euclid(unit.per_second()),
        since_midnight.rem_euclid(unit.per_second()),
    );
    padded(seconds / 3600, 2, out);
    out.push(b':');
    padded(seconds / 60 % 60, 2, out);
    out.push(b':');
    padded(seconds % 60, 2, out);
    if unit.digits() > 0 {
        out.push(b'.');
        padded(fraction, unit.digits(), out);
    }
}

/// Date and time with `T` between; `Z` after it when the column has a zone, since values are UTC
/// then.
pub(super) fn timestamp(value: i64, unit: TimeUnit, zone: &str, out: &mut Vec<u8>) {
    let per_day = DAY * unit.per_second();
    date(value.div_euclid(per_day), out);
    out.push(b'T');
    time(value.rem_euclid(per_day), unit, out);
    if !zone.is_empty() {
        out.push(b'Z');
    }
}

fn padded(number: i64, width: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{number:0width$}").as_bytes());
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn dates_and_times_are_iso_8601() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (-719_528, "0000-01-01"),
            (2_932_897, "+010000-01-01"),
        ] {
            let mut out = Vec::new();
            date(days, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
        let mut out = Vec::new();
        timestamp(-1, TimeUnit::Millisecond, "Pacific/Auckland", &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "1969-12-31T23:59:59.999Z");
        let mut out = Vec::new();
        timestamp(951_782_400, TimeUnit::Second, "", &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "2000-02-29T00:00:00");
    }
}
