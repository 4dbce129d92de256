//! Lower-case hexadecimal, as digests, ids and entity tags are spelled everywhere.

use base16ct::lower;

pub use base16ct::lower::encode_string as encode_hex;

/// `N` lower-case hexadecimal digits. Orders as the text and as the bytes do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Hex<const N: usize>([u8; N]);

impl<const N: usize> Hex<N> {
    /// Spells the first `N / 2` of `bytes`; the digits of bytes that are missing are 0.
    pub(crate) fn encode(bytes: &[u8]) -> Self {
        let mut digits = [b'0'; N];
        // It cannot fail: there is room for their digits.
        let _ = lower::encode(bytes.get(..N / 2).unwrap_or(bytes), &mut digits);
        Self(digits)
    }

    /// None when `text` is not `N` lower-case digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes().try_into().ok()?;
        lower::decode(text, &mut [0; N]).is_ok().then_some(Self(digits))
    }

    /// Returns the digits.
    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Returns the bytes that all digits spell, of which there are `B`.
    pub(crate) fn decode<const B: usize>(&self) -> [u8; B] {
        let mut bytes = [0; B];
        // It cannot fail: they are digits.
        let _ = lower::decode(self.0, &mut bytes);
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
