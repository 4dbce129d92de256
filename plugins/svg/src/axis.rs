//! Axes: the range that a picture shows, ticks at round numbers and at steps of the calendar, and
//! their labels.

use yearbook_sdk::text::CivilDate;

use crate::calendar::MONTHS;
use crate::number::{axis_prefix, decimal_exponent, fixed, power_of_ten, scientific, whole};

/// A labelled place on an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Its place, in the axis's unit.
    pub at: f64,
    /// Its label.
    pub label: String,
}

/// A range of values and the pixels that show it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// Shows `low` at the pixel `from` and `high` at `to`. A range without width is given some.
    #[must_use]
    pub fn new(low: f64, high: f64, from: f64, to: f64) -> Self {
        let room = match high - low {
            width if width >= f64::MIN_POSITIVE => 0.0,
            _ if low == 0.0 && high == 0.0 => 1.0,
            _ => (low.abs() * 0.1).max(f64::MIN_POSITIVE),
        };
        Self { low: (low - room).max(f64::MIN), high: (high + room).min(f64::MAX), from, to }
    }

    /// The pixel of a value. Halves are subtracted, since the range may be wider than a float.
    #[must_use]
    pub fn pixel(&self, value: f64) -> f64 {
        let share = (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0);
        self.from + share * (self.to - self.from)
    }

    /// First and last value.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }
}

/// A scale of values that begins and ends at round numbers, zero among them where it is near; and
/// its ticks, about `wanted` of them.
#[must_use]
pub fn value_axis(low: f64, high: f64, wanted: usize, from: f64, to: f64) -> (Scale, Vec<Tick>) {
    let near_zero = |near: f64, far: f64| near > 0.0 && near < far * 0.4;
    let low = if near_zero(low, high) { 0.0 } else { low };
    let high = if near_zero(-high, -low) { 0.0 } else { high };
    let (low, high) = match (low, high) {
        (low, high) if low == 0.0 && high == 0.0 => (0.0, 1.0),
        (low, high) => Scale::new(low, high, 0.0, 1.0).range(),
    };
    let step = round_step(low, high, wanted);
    // A multiple may be infinite, or by a rounding on the inner side.
    let first = ((low / step).floor() * step).clamp(f64::MIN, low);
    let last = ((high / step).ceil() * step).clamp(high, f64::MAX);
    let scale = Scale::new(first, last, from, to);
    let (first, last) = scale.range();
    (scale, number_ticks(first, last, step))
}

/// Ticks of an axis of plain numbers, about `wanted` of them, without rounding its ends.
#[must_use]
pub fn number_axis_ticks(scale: &Scale, wanted: usize) -> Vec<Tick> {
    let (low, high) = scale.range();
    number_ticks(low, high, round_step(low, high, wanted))
}

/// A step of 1, 2 or 5 times a power of ten that leaves about `wanted` of them in the range; fewer
/// where floats of this size are too far apart.
#[must_use]
pub fn round_step(low: f64, high: f64, wanted: usize) -> f64 {
    let parts = f64::from(u32::try_from(wanted.max(2)).unwrap_or(u32::MAX));
    let finest = (low.abs().max(high.abs()) * f64::EPSILON * 4.0).max(f64::MIN_POSITIVE);
    let rough = (high / parts - low / parts).max(finest);
    let power = power_of_ten(decimal_exponent(rough));
    let digit = rough / power;
    // The border between two steps lies where both are as far off, as factors.
    let round = match digit {
        _ if digit < 2f64.sqrt() => 1.0,
        _ if digit < 10f64.sqrt() => 2.0,
        _ if digit < 50f64.sqrt() => 5.0,
        _ => 10.0,
    };
    (round * power).clamp(f64::MIN_POSITIVE, 1e308)
}

/// Multiples of `step` from `low` to `high`.
fn number_ticks(low: f64, high: f64, step: f64) -> Vec<Tick> {
    let first = (low / step - 1e-6).ceil();
    let size = low.abs().max(high.abs());
    let exponents = decimal_exponent(step)..=decimal_exponent(size);
    let written = *exponents.end() < 21 && *exponents.start() > -7;
    let (unit, prefix) = axis_prefix(size).filter(|_| written).unwrap_or((1.0, ""));
    let decimals = usize::try_from(-decimal_exponent(step / unit)).unwrap_or(0);
    let label = |at: f64| {
        if !written {
            let decimals = usize::try_from(decimal_exponent(at) - decimal_exponent(step));
            let decimals = decimals.unwrap_or(0);
            return if at == 0.0 {
                "0".to_owned()
            } else {
                scientific(&format!("{at:.decimals$e}"))
            };
        }
        if at == 0.0 || prefix.is_empty() {
            return fixed(at, decimals);
        }
        format!("{}\u{202f}{prefix}", fixed(at / unit, decimals))
    };
    (0..=40u32)
        .map(|index| (first + f64::from(index)) * step)
        .take_while(|at| at.is_finite() && *at <= high + step * 1e-6)
        // A multiple of a tenth has the nearest float to it, not the sum of roundings.
        .map(|at| Tick { at, label: label(at) })
        .collect()
}

