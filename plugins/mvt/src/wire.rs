//! Protocol Buffers, as far as a tile has them: numbers, and fields of a known length.

/// Appends a number in groups of seven bits.
pub(crate) fn number(mut value: u64, out: &mut Vec<u8>) {
    while value > 0x7f {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// A signed number such that small ones are short, whatever their sign.
pub(crate) fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

/// Appends a field that is a number.
pub(crate) fn number_field(field: u8, value: u64, out: &mut Vec<u8>) {
    out.push(field << 3);
    number(value, out);
}

/// Appends a field of bytes: text, packed numbers, or another message.
pub(crate) fn bytes_field(field: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(field << 3 | 2);
    number(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}
