//! Lower-case hexadecimal, as digests, ids and entity tags are spelled everywhere. The only such
//! code of the host.

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

/// `N` lower-case hexadecimal digits. Orders as the text and as the bytes do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Hex<const N: usize>([u8; N]);

impl<const N: usize> Hex<N> {
    /// Spells the first `N / 2` of `bytes`; the digits of bytes that are missing are 0.
    pub(crate) fn encode(bytes: &[u8]) -> Self {
        let mut digits = [b'0'; N];
        for ([high, low], byte) in digits.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
            *high = DIGITS[usize::from(byte >> 4)];
            *low = DIGITS[usize::from(byte & 15)];
        }
        Self(digits)
    }

    /// None when `text` is not `N` lower-case digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits: [u8; N] = text.as_bytes().try_into().ok()?;
        digits.iter().all(|digit| DIGITS.contains(digit)).then_some(Self(digits))
    }

    /// Returns the digits.
    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Returns the bytes that the first `2 * B` digits spell.
    pub(crate) fn decode<const B: usize>(&self) -> [u8; B] {
        let value = |digit: u8| match digit {
            b'a'..=b'f' => digit - b'a' + 10,
            _ => digit.saturating_sub(b'0'),
        };
        let mut bytes = [0; B];
        for (byte, [high, low]) in bytes.iter_mut().zip(self.0.as_chunks::<2>().0) {
            *byte = (value(*high) << 4) | value(*low);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_spelled_in_lower_case_and_read_back() {
        assert_eq!(encode_hex(&[]), "");
        assert_eq!(encode_hex(&[0x00, 0x0f, 0xa0, 0xff]), "000fa0ff");
        for byte in 0..=u8::MAX {
            let hex = Hex::<2>::encode(&[byte, 7]);
            assert_eq!(hex.as_str(), encode_hex(&[byte]));
            assert!(Hex::parse(hex.as_str()) == Some(hex));
            assert_eq!(hex.decode(), [byte]);
        }
        for wrong in ["", "0", "000", "0G", "AA", "é", "/0", ":0", "`0", "g0"] {
            assert!(Hex::<2>::parse(wrong).is_none(), "{wrong}");
        }
    }
}
