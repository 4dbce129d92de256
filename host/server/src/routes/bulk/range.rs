//! Which part of a file a GET asks for (RFC 9110, 13.1.5 and 14). One range of bytes is served;
//! several, or what is no range of bytes, are answered with all of the file, as the RFC allows.

use std::ops::Range;

use http::HeaderMap;
use http::header::{IF_RANGE, RANGE};
use yearbook_domain::Dataset;

use super::head::Head;
use crate::error::Error;
use crate::respond::conditional;

/// Bytes of a file to be sent; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part(pub(super) Range<u64>);

/// The part that is asked for; none: all of it.
///
/// # Errors
/// 416 when the range lies outside of the file.
pub(super) fn of(
    headers: &HeaderMap,
    head: &Head,
    dataset: &Dataset,
) -> Result<Option<Part>, Error> {
    let mut ranges = headers.get_all(RANGE).iter();
    let (Some(range), None) = (ranges.next(), ranges.next()) else { return Ok(None) };
    if !if_range_holds(headers, head, dataset) {
        return Ok(None);
    }
    match range.to_str().map_or(RangeOutcome::Nothing, |text| parse_range(text, head.size())) {
        RangeOutcome::Nothing => Ok(None),
        RangeOutcome::Part(part) => Ok(Some(part)),
        RangeOutcome::Outside => Err(Error::RangeNotSatisfiable { bytes: head.size() }),
    }
}

/// `If-Range`: whether the client's first part is of the file that would be sent now. Tags compare
/// strongly. A date counts only while it names one snapshot: two may have been committed within the
/// same second.
fn if_range_holds(headers: &HeaderMap, head: &Head, dataset: &Dataset) -> bool {
    let Some(validator) = headers.get(IF_RANGE) else { return true };
    if validator.as_bytes().contains(&b'"') {
        return head.tag().header(None) == *validator;
    }
    let second = |millis: i64| millis.div_euclid(1000);
    let same = dataset
        .snapshots
        .iter()
        .filter(|summary| second(summary.created_at.0) == second(head.modified().0))
        .count();
    same <= 1 && conditional::http_date(head.modified()).is_some_and(|date| date == *validator)
}

/// What one `Range` header means for a file.
#[derive(Debug, PartialEq, Eq)]
enum RangeOutcome {
    /// Not one range of bytes: the header is ignored.
    Nothing,
    /// A range that begins within the file.
    Part(Part),
    /// A range that does not.
    Outside,
}

fn parse_range(text: &str, size: u64) -> RangeOutcome {
    let Some((unit, set)) = text.split_once('=') else { return RangeOutcome::Nothing };
    // Empty elements of a list are to be ignored (RFC 9110, 5.6.1.2).
    let mut specs =
        set.split(',').map(|spec| spec.trim_matches([' ', '\t'])).filter(|spec| !spec.is_empty());
    let (Some(spec), None, true) =
        (specs.next(), specs.next(), unit.trim().eq_ignore_ascii_case("bytes"))
    else {
        return RangeOutcome::Nothing;
    };
    let Some((first, last)) = spec.split_once('-') else { return RangeOutcome::Nothing };
    let range = match (parse_number(first), parse_number(last)) {
        (Some(first), Some(last)) if first <= last => first..last.saturating_add(1).min(size),
        (Some(first), None) if last.is_empty() => first..size,
        (None, Some(length)) if first.is_empty() => {
            if length == 0 {
                return RangeOutcome::Outside;
            }
            size.saturating_sub(length)..size
        }
        _ => return RangeOutcome::Nothing,
    };
    if range.is_empty() { RangeOutcome::Outside } else { RangeOutcome::Part(Part(range)) }
}

/// Digits; more than 64 bits hold stand past the end of every file.
fn parse_number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_of_bytes_is_served_and_anything_else_ignored_rfc_9110() {
        let part = |range: Range<u64>| RangeOutcome::Part(Part(range));
        for (text, expected) in [
            ("bytes=0-0", part(0..1)),
            ("bytes=0-9", part(0..10)),
            ("bytes=3-", part(3..10)),
            ("bytes=9-99", part(9..10)),
            ("bytes=0-18446744073709551615", part(0..10)),
            ("bytes=1-99999999999999999999999", part(1..10)),
            ("bytes=-1", part(9..10)),
            ("bytes=-99", part(0..10)),
            ("Bytes = 2-3 ", part(2..4)),
            ("bytes=,2-3,", part(2..4)),
            ("bytes=10-", RangeOutcome::Outside),
            ("bytes=10-12", RangeOutcome::Outside),
            ("bytes=99999999999999999999999-", RangeOutcome::Outside),
            ("bytes=-0", RangeOutcome::Outside),
            ("bytes=3-2", RangeOutcome::Nothing),
            ("bytes=0-1,3-4", RangeOutcome::Nothing),
            ("bytes=", RangeOutcome::Nothing),
            ("bytes=-", RangeOutcome::Nothing),
            ("bytes=a-b", RangeOutcome::Nothing),
            ("bytes=+1-2", RangeOutcome::Nothing),
            ("bytes=1--2", RangeOutcome::Nothing),
            ("bytes 1-2", RangeOutcome::Nothing),
            ("rows=1-2", RangeOutcome::Nothing),
            ("", RangeOutcome::Nothing),
        ] {
            assert_eq!(parse_range(text, 10), expected, "{text}");
        }
    }
}
