//! Moments, as RFC 3339 and `xs:dateTime` write them.

use yearbook_sdk::calendar::parse_date;

const DAY: i64 = 86_400;

/// Seconds since 1970 and nanoseconds of a time, in UTC without an offset, or of the beginning of a
/// date.
pub(crate) fn parse(text: &str) -> Option<(i64, u32)> {
    let midnight = i64::from(parse_date(text.get(..10)?)?) * DAY;
    let Some(rest) = text.get(10..).filter(|rest| !rest.is_empty()) else {
        return Some((midnight, 0));
    };
    let rest = rest.strip_prefix('T')?;
    let (clock, offset) = match (rest.strip_suffix('Z'), rest.find(['+', '-'])) {
        (Some(clock), _) => (clock, 0),
        (None, None) => (rest, 0),
        (None, Some(at)) => {
            let (clock, offset) = rest.split_at(at);
            let [hours, minutes] = numbers(offset.get(1..)?)?;
            let seconds = (hours * 60 + minutes) * 60;
            (clock, if offset.starts_with('-') { -seconds } else { seconds })
        }
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let [hours, minutes, seconds] = numbers(clock)?;
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let nanoseconds = format!("{fraction:0<9.9}").parse().ok()?;
    Some((midnight + (hours * 60 + minutes) * 60 + seconds - offset, nanoseconds))
}

/// The second of a time, or the last one of a date.
pub(crate) fn last_second(text: &str) -> Option<i64> {
    let (second, _) = parse(text)?;
    Some(if text.len() == 10 { second + DAY - 1 } else { second })
}

/// Two digits each, with colons between, as a clock shows them.
fn numbers<const N: usize>(text: &str) -> Option<[i64; N]> {
    let mut numbers = [0; N];
    let mut parts = text.split(':');
    for (number, most) in numbers.iter_mut().zip([23, 59, 59]) {
        let part = parts.next().filter(|part| part.len() == 2)?;
        let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
        *number = part.parse().ok().filter(|number| is_number && *number <= most)?;
    }
    parts.next().is_none().then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_lasts_until_its_last_second_contract_19() {
        for (text, second) in [
            ("1970-01-01", Some(DAY - 1)),
            ("1970-01-01T00:00:01.9Z", Some(1)),
            ("1970-01-01T00:00:01", Some(1)),
            ("soon", None),
        ] {
            assert_eq!(last_second(text), second, "{text}");
        }
    }

    #[test]
    fn times_have_offsets_and_what_is_none_has_no_moment_contract_19() {
        for (text, moment) in [
            ("1970-01-02", (DAY, 0)),
            ("1970-01-01T00:00:01", (1, 0)),
            ("1970-01-01T00:00:01.5Z", (1, 500_000_000)),
            ("1970-01-01T13:00:00+13:00", (0, 0)),
            ("1969-12-31T20:30:00-03:30", (0, 0)),
        ] {
            assert_eq!(parse(text), Some(moment), "{text}");
        }
        for text in [
            "",
            "aéé…",
            "2026-11-2é",
            "2026-02-30",
            "2026-11-27Tgarbage",
            "2026-11-27T",
            "2026-11-27 10:00:00",
            "2026-11-27T24:00:00",
            "2026-11-27T10:00",
            "2026-11-27T+1:+2:+3",
            "2026-11-27T10:00:00.Z",
            "2026-11-27T10:00:00+1300",
            "2026-11-27T10:00:00+13:0é",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
