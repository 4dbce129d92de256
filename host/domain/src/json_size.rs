//! Weight of rows: bytes of the widest text form, which is JSON (column names in every row). One
//! measure for publishing rows, for cutting them into batches and for checking what plugins return;
//! all of its limits follow from one number.

/// Bytes that one call of a plugin may return, unless `sandbox.output_bytes_per_call` says
/// otherwise.
pub const CALL_OUTPUT_BYTES: usize = 64 << 20;

/// Weight of one row at most. A heavier one is refused when it is published: half of a call leaves
/// room in a plugin's memory for the row, for what is made of it, and for a buffer that grows.
pub const ROW_BYTES: usize = CALL_OUTPUT_BYTES / 2;

/// Weight of a batch at most, unless it is a single row: plugins may return eight times what they
/// are given (`sandbox.amplification`), and are not to reach the end of a call even then.
pub const BATCH_BYTES: usize = CALL_OUTPUT_BYTES / 16;

/// Bytes of a cell besides its value and its column's name: quotes, colon, comma, `null`.
pub const CELL_BYTES: usize = 16;

/// Bytes of the longest integer or number: `-2.2250738585072014e-308`.
pub const NUMBER_BYTES: usize = 24;

/// Bytes of the longest boolean: `false`.
pub const BOOLEAN_BYTES: usize = 5;

/// Bytes of `text` between the quotes of JSON.
#[must_use]
pub fn json_bytes(text: &str) -> usize {
    let each = |byte: u8| match byte {
        b'"' | b'\\' | b'\x08' | b'\t' | b'\n' | b'\x0c' | b'\r' => 2,
        ..b' ' => LONGEST_ESCAPE,
        _ => 1,
    };
    text.bytes().map(each).sum()
}

/// Bytes of the longest escape of a byte in JSON: `\u0001`.
pub const LONGEST_ESCAPE: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_weighs_what_json_writes_for_it() {
        for text in [
            "",
            "plain",
            "Tāmaki Makaurau",
            "\"quoted\" \\ back",
            "a\tb\nc\rd\u{8}\u{c}",
            "\u{0}\u{1f}\u{7f}\u{80}",
        ] {
            let written = serde_json::to_string(text).map(|json| json.len() - 2);
            assert_eq!(written.ok(), Some(json_bytes(text)), "{text:?}");
        }
        assert_eq!(format!("{:e}", -f64::MIN_POSITIVE).len(), NUMBER_BYTES);
        assert!(i64::MIN.to_string().len() <= NUMBER_BYTES);
    }
}
