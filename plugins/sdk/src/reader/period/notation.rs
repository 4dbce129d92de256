//! Notations of periods: what each form of text means in days. Arithmetic on the calendar is that
//! of text formats.

use super::TimePeriod;
use crate::calendar::{PeriodCode, PeriodCodeForm, day_number, digits};
use crate::text::CivilDate;

pub(super) fn parse(text: &[u8]) -> Option<TimePeriod> {
    let (year, rest) = (digits(text.get(..4)?)?, text.get(4..)?);
    match rest {
        [] => months(year, 1, 12, year_code(year)),
        [b'/', tail @ ..] if tail.len() == 2 || tail.len() == 4 => {
            let next = digits(tail)?;
            let follows = if tail.len() == 2 { (year + 1) % 100 == next } else { year + 1 == next };
            follows.then_some(TimePeriod {
                days: None,
                code: code(PeriodCodeForm::FinancialYear, year),
            })
        }
        [b'-', b'0'..=b'9', ..] => parse_calendar(year, text),
        // A day of Statistics Denmark: `2024M02D29`.
        [b'M', m1, m2, b'D', d1, d2] => {
            let day = day_number(&[&text[..4], b"-", &[*m1, *m2], b"-", &[*d1, *d2]].concat())?;
            Some(TimePeriod { days: Some((day, day)), code: None })
        }
        [b'-', kind, number @ ..] | [kind, number @ ..] => parse_coded(year, *kind, number),
    }
}

/// `2024-01`, `2024-01-31`, a time of that day, and ranges.
fn parse_calendar(year: i64, text: &[u8]) -> Option<TimePeriod> {
    let month = digits(text.get(5..7)?)?;
    let Some(rest) = text.get(7..).filter(|rest| !rest.is_empty()) else {
        return months(year, month, 1, month_code(year, month));
    };
    let day = day_number(text.get(..10)?)?;
    let range = match rest.get(3..)? {
        [] => (day, day),
        // A point in time: its day.
        [b'T', time @ ..] if !time.contains(&b'/') => is_time(time).then_some((day, day))?,
        [b'T', time @ ..] => {
            let at = time.iter().position(|byte| *byte == b'/')?;
            is_time(&time[..at]).then_some(())?;
            (day, range_end(day, &time[at + 1..])?)
        }
        [b'/', end @ ..] => (day, range_end(day, end)?),
        _ => return None,
    };
    Some(TimePeriod { days: Some(range), code: code_of(range) })
}

/// The last day of a range that begins at `first`: a duration, or the day itself.
fn range_end(first: i64, end: &[u8]) -> Option<i64> {
    let last = match end {
        [b'P', number @ .., unit] => {
            let count = digits(number).filter(|count| (1..=10_000).contains(count))?;
            match unit {
                b'D' => first + count - 1,
                b'W' => first + 7 * count - 1,
                b'M' => add_months(first, count)? - 1,
                b'Y' => add_months(first, 12 * count)? - 1,
                _ => return None,
            }
        }
        _ => {
            let rest = end.get(10..)?;
            let whole = rest.is_empty() || rest.strip_prefix(b"T").is_some_and(is_time);
            day_number(end.get(..10)?).filter(|_| whole)?
        }
    };
    // Years have four digits.
    (first <= last && civil(last).0 <= 9999).then_some(last)
}

/// The name of a range that is just a year, a quarter or a month.
fn code_of((first, last): (i64, i64)) -> Option<PeriodCode> {
    let (year, month, day) = civil(first);
    let ends_after = |months| day == 1 && add_months(first, months) == Some(last + 1);
    match month {
        1 if ends_after(12) => year_code(year),
        1 | 4 | 7 | 10 if ends_after(3) => quarter_code(year, (month + 2) / 3),
        _ if ends_after(1) => month_code(year, month),
        _ => None,
    }
}