/// Steps of the calendar: days, then months.
const DAY_STEPS: [i64; 5] = [1, 2, 5, 10, 15];
const MONTH_STEPS: [i64; 14] = [1, 2, 3, 6, 12, 24, 60, 120, 240, 300, 600, 1_200, 2_400, 6_000];

/// Ticks of an axis of days: at the finest step of the calendar of which no more than `most`
/// fit. Years are multiples of their step.
#[must_use]
pub fn calendar_ticks(scale: &Scale, most: usize) -> Vec<Tick> {
    let (low, high) = scale.range();
    let (first, last) = (whole(low.ceil()), whole(high.floor()));
    let by_days = DAY_STEPS.into_iter().map(|step| days_at(first, last, step, most));
    let by_months = MONTH_STEPS.into_iter().map(|step| months_at(first, last, step, most));
    let ticks = by_days.chain(by_months).find(|ticks| ticks.len() <= most.max(2));
    let mut ticks = ticks.unwrap_or_default();
    if ticks.len() < 2 {
        // A range within one step: its ends.
        ticks = [first, last].map(CivilDate::from_days).into_iter().collect();
        ticks.dedup();
        return ticks.into_iter().map(|date| tick(date, date.iso())).collect();
    }
    let label = labels(&ticks);
    ticks.into_iter().zip(label).map(|(date, label)| tick(date, label)).collect()
}

#[expect(clippy::cast_precision_loss, reason = "days of the calendar are small numbers")]
fn tick(date: CivilDate, label: String) -> Tick {
    Tick { at: date.days() as f64, label }
}

/// Days of the month that are 1, 1 + step, … and not too near the next first. One more than `most`
/// at most.
fn days_at(first: i64, last: i64, step: i64, most: usize) -> Vec<CivilDate> {
    let ends_month = |day: i64| step > 1 && day > 31 - step.min(5) && day > 28;
    (first..=last.min(first.saturating_add(400)))
        .map(CivilDate::from_days)
        .filter(|date| (date.day - 1) % step == 0 && !ends_month(date.day))
        .take(most.max(2) + 1)
        .chain((last > first.saturating_add(400)).then_some(CivilDate::from_days(last)))
        .collect()
}

fn months_at(first: i64, last: i64, step: i64, most: usize) -> Vec<CivilDate> {
    let begin = CivilDate::from_days(first);
    let months = begin.year * 12 + begin.month - 1;
    let month = months - months.rem_euclid(step);
    (0..)
        .map(|index| month + index * step)
        .map(|month| CivilDate {
            year: month.div_euclid(12),
            month: month.rem_euclid(12) + 1,
            day: 1,
        })
        .skip_while(|date| date.days() < first)
        .take_while(|date| date.days() <= last)
        .take(most.max(2) + 1)
        .collect()
}

