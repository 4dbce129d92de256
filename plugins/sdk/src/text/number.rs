//! Numbers as text: integers eight digits at a time, floats as the shortest text that reads back as
//! the same number.

/// Room for any number that the functions below write, and for eight bytes more.
pub(super) const ROOM: usize = 40;

/// Where a number is written: the text stands at the start.
pub(super) type Slot = [u8; ROOM];

const E8: u64 = 100_000_000;

/// Eight decimal digits of a number below 10^8, one a byte, the most significant in the lowest byte.
#[inline(always)]
fn digits8(number: u32) -> u64 {
    let number = u64::from(number);
    let fours = (number / 10_000) | (number % 10_000) << 32;
    // Division by 100 of two numbers below 10^4 at once, then by 10 of four numbers below 100.
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours - hundreds * 100) << 16;
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | (twos - tens * 10) << 8
}

const ASCII_ZEROS: u64 = 0x3030_3030_3030_3030;

#[inline(always)]
fn put8(slot: &mut Slot, at: usize, bytes: u64) {
    slot[at..at + 8].copy_from_slice(&bytes.to_le_bytes());
}

/// Writes a number below 10^8 at `at` without leading zeros; returns the position after it.
#[inline(always)]
fn short(number: u32, slot: &mut Slot, at: usize) -> usize {
    let digits = digits8(number);
    let zeros = ((digits.trailing_zeros() / 8) as usize).min(7);
    put8(slot, at, (digits | ASCII_ZEROS) >> (zeros * 8));
    at + 8 - zeros
}

/// Writes an unsigned integer at `at`; returns the position after it.
#[inline(always)]
pub(super) fn unsigned_at(number: u64, slot: &mut Slot, at: usize) -> usize {
    if number < E8 { short(low(number), slot, at) } else { long(number, slot, at) }
}

#[inline(never)]
fn long(number: u64, slot: &mut Slot, at: usize) -> usize {
    let (head, tail) = (number / E8, number % E8);
    let at = unsigned_at(head, slot, at);
    put8(slot, at, digits8(low(tail)) | ASCII_ZEROS);
    at + 8
}

/// Writes a signed integer; returns its length.
#[inline(always)]
pub(super) fn signed(number: i64, slot: &mut Slot) -> usize {
    slot[0] = b'-';
    unsigned_at(number.unsigned_abs(), slot, usize::from(number < 0))
}

/// Writes an unsigned integer; returns its length.
#[inline(always)]
pub(super) fn unsigned(number: u64, slot: &mut Slot) -> usize {
    unsigned_at(number, slot, 0)
}

/// A number below 2^32 as one.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "callers pass numbers below 10^8")]
fn low(number: u64) -> u32 {
    number as u32
}

/// Writes a finite float; returns its length.
#[inline(always)]
pub(super) fn float(number: f64, slot: &mut Slot) -> usize {
    match few_decimals(number, slot) {
        Some(length) => length,
        None => shortest(number, slot),
    }
}

/// Numbers with at most three decimals and few digits, which is most of what statistics hold.
///
/// Exact: when `n / 1000` is the float itself (division rounds correctly), then the decimal `n/1000`
/// reads back as it; and among decimals of at most 15 digits no two read back as the same float, so
/// that without its trailing zeros it is the shortest.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be below 4e9 and not negative")]
fn few_decimals(number: f64, slot: &mut Slot) -> Option<usize> {
    const LIMIT: f64 = 4_000_000.0;
    let size = number.abs();
    if size >= LIMIT {
        return None;
    }
    let scaled = (size * 1000.0 + 0.5) as u32;
    if f64::from(scaled) / 1000.0 != size {
        return None;
    }
    slot[0] = b'-';
    let at = usize::from(number.is_sign_negative());
    let (whole, rest) = (scaled / 1000, scaled % 1000);
    let at = short(whole, slot, at);
    let (first, second, third) = (rest / 100, rest / 10 % 10, rest % 10);
    let text = u32::from(b'.') | (first | second << 8 | third << 16 | 0x0030_3030) << 8;
    slot[at..at + 4].copy_from_slice(&text.to_le_bytes());
    Some(
        at + if third != 0 {
            4
        } else if second != 0 {
            3
        } else {
            2
        },
    )
}

#[inline(never)]
fn shortest(number: f64, slot: &mut Slot) -> usize {
    copy(zmij::Buffer::new().format_finite(number).as_bytes(), slot)
}

/// Writes a finite float of 32 bits; returns its length.
pub(super) fn float32(number: f32, slot: &mut Slot) -> usize {
    copy(zmij::Buffer::new().format_finite(number).as_bytes(), slot)
}

/// Copies a text of at most 32 bytes; returns its length. Two overlapping copies of a fixed length
/// cost less than one of a length that the compiler doesn't know.
#[inline(always)]
pub(super) fn copy(text: &[u8], slot: &mut Slot) -> usize {
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

    fn text(write: impl Fn(&mut Slot) -> usize) -> String {
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
        seeds.extend((0..19).flat_map(|power| [10_i64.pow(power), 10_i64.pow(power) - 1, -(10_i64.pow(power))]));
        for number in seeds {
            assert_eq!(text(|slot| signed(number, slot)), number.to_string());
            assert_eq!(text(|slot| unsigned(number.cast_unsigned(), slot)), number.cast_unsigned().to_string());
        }
        assert_eq!(text(|slot| unsigned(u64::MAX, slot)), u64::MAX.to_string());
    }

    #[test]
    fn floats_print_the_shortest_text_contract_3() {
        for (number, expected) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-12.5, "-12.5"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e16, "1e+16"),
            (5e-324, "5e-324"),
            (1234.56, "1234.56"),
            (0.001, "0.001"),
            (3_999_999.999, "3999999.999"),
            (4_000_000.0, "4000000.0"),
            (f64::MAX, "1.7976931348623157e+308"),
        ] {
            assert_eq!(text(|slot| float(number, slot)), expected);
        }
    }

    #[test]
    fn the_fast_path_for_floats_writes_what_the_general_one_does() {
        let mut state = 88_172_645_463_325_252_u64;
        let check = |number: f64| {
            if number.is_finite() {
                assert_eq!(text(|slot| float(number, slot)), zmij::Buffer::new().format_finite(number), "{number:?}");
            }
        };
        for _ in 0..200_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            check(f64::from_bits(state));
            let n = f64::from(u32::try_from(state >> 34).unwrap_or(0));
            for divisor in [1.0, 10.0, 100.0, 1000.0, 10_000.0] {
                check(n / divisor);
                check((n / divisor).next_up());
                check(-n * 1e-3 / divisor);
            }
        }
    }
}
