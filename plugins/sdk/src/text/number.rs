//! Numbers as text: integers here, eight digits at a time; floats in a file of their own.

mod float;

pub(super) use float::{float, float32};

/// Room for any number that the functions below write, and for eight bytes more.
pub(super) const ROOM: usize = 40;

/// Buffer for a number: the text stands at the start.
pub(super) type NumberBuffer = [u8; ROOM];

const E8: u64 = 100_000_000;

/// Eight decimal digits of a number below 10^8, one a byte, the most significant in the lowest
/// byte.
#[inline(always)]
fn digits8(number: u32) -> u64 {
    let number = u64::from(number);
    let high = (number * 0xd1b7_1759) >> 45;
    let fours = high | (number - high * 10_000) << 32;
    // After the division by 10^4 that by 100 of two numbers at once, then by 10 of four numbers
    // below 100.
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours - hundreds * 100) << 16;
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | (twos - tens * 10) << 8
}

const ASCII_ZEROS: u64 = 0x3030_3030_3030_3030;

#[inline(always)]
fn put8(slot: &mut NumberBuffer, at: usize, bytes: u64) {
    slot[at..at + 8].copy_from_slice(&bytes.to_le_bytes());
}

/// Writes a number below 10^8 at `at` without leading zeros; returns the position after it.
#[inline(always)]
fn short(number: u32, slot: &mut NumberBuffer, at: usize) -> usize {
    let digits = digits8(number);
    // The last digit stays, be it zero.
    let zeros = (digits | 1 << 63).trailing_zeros() as usize / 8;
    put8(slot, at, (digits | ASCII_ZEROS) >> (zeros * 8));
    at + 8 - zeros
}

/// Writes an unsigned integer at `at`; returns the position after it.
#[inline(always)]
pub(super) fn unsigned_at(number: u64, slot: &mut NumberBuffer, at: usize) -> usize {
    if number < E8 { short(low(number), slot, at) } else { long(number, slot, at) }
}

#[inline(never)]
fn long(number: u64, slot: &mut NumberBuffer, at: usize) -> usize {
    let head = number / E8;
    let tail = number - head * E8;
    let at = unsigned_at(head, slot, at);
    put8(slot, at, digits8(low(tail)) | ASCII_ZEROS);
    at + 8
}

/// Writes a signed integer; returns its length.
#[inline(always)]
pub(super) fn signed(number: i64, slot: &mut NumberBuffer) -> usize {
    slot[0] = b'-';
    unsigned_at(number.unsigned_abs(), slot, usize::from(number < 0))
}

/// Writes an unsigned integer; returns its length.
#[inline(always)]
pub(super) fn unsigned(number: u64, slot: &mut NumberBuffer) -> usize {
    unsigned_at(number, slot, 0)
}

/// A number below 2^32 as one.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "callers pass numbers below 10^8")]
fn low(number: u64) -> u32 {
    number as u32
}

/// Copies a text of at most 32 bytes; returns its length. Two overlapping copies of a fixed length
/// cost less than one of a length that the compiler doesn't know.
#[inline(always)]
pub(super) fn copy(text: &[u8], slot: &mut NumberBuffer) -> usize {
    let length = text.len();
    if let (Some(first), Some(last)) = (text.first_chunk::<16>(), text.last_chunk::<16>()) {
        slot[..16].copy_from_slice(first);
        slot[length - 16..length].copy_from_slice(last);
    } else if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        slot[..8].copy_from_slice(first);
        slot[length - 8..length].copy_from_slice(last);
    } else {
        for (target, &byte) in slot.iter_mut().zip(text) {
            *target = byte;
        }
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl Fn(&mut NumberBuffer) -> usize) -> String {
        let mut slot = [b'?'; ROOM];
        let length = write(&mut slot);
        String::from_utf8_lossy(&slot[..length]).into_owned()
    }

    #[test]
    fn integers_print_as_std_does() {
        let mut number = 1_i64;
        let mut seeds = vec![0, i64::MIN, i64::MAX, 9_007_199_254_740_993];
        for _ in 0..64 {
            number = number.wrapping_mul(-7).wrapping_add(3);
            seeds.extend([number, number >> 13, number >> 30, number >> 45]);
        }
        seeds
            .extend((0..19).flat_map(|power| {
                [10_i64.pow(power), 10_i64.pow(power) - 1, -(10_i64.pow(power))]
            }));
        for number in seeds {
            assert_eq!(text(|slot| signed(number, slot)), number.to_string());
            assert_eq!(
                text(|slot| unsigned(number.cast_unsigned(), slot)),
                number.cast_unsigned().to_string()
            );
        }
        assert_eq!(text(|slot| unsigned(u64::MAX, slot)), u64::MAX.to_string());
    }
}
