//! `as_of`, the time whose version is read, and `since`, that from which revisions are told
//! (contract-21-as-of). The domain reads no clock, so it is told how late it is.

use std::borrow::Cow;

use speedate::DateTime;

use super::scalar;
use super::selection::Sent;
use crate::{Date, Millis, ValidationError};

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// Sentence about what looks like no time.
const FORM: &str =
    "is a date, as 2026-10-01, or a time with its offset, as 2026-10-01T09:30:00+13:00";

/// Sentence about a time of day of nowhere.
const NO_OFFSET: &str = "has a time of day without its offset; send Z, or one as +13:00, behind it";

/// A date, which is the end of its day (UTC), or RFC 3339 with an offset. The answer is the last
/// millisecond of the day or the second: versions are dated by whole seconds.
pub(super) fn parse_as_of(name: &str, raw: &str) -> Result<Sent<Millis>, ValidationError> {
    let text = match Date::parse(raw) {
        Some(day) => Cow::Owned(format!("{day}T23:59:59Z")),
        None => whole_seconds(raw),
    };
    let sentence = match scalar::parse_date(name, &text) {
        // A year, a month or a second that is none, letters, the year 0: as for `start`.
        Err(problem) if problem.kind != scalar::INEXACT_DATE => {
            return Err(ValidationError { input: Some(raw.to_owned()), ..problem });
        }
        _ if has_shape(&text, "0000-00-00T00:00:00") => NO_OFFSET,
        _ if has_shape(&text, "0000-00-00T00:00:00Z")
            || has_shape(&text, "0000-00-00T00:00:00+00:00") =>
        {
            match last_millisecond(&text) {
                Some(at) => return Ok(Sent::new(raw, at)),
                None => FORM,
            }
        }
        _ => FORM,
    };
    Err(ValidationError::value_error(name, &format!("{name} {sentence}"), raw))
}

/// Checks that a time is not beyond the end of today (UTC) and stands beside no snapshot.
pub(super) fn check_as_of(
    name: &str,
    sent: Sent<Millis>,
    now: Millis,
    snapshot: Option<&str>,
) -> Result<Sent<Millis>, ValidationError> {
    let today_ends = now.0.div_euclid(DAY_MS).saturating_mul(DAY_MS).saturating_add(DAY_MS - 1);
    let sentence = if sent.value.0 > today_ends {
        let today = now.date();
        format!("{name} must not be after today ({today} UTC), whose end means the newest version")
    } else if snapshot.is_some() {
        format!(
            "{name} cannot stand beside snapshot, which names one version already; send one of them"
        )
    } else {
        return Ok(sent);
    };
    Err(ValidationError::value_error(name, &sentence, &sent.raw))
}

/// `raw` without the fraction of its second, and with the plus of an offset that decoding a query
/// made a blank.
fn whole_seconds(raw: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(raw);
    if let Some((before, behind)) = raw.split_once('.') {
        let rest = behind.trim_start_matches(|digit: char| digit.is_ascii_digit());
        if rest.len() < behind.len() {
            text = Cow::Owned(format!("{before}{rest}"));
        }
    }
    match plus_position(&text) {
        Some(at) => Cow::Owned(format!("{}+{}", &text[..at], &text[at + 1..])),
        None => text,
    }
}

/// The place of a blank where the sign of an offset would stand, behind a whole time.
fn plus_position(text: &str) -> Option<usize> {
    let at =
        text.len().checked_sub("+00:00".len()).filter(|at| *at >= "0000-00-00T00:00:00".len())?;
    (text.as_bytes().get(at) == Some(&b' ')).then_some(at)
}

/// Returns whether `text` looks like `shape`, in which `0` stands for a digit, `+` for a sign and
/// `T` for itself or a blank; letters are of either case.
fn has_shape(text: &str, shape: &str) -> bool {
    let fits = |(byte, shape): (u8, u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        b'+' => matches!(byte, b'+' | b'-'),
        b'T' => matches!(byte, b'T' | b't' | b' '),
        other => byte.eq_ignore_ascii_case(&other),
    };
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(fits)
}

/// The last millisecond of the second that `text` names.
fn last_millisecond(text: &str) -> Option<Millis> {
    let moment = DateTime::parse_bytes_rfc3339(text.as_bytes()).ok()?;
    Some(Millis(moment.timestamp_tz().checked_mul(1_000)?.checked_add(999)?))
}

#[cfg(test)]
mod tests;
