//! Ranges of bytes in a GET (RFC 9110, 13.1.5 and 14). One range of bytes is served;
//! several, or what is no range of bytes, are answered with all of the file, as the RFC allows.

use std::ops::Range;

use http::HeaderMap;
use http::header::{IF_RANGE, RANGE};
use yearbook_domain::Dataset;

use crate::Error;
use crate::bulk_headers::BulkHead;
use crate::preconditions;

/// Bytes of a file to be sent; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteRange(pub Range<u64>);

/// The part that is asked for; none: all of it. `dataset`: the versions that a date may name; none
/// where a file is known by its digest alone.
///
/// # Errors
/// 416 when the range lies outside of the file.
pub fn requested_range(
    headers: &HeaderMap,
    head: &BulkHead,
    dataset: Option<&Dataset>,
) -> Result<Option<ByteRange>, Error> {
    let mut ranges = headers.get_all(RANGE).iter();
    let (Some(range), None) = (ranges.next(), ranges.next()) else { return Ok(None) };
    if !if_range_holds(headers, head, dataset) {
        return Ok(None);
    }
    match range.to_str().map_or(RangeOutcome::Ignored, |text| parse_range(text, head.size())) {
        RangeOutcome::Ignored => Ok(None),
        RangeOutcome::Satisfiable(part) => Ok(Some(part)),
        RangeOutcome::Unsatisfiable => Err(Error::RangeNotSatisfiable { bytes: head.size() }),
    }
}

/// `If-Range`: whether the client's first part is of the file that would be sent now. Tags compare
/// strongly. A date counts only while it names one snapshot: two may have been committed within the
/// same second.
fn if_range_holds(headers: &HeaderMap, head: &BulkHead, dataset: Option<&Dataset>) -> bool {
    let Some(validator) = headers.get(IF_RANGE) else { return true };
    if validator.as_bytes().contains(&b'"') {
        return head.tag().header(None) == *validator;
    }
    let (Some(dataset), Some(modified)) = (dataset, head.modified()) else { return false };
    let second = |millis: i64| millis.div_euclid(1000);
    let same = dataset
        .snapshots
        .iter()
        .filter(|summary| second(summary.created_at.0) == second(modified.0))
        .count();
    same <= 1 && preconditions::http_date(modified).is_some_and(|date| date == *validator)
}

/// The meaning of one `Range` header for a file.
#[derive(Debug, PartialEq, Eq)]
enum RangeOutcome {
    /// Not one range of bytes: the header is ignored.
    Ignored,
    /// A range that begins within the file.
    Satisfiable(ByteRange),
    /// A range that does not.
    Unsatisfiable,
}

fn parse_range(text: &str, size: u64) -> RangeOutcome {
    let Some((unit, set)) = text.split_once('=') else { return RangeOutcome::Ignored };
    // Empty elements of a list are to be ignored (RFC 9110, 5.6.1.2).
    let mut specs =
        set.split(',').map(|spec| spec.trim_matches([' ', '\t'])).filter(|spec| !spec.is_empty());
    let (Some(spec), None, true) =
        (specs.next(), specs.next(), unit.trim().eq_ignore_ascii_case("bytes"))
    else {
        return RangeOutcome::Ignored;
    };
    let Some((first, last)) = spec.split_once('-') else { return RangeOutcome::Ignored };
    let range = match (parse_number(first), parse_number(last)) {
        (Some(first), Some(last)) if first <= last => first..last.saturating_add(1).min(size),
        (Some(first), None) if last.is_empty() => first..size,
        (None, Some(length)) if first.is_empty() => {
            if length == 0 {
                return RangeOutcome::Unsatisfiable;
            }
            size.saturating_sub(length)..size
        }
        _ => return RangeOutcome::Ignored,
    };
    if range.is_empty() {
        RangeOutcome::Unsatisfiable
    } else {
        RangeOutcome::Satisfiable(ByteRange(range))
    }
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
        let part = |range: Range<u64>| RangeOutcome::Satisfiable(ByteRange(range));
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
            ("bytes=10-", RangeOutcome::Unsatisfiable),
            ("bytes=10-12", RangeOutcome::Unsatisfiable),
            ("bytes=99999999999999999999999-", RangeOutcome::Unsatisfiable),
            ("bytes=-0", RangeOutcome::Unsatisfiable),
            ("bytes=3-2", RangeOutcome::Ignored),
            ("bytes=0-1,3-4", RangeOutcome::Ignored),
            ("bytes=", RangeOutcome::Ignored),
            ("bytes=-", RangeOutcome::Ignored),
            ("bytes=a-b", RangeOutcome::Ignored),
            ("bytes=+1-2", RangeOutcome::Ignored),
            ("bytes=1--2", RangeOutcome::Ignored),
            ("bytes 1-2", RangeOutcome::Ignored),
            ("rows=1-2", RangeOutcome::Ignored),
            ("", RangeOutcome::Ignored),
        ] {
            assert_eq!(parse_range(text, 10), expected, "{text}");
        }
    }
}
