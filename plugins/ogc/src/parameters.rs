//! Query parameters: unknown ones, those given twice, and the values of `limit`, `bbox` and
//! `datetime`.

use yearbook_sdk::adapter::{BoundingBox, Request, Step};
use yearbook_sdk::calendar::parse_date;
use yearbook_sdk::text::CivilDate;

use crate::problem::bad_request;

/// Features without `limit`, and most of them.
pub(crate) const DEFAULT_LIMIT: u64 = 10;
pub(crate) const MOST_FEATURES: u64 = 10_000;

/// First and last day of an interval; `None` where it is open.
pub(crate) type Days = (Option<String>, Option<String>);

/// Refuses parameters that a resource does not have, and those that are given twice.
pub(crate) fn check(request: &Request, is_known: impl Fn(&str) -> bool) -> Step<()> {
    for (at, (name, _)) in request.parameters().enumerate() {
        if !is_known(name) {
            return Err(bad_request(format!("'{name}' is no parameter here")));
        }
        if request.parameters().take(at).any(|(before, _)| before == name) {
            return Err(bad_request(format!("'{name}' is given twice")));
        }
    }
    Ok(())
}

/// `limit`; beyond the maximum it is the maximum.
pub(crate) fn limit(request: &Request, most: u64) -> Step<u64> {
    match request.parameter("limit") {
        None => Ok(DEFAULT_LIMIT),
        Some(text) => match count(text) {
            Some(limit) if limit > 0 => Ok(limit.min(most)),
            _ => Err(bad_request("limit is a number from 1")),
        },
    }
}

/// A number in digits alone; the largest one where it is larger.
pub(crate) fn count(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

/// `bbox`: west, south, east, north, with heights in between or without. What the numbers must be
/// is the host's to say.
pub(crate) fn bbox(request: &Request) -> Step<Option<BoundingBox>> {
    let Some(text) = request.parameter("bbox") else { return Ok(None) };
    let numbers: Option<Vec<f64>> = text
        .split(',')
        .map(|part| part.trim().parse().ok().filter(|x: &f64| x.is_finite()))
        .collect();
    let sides = match numbers.as_deref() {
        Some(&[west, south, east, north]) => Some((west, south, east, north)),
        Some(&[west, south, low, east, north, high]) if low <= high => {
            Some((west, south, east, north))
        }
        _ => None,
    };
    let (west, south, east, north) = sides.ok_or_else(|| {
        bad_request("bbox is four or six numbers: west,south,east,north, or with heights")
    })?;
    Ok(Some(BoundingBox { west, south, east, north }))
}

/// `datetime`: an instant or an interval, as days.
pub(crate) fn datetime(request: &Request) -> Step<Days> {
    let Some(text) = request.parameter("datetime") else { return Ok((None, None)) };
    interval(text).ok_or_else(|| {
        bad_request(
            "datetime is a time such as 2018-02-12T23:20:50Z, or an interval such as 2018-02-12T00:00:00Z/2018-03-18T12:31:12Z, \
             where `..` or nothing leaves one end open",
        )
    })
}

fn interval(text: &str) -> Option<Days> {
    let end = |text: &str| match text {
        "" | ".." => Some(None),
        text => day(text).map(Some),
    };
    let (start, last) = match text.split_once('/') {
        None => day(text).map(|day| (Some(day.clone()), Some(day)))?,
        Some((start, last)) => (end(start)?, end(last)?),
    };
    let is_ordered = match (&start, &last) {
        (Some(start), Some(last)) => start <= last,
        ends => ends != (&None, &None),
    };
    is_ordered.then_some((start, last))
}

/// The day in UTC of a time (RFC 3339), or of a date. A space is a `+` that was not encoded.
fn day(text: &str) -> Option<String> {
    let date = text.get(..10)?;
    let days = i64::from(parse_date(date)?);
    let Some(time) = text.get(10..).filter(|rest| !rest.is_empty()) else {
        return Some(date.to_owned());
    };
    let time = time.strip_prefix(['T', 't'])?;
    let (clock, zone) = time.split_at(time.find(['Z', 'z', '+', '-', ' '])?);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let [hours, minutes, seconds] = pair_list(clock, [23, 59, 60])?;
    count(fraction).filter(|_| seconds <= 60)?;
    let offset = match zone {
        "Z" | "z" => 0,
        zone => {
            let [hours, minutes] = pair_list(zone.get(1..)?, [23, 59])?;
            let offset = hours * 60 + minutes;
            if zone.starts_with('-') { -offset } else { offset }
        }
    };
    let shifted = days + (hours * 60 + minutes - offset).div_euclid(24 * 60);
    let date = CivilDate::from_days(shifted);
    (1..=9_999).contains(&date.year).then(|| date.iso())
}

/// Numbers of two digits with colons between them, none larger than these.
fn pair_list<const N: usize>(text: &str, largest: [i64; N]) -> Option<[i64; N]> {
    let parts: Vec<&str> = text.split(':').collect();
    let parts: [&str; N] = parts.try_into().ok()?;
    let mut numbers = [0; N];
    for ((number, part), largest) in numbers.iter_mut().zip(parts).zip(largest) {
        *number = i64::try_from(count(part).filter(|_| part.len() == 2)?).ok()?;
        if *number > largest {
            return None;
        }
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_days_in_utc() {
        let day = |text| day(text).unwrap_or_default();
        assert_eq!(day("2018-02-12"), "2018-02-12");
        assert_eq!(day("2018-02-12T23:20:50Z"), "2018-02-12");
        assert_eq!(day("2018-02-12t23:20:50.52z"), "2018-02-12");
        assert_eq!(day("2018-02-12T23:20:50-02:00"), "2018-02-13");
        assert_eq!(day("2018-03-01T01:00:00+02:00"), "2018-02-28");
        assert_eq!(day("2018-03-01T01:00:00 02:00"), "2018-02-28");
        assert_eq!(day("2016-12-31T23:59:60Z"), "2016-12-31");
        assert_eq!(day("9999-12-31T00:00:00Z"), "9999-12-31");
        for wrong in [
            "",
            "2018",
            "2018-02-30",
            "2018-02-12T",
            "2018-02-12T1:00:00Z",
            "2018-02-12T24:00:00Z",
            "2018-02-12T00:00Z",
            "2018-02-12T00:00:00",
            "2018-02-12T00:00:00.Z",
            "soon, or later",
            "2018-02-12T00:00:00+2:00",
            "9999-12-31T23:00:00-02:00",
            "2018-02-12Ω00:00:00Z",
        ] {
            assert_eq!(day(wrong), "", "{wrong}");
        }
    }
}