/// Labels that say what changes: the year alone in January, the month within a year, the day
/// within a month; the first label says all.
fn labels(dates: &[CivilDate]) -> Vec<String> {
    let yearly = dates.iter().all(|date| date.month == 1 && date.day == 1);
    let monthly = dates.iter().all(|date| date.day == 1);
    let mut before: Option<CivilDate> = None;
    let mut label = |date: &CivilDate| {
        let month = MONTHS[usize::try_from(date.month - 1).unwrap_or(0) % 12];
        let CivilDate { year, day, .. } = *date;
        let new_year = before.is_none_or(|before| before.year != year);
        before = Some(*date);
        if yearly {
            year.to_string()
        } else if monthly {
            match (new_year, date.month) {
                (true, 1) => year.to_string(),
                (true, _) => format!("{month} {year}"),
                (false, _) => month.to_owned(),
            }
        } else if new_year {
            format!("{day} {month} {year}")
        } else {
            format!("{day} {month}")
        }
    };
    dates.iter().map(&mut label).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::cast_precision_loss, reason = "days of the calendar are small numbers")]

    use std::collections::BTreeSet;

    use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    use proptest::prelude::*;

    use super::*;
    use crate::calendar::period_start;

    fn texts(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn values_have_ticks_at_round_numbers() {
        for (low, high, expected) in [
            (313.2, 414.7, vec!["300", "320", "340", "360", "380", "400", "420"]),
            (1.0, 10.0, vec!["0", "2", "4", "6", "8", "10"]),
            (-0.35, 0.2, vec!["−0.4", "−0.3", "−0.2", "−0.1", "0.0", "0.1", "0.2"]),
            (
                2e6,
                9.5e6,
                vec!["0", "2\u{202f}M", "4\u{202f}M", "6\u{202f}M", "8\u{202f}M", "10\u{202f}M"],
            ),
            (0.0, 0.0, vec!["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ] {
            let (scale, ticks) = value_axis(low, high, 5, 100.0, 0.0);
            assert_eq!(texts(&ticks), expected, "{low} {high}");
            assert!(scale.range().0 <= low && scale.range().1 >= high);
        }
    }

    /// An axis of any range is finite, and its ticks have labels of their own.
    fn check_axis(low: f64, high: f64, wanted: usize) {
        let plain = Scale::new(low, high, 100.0, 0.0);
        let plain_ticks = number_axis_ticks(&plain, wanted);
        for (scale, ticks) in [value_axis(low, high, wanted, 100.0, 0.0), (plain, plain_ticks)] {
            let place = format!("{low:e} {high:e} {wanted}: {scale:?} {ticks:?}");
            let (first, last) = scale.range();
            assert!(first.is_finite() && last.is_finite() && first < last, "{place}");
            for value in [low, high] {
                assert!((-1.0..=101.0).contains(&scale.pixel(value)), "{place}");
            }
            assert!(ticks.len() <= 41 && ticks.is_sorted_by(|a, b| a.at < b.at), "{place}");
            let labels: BTreeSet<&str> = texts(&ticks).into_iter().collect();
            assert_eq!(labels.len(), ticks.len(), "{place}");
            assert!(labels.iter().all(|label| !label.contains(['N', 'n'])), "{place}");
        }
    }

    #[test]
    fn the_ends_of_what_a_float_holds_have_ticks_with_labels_contract_9() {
        for (low, high) in [
            (f64::MIN, f64::MAX),
            (-1e308, 1e308),
            (f64::MAX, f64::MAX),
            (1.5e308, f64::MAX),
            (5e-324, 5e-324),
            (-5e-324, 5e-324),
            (5e-324, 1.5e-323),
            (1e300, 1e300),
            (1e300, 1.0001e300),
            (1e16, 1e16 + 2.0),
            (1.0, 1.0 + f64::EPSILON),
            (1e-9, 2e-9),
            (-1e15, 1.0),
        ] {
            (1..9).for_each(|wanted| check_axis(low, high, wanted));
        }
        let (_, ticks) = value_axis(-1e308, 1e308, 5, 100.0, 0.0);
        assert_eq!(texts(&ticks), ["−1 × 10³⁰⁸", "−5 × 10³⁰⁷", "0", "5 × 10³⁰⁷", "1 × 10³⁰⁸"]);
    }

    proptest! {
        #[test]
        fn every_range_has_a_finite_axis_with_labels_contract_9(
            a in POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO,
            b in POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO,
            wanted in 1..12usize,
        ) {
            check_axis(a.min(b), a.max(b), wanted);
        }

        #[test]
        fn every_narrow_range_has_a_finite_axis_with_labels_contract_9(
            low in POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO,
            steps in 0..100u64,
            wanted in 1..12usize,
        ) {
            let high = (0..steps).fold(low, |value, _| value.next_up());
            check_axis(low, if high.is_finite() { high } else { f64::MAX }, wanted);
        }
    }

    #[test]
    fn dates_have_ticks_at_steps_of_the_calendar() {
        for (from, to, most, expected) in [
            ("1958-03-01", "2019-12-01", 8, vec!["1960", "1970", "1980", "1990", "2000", "2010"]),
            (
                "2012-01-01",
                "2015-12-31",
                8,
                vec!["2012", "Jul", "2013", "Jul", "2014", "Jul", "2015", "Jul"],
            ),
            ("2018-02-20", "2018-08-01", 6, vec!["Mar 2018", "Apr", "May", "Jun", "Jul", "Aug"]),
            (
                "2018-02-04",
                "2018-02-11",
                8,
                vec!["4 Feb 2018", "5 Feb", "6 Feb", "7 Feb", "8 Feb", "9 Feb", "10 Feb", "11 Feb"],
            ),
            (
                "2018-12-28",
                "2019-02-12",
                6,
                vec!["1 Jan 2019", "11 Jan", "21 Jan", "1 Feb", "11 Feb"],
            ),
            ("2018-02-04", "2018-02-04", 8, vec!["2018-02-04"]),
            ("0001-01-01", "2000-01-01", 5, vec!["500", "1000", "1500", "2000"]),
        ] {
            let [from, to] = [from, to].map(|text| period_start(text).unwrap_or(0) as f64);
            let room = if from < to { 0.0 } else { 0.5 };
            let scale = Scale::new(from - room, to + room, 0.0, 700.0);
            assert_eq!(texts(&calendar_ticks(&scale, most)), expected, "{from} {to}");
        }
    }

    #[test]
    fn labels_never_outnumber_what_fits() {
        for length in [0, 1, 2, 10, 31, 45, 90, 400, 5_000, 40_000, 300_000] {
            for most in [2, 3, 5, 9] {
                let scale = Scale::new(17_000.0, 17_000.0 + f64::from(length), 0.0, 1.0);
                let count = calendar_ticks(&scale, most).len();
                assert!(count <= most, "{length} {most}: {count}");
            }
        }
    }
}
