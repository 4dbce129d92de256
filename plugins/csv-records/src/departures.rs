//! Departures of a record from RFC 4180, found in its raw bytes with the fields that are quoted.
//! Fields end where `csv-core` ends them, whatever they hold.

use memchr::{memchr, memchr2};

use crate::{CsvFaultKind, CsvStrictness};

/// Goes over `line`, a record without its line's end, and fills in which fields are quoted. Returns
/// the first departure that is refused, with the position of its field.
pub(crate) fn find(
    line: &[u8],
    delimiter: u8,
    strictness: CsvStrictness,
    quoted: &mut Vec<bool>,
) -> Option<(usize, CsvFaultKind)> {
    let mut refused = None;
    let mut at = 0;
    loop {
        let field = quoted.len();
        let is_quoted = line.get(at) == Some(&b'"');
        quoted.push(is_quoted);
        let closing = if is_quoted { closing_quote(line, at + 1) } else { None };
        let from = closing.map_or(at, |quote| quote + 1);
        let rest = line.get(from..).unwrap_or_default();
        let is_open = is_quoted && closing.is_none();
        let end = if is_open { None } else { memchr(delimiter, rest) };
        let found = if is_open {
            Some(CsvFaultKind::UnclosedQuote)
        } else {
            departure(&rest[..end.unwrap_or(rest.len())], is_quoted)
        };
        let is_refused = match strictness {
            CsvStrictness::Rfc4180 => true,
            CsvStrictness::QuotedFields => is_quoted,
            CsvStrictness::Lenient => false,
        };
        refused = refused.or(found.filter(|_| is_refused).map(|kind| (field, kind)));
        let Some(end) = end else { return refused };
        at = from + end + 1;
    }
}

/// The departure in a field's text, of a quoted one in that behind its closing quote.
fn departure(text: &[u8], is_quoted: bool) -> Option<CsvFaultKind> {
    match (text.first(), is_quoted) {
        (Some(b'\r'), true) => Some(CsvFaultKind::BareCarriageReturn),
        (Some(_), true) => Some(CsvFaultKind::TextBehindQuote),
        (None, _) => None,
        (Some(_), false) => memchr2(b'"', b'\r', text).map(|at| match text[at] {
            b'"' => CsvFaultKind::BareQuote,
            _ => CsvFaultKind::BareCarriageReturn,
        }),
    }
}

/// Position of the quote that closes a field whose content begins at `start`.
fn closing_quote(line: &[u8], start: usize) -> Option<usize> {
    let mut cursor = start;
    loop {
        let quote = cursor + memchr(b'"', line.get(cursor..)?)?;
        if line.get(quote + 1) != Some(&b'"') {
            return Some(quote);
        }
        cursor = quote + 2;
    }
}
