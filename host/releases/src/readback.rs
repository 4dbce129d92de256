//! Readers of responses, by media type, that trust no size that a plugin wrote. They tell whether
//! two responses of other bytes hold the same values. Everything else must be the same bytes.

mod arrow_stream;
mod delimited;
mod json;

use arrow::datatypes::Schema;

/// Ratio of lengths up to which a longer response is read.
const MAX_LENGTH_RATIO: usize = 4;

/// Bytes that are not worth a word.
const FREE_BYTES: usize = 64 << 10;

/// Characters of a value that are shown.
const QUOTED_CHARS: usize = 60;

/// Result of a comparison of values.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ValueComparison {
    /// The same values in other bytes.
    Equal,
    /// Other values, or what nobody can read.
    Different(String),
    /// This host has no reader; why, in words.
    Unsupported(String),
}

/// Compares `other` with `one`, which is by the release that serves.
pub(crate) fn compare(
    media_type: &str,
    schema: &Schema,
    one: &[u8],
    other: &[u8],
) -> ValueComparison {
    if other.len() > one.len().saturating_mul(MAX_LENGTH_RATIO).saturating_add(FREE_BYTES) {
        return ValueComparison::Different(format!(
            "{} bytes instead of {}",
            other.len(),
            one.len()
        ));
    }
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    match essence {
        "text/csv" | "text/tab-separated-values" => delimited::compare(schema, one, other),
        "application/vnd.apache.arrow.stream" => arrow_stream::compare(one, other),
        essence if essence.ends_with("json") => json::compare(one, other),
        essence => ValueComparison::Unsupported(format!("this host does not read {essence} back")),
    }
}

/// A piece of somebody's output for people: short, on one line, harmless on a terminal.
fn quote(text: &str) -> String {
    let line: String =
        text.chars().take(QUOTED_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(QUOTED_CHARS).is_some() {
        format!("`{line}…`")
    } else {
        format!("`{line}`")
    }
}
