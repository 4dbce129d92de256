//! Content that is no CSV whatever the file's name says, recognized by its first bytes and named
//! with what to do. Text of one byte a character in another encoding than UTF-8 is found by its
//! cells.

use crate::wide_text::is_wide_text;

/// First bytes of files that are no text.
const SIGNATURES: [(&[u8], &str); 6] = [
    (
        b"PK\x03\x04",
        "it is a zip archive, as workbooks of Excel are; unpack it, or save the sheet as CSV UTF-8",
    ),
    (b"\xD0\xCF\x11\xE0", "it is a workbook of old Excel; save the sheet as CSV UTF-8"),
    (
        b"\x1F\x8B",
        "it is compressed with gzip; let the file's name end in .csv.gz, or decompress it",
    ),
    (b"\x28\xB5\x2F\xFD", "it is compressed with Zstandard; decompress it, or use gzip"),
    (b"PAR1", "it is Parquet; write parquet for `resources[0].format`"),
    (b"ARROW1", "it is Arrow IPC; write arrow for `resources[0].format`"),
];

const WIDE_TEXT: &str = "it is UTF-16 or UTF-32, as Excel's \"Unicode text\" is; save it as UTF-8 with commas (in Excel: \"CSV UTF-8\")";

const MARKUP: &str =
    "it is HTML or XML, perhaps a notice in place of the data; look at it in a browser";

/// Returns the kind of content that begins with `first`, and what to do; `None` where it may be
/// CSV.
pub(super) fn recognize(first: &[u8]) -> Option<&'static str> {
    let signature = SIGNATURES.iter().find(|(signature, _)| first.starts_with(signature));
    if let Some((_, found)) = signature {
        return Some(found);
    }
    if is_wide_text(first) {
        return Some(WIDE_TEXT);
    }
    let text = first.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(first);
    text.trim_ascii_start().starts_with(b"<").then_some(MARKUP)
}