/// `Q1`, `M01` and the like; in Nordic PX tables K is a quarter (kvartal) and U a week (uge, uke).
fn parse_coded(year: i64, kind: u8, number: &[u8]) -> Option<TimePeriod> {
    let number = digits(number).filter(|_| number.len() <= 3)?;
    let within = |most: i64| (1..=most).contains(&number).then_some(());
    match kind {
        b'A' => (number <= 1).then(|| months(year, 1, 12, year_code(year)))?,
        b'S' | b'H' => {
            within(2)?;
            months(year, 6 * number - 5, 6, None)
        }
        b'T' => {
            within(3)?;
            months(year, 4 * number - 3, 4, None)
        }
        b'Q' | b'K' => {
            within(4)?;
            months(year, 3 * number - 2, 3, quarter_code(year, number))
        }
        b'M' => {
            within(12)?;
            months(year, number, 1, month_code(year, number))
        }
        b'W' | b'U' => {
            // ISO 8601: the first week of a year has its first Thursday.
            let monday = first_monday(year)? + 7 * (number - 1);
            let fits = number >= 1 && monday < first_monday(year + 1)?;
            fits.then_some(TimePeriod { days: Some((monday, monday + 6)), code: None })
        }
        b'D' => {
            let day = days(year, 1, 1) + number - 1;
            let fits = number >= 1 && day < days(year + 1, 1, 1);
            fits.then_some(TimePeriod { days: Some((day, day)), code: None })
        }
        _ => None,
    }
}

fn months(year: i64, month: i64, count: i64, code: Option<PeriodCode>) -> Option<TimePeriod> {
    if !(1..=12).contains(&month) {
        return None;
    }
    let first = days(year, month, 1);
    Some(TimePeriod { days: Some((first, add_months(first, count)? - 1)), code })
}

/// Returns whether `text` is a time of day, `12:30:00.5+13:00`, or with fewer parts.
fn is_time(text: &[u8]) -> bool {
    let end = text.iter().position(|byte| b"Z+-".contains(byte)).unwrap_or(text.len());
    let (clock, offset) = text.split_at(end);
    let (clock, fraction) = match clock.iter().position(|byte| *byte == b'.') {
        Some(at) => (&clock[..at], &clock[at + 1..]),
        None => (clock, &b"0"[..]),
    };
    let is_clock = |clock: &[u8], parts: &[i64]| {
        let mut given = clock.split(|byte| *byte == b':');
        let fits = |most: &i64| given.next().is_none_or(|part| is_below(part, *most));
        parts.iter().all(fits) && given.next().is_none()
    };
    let is_offset = match offset {
        [] | [b'Z'] => true,
        [b'+' | b'-', offset @ ..] => is_clock(offset, &[23, 59]),
        _ => false,
    };
    is_offset
        && (1..=9).contains(&fraction.len())
        && fraction.iter().all(u8::is_ascii_digit)
        && is_clock(clock, &[23, 59, 60])
}

/// Returns whether `part` is two digits, at most this number.
fn is_below(part: &[u8], most: i64) -> bool {
    part.len() == 2 && digits(part).is_some_and(|number| number <= most)
}

/// The Monday on which the first week of a year begins.
fn first_monday(year: i64) -> Option<i64> {
    // 1970-01-01 was a Thursday: the fourth of January lies in week 1.
    let fourth = days(year, 1, 4);
    Some(fourth - (fourth + 3).rem_euclid(7))
}

/// The same day so many months later; the last of its month where there is none.
fn add_months(first: i64, count: i64) -> Option<i64> {
    let (year, month, day) = civil(first);
    let months = year * 12 + month - 1 + count;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    let last = days(year + month / 12, month % 12 + 1, 1) - 1;
    (year <= 10_000).then(|| (days(year, month, 1) + day - 1).min(last))
}

/// Days since 1970-01-01.
fn days(year: i64, month: i64, day: i64) -> i64 {
    CivilDate { year, month, day }.days()
}

/// Year, month and day.
pub(super) fn civil(days: i64) -> (i64, i64, i64) {
    let CivilDate { year, month, day } = CivilDate::from_days(days);
    (year, month, day)
}

fn year_code(year: i64) -> Option<PeriodCode> {
    code(PeriodCodeForm::Year, year)
}

fn quarter_code(year: i64, quarter: i64) -> Option<PeriodCode> {
    code(PeriodCodeForm::Quarter, 4 * year + quarter - 1)
}

fn month_code(year: i64, month: i64) -> Option<PeriodCode> {
    code(PeriodCodeForm::Month, 12 * year + month - 1)
}

fn code(form: PeriodCodeForm, ordinal: i64) -> Option<PeriodCode> {
    i32::try_from(ordinal).ok().map(|ordinal| PeriodCode { form, ordinal })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_inverse() {
        for number in (-719_528..2_932_896).step_by(97) {
            let (year, month, day) = civil(number);
            assert_eq!(days(year, month, day), number);
        }
    }
}
