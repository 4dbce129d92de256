//! Numbers of the commonest form, as quickly as a guest can read them: millions of them stand in a
//! table of boundaries.

use crate::is_number_byte;

/// Digits of which every number is below 2^53. Such a number and a power of ten are exact, so their
/// quotient is rounded once.
const EXACT_DIGITS: usize = 15;

const POWERS_OF_TEN: [f64; EXACT_DIGITS + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// A number at the beginning of a text.
pub(crate) struct PlainNumber {
    /// Bytes of its text.
    pub(crate) length: usize,
    pub(crate) value: f64,
}

/// The digits that a text begins with, among which a point may stand.
struct Digits {
    /// Digits before the point.
    whole: usize,
    /// Bytes of all, with the point.
    length: usize,
    /// All of them as one number, unless they are too many.
    number: u64,
}

impl PlainNumber {
    /// The number that `bytes` begin with. `None` if it is written otherwise than JSON would, with
    /// an exponent, or with more digits than are exact.
    #[inline(always)]
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let sign = usize::from(*bytes.first()? == b'-');
        let text = bytes.get(sign..)?;
        let Digits { whole, length, number } = Digits::read(text);
        let with_point = length - whole;
        let fraction = with_point.saturating_sub(1);
        let has_zero = whole > 1 && text.first() == Some(&b'0');
        let goes_on = text.get(length).is_some_and(|byte| is_number_byte(*byte));
        let has_many = whole + fraction > EXACT_DIGITS;
        if whole == 0 || with_point == 1 || has_many || has_zero || goes_on {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "so few digits are exact")]
        let value = number.cast_signed() as f64 / POWERS_OF_TEN.get(fraction)?;
        Some(Self { length: sign + length, value: if sign > 0 { -value } else { value } })
    }
}

impl Digits {
    #[inline(always)]
    fn read(text: &[u8]) -> Self {
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        if let Some(digits) = text.first_chunk().and_then(vector::read) {
            return digits;
        }
        Self::read_each(text)
    }

    /// One digit after the other.
    #[cfg_attr(target_arch = "wasm32", cold)]
    fn read_each(text: &[u8]) -> Self {
        let mut number = 0_u64;
        let mut count = |text: &[u8]| {
            let digits = text.iter().map(|byte| byte.wrapping_sub(b'0'));
            let digits = digits.take_while(|digit| *digit < 10);
            let push = |digit| number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
            digits.map(push).count()
        };
        let whole = count(text);
        let behind = text.get(whole..).and_then(|rest| rest.strip_prefix(b"."));
        let length = whole + behind.map_or(0, |behind| 1 + count(behind));
        Self { whole, length, number }
    }
}

/// Sixteen bytes at once: without a loop there is neither a branch for each digit nor the engine's
/// look at its clock. Three fifths of the time that one digit after the other takes.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod vector {
    use std::arch::wasm32::{
        i8x16, i8x16_ge, i8x16_sub, i16x8, i16x8_narrow_i32x4, i32x4_dot_i16x8, u8x16_bitmask,
        u8x16_gt, u8x16_splat, u8x16_sub, u8x16_swizzle, u16x8_add, u16x8_mul, u16x8_shr,
        u16x8_splat, u32x4_extract_lane, u64x2, v128, v128_and,
    };

    use super::Digits;

    const BYTES: usize = 16;
    const LANES: v128 = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

    /// The digits that `text` begins with; `None` if it may be digits to its end.
    #[inline(always)]
    pub(super) fn read(text: &[u8; BYTES]) -> Option<Digits> {
        let (halves, _) = text.as_chunks();
        let values = u64x2(u64::from_le_bytes(halves[0]), u64::from_le_bytes(halves[1]));
        let values = u8x16_sub(values, u8x16_splat(b'0'));
        let others = u32::from(u8x16_bitmask(u8x16_gt(values, u8x16_splat(9))));
        let whole = others.trailing_zeros() as usize;
        let point = *text.get(whole)? == b'.';
        let others = if point { others & (others - 1) } else { others };
        let length = others.trailing_zeros() as usize;
        if length >= BYTES {
            return None;
        }
        let digits = length - usize::from(point);
        Some(Digits { whole, length, number: number(values, whole, digits) })
    }

    /// The first `digits` digits as a number; behind the first `whole` of them a byte is left out,
    /// unless these are all.
    #[inline(always)]
    fn number(values: v128, whole: usize, digits: usize) -> u64 {
        #[expect(clippy::cast_possible_truncation, reason = "there are sixteen")]
        let each = |count: usize| u8x16_splat(count as u8);
        // The last digit comes into the last lane; lanes before the first have an index below zero,
        // for which a zero comes.
        let index = i8x16_sub(LANES, each(BYTES - digits));
        let index = i8x16_sub(index, i8x16_ge(index, each(whole)));
        let ones = u8x16_swizzle(values, index);
        let tens = u16x8_mul(v128_and(ones, u16x8_splat(0xff)), u16x8_splat(10));
        let twos = u16x8_add(tens, u16x8_shr(ones, 8));
        let fours = i32x4_dot_i16x8(twos, i16x8(100, 1, 100, 1, 100, 1, 100, 1));
        let fours = i16x8_narrow_i32x4(fours, fours);
        let eights = i32x4_dot_i16x8(fours, i16x8(10_000, 1, 10_000, 1, 10_000, 1, 10_000, 1));
        let [high, low] = [u32x4_extract_lane::<0>(eights), u32x4_extract_lane::<1>(eights)];
        u64::from(high) * 100_000_000 + u64::from(low)
    }
}
