//! Lower-case hexadecimal, as digests, ids and entity tags are spelled everywhere.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Returns two lower-case digits a byte.
#[must_use]
pub fn encode_hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

/// Returns the bytes that `text` spells; none where it is no lower-case hexadecimal.
#[must_use]
pub fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| DIGITS.iter().position(|known| *known == digit);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| u8::try_from(value(*high)? * 16 + value(*low)?).ok();
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_spelled_in_lower_case_and_read_back() {
        for (bytes, text) in [(&[][..], ""), (&[0x00, 0x0f, 0xa0, 0xff], "000fa0ff")] {
            assert_eq!(encode_hex(bytes), text);
            assert_eq!(decode_hex(text).as_deref(), Some(bytes));
        }
        for wrong in ["0", "0G", "AA", "é"] {
            assert_eq!(decode_hex(wrong), None, "{wrong}");
        }
    }
}
