//! Integers of any length times a power of two, and their nearest floats.
#![expect(clippy::cast_possible_truncation, reason = "words are cut from longer integers")]

use std::cmp::Ordering;

/// Bits of a quotient that are computed: those of a float, and more than one that rounds it.
const QUOTIENT_BITS: u32 = 64;

/// A number.
#[derive(Debug)]
pub(super) struct Digits {
    pub(super) negative: bool,
    /// To the base of 2^32, the lowest first; the highest is not 0.
    words: Vec<u32>,
    /// Exponent of the lowest bit.
    exponent: i32,
}

impl Digits {
    pub(super) fn new(negative: bool, mut words: Vec<u32>, exponent: i32) -> Self {
        trim(&mut words);
        Self { negative, words, exponent }
    }
}

/// The nearest float.
pub(super) fn digits_to_float(number: &Digits) -> f64 {
    if number.words.is_empty() {
        return 0.0;
    }
    let (leading, exponent, rest) = leading_bits(&number.words, number.exponent);
    signed(number.negative, to_float(leading, exponent, rest))
}

/// The nearest float to a quotient. Divided by zero it is infinite or NaN.
pub(super) fn quotient_to_float(dividend: &Digits, divisor: &Digits) -> f64 {
    let negative = dividend.negative != divisor.negative;
    match (dividend.words.is_empty(), divisor.words.is_empty()) {
        (true, true) => return f64::NAN,
        (true, false) => return 0.0,
        (false, true) => return signed(dividend.negative, f64::INFINITY),
        (false, false) => {}
    }
    // Of the same length, so that the quotient is between a half and two.
    let (length, divisor_length) = (bits(&dividend.words), bits(&divisor.words));
    let longest = length.max(divisor_length);
    let mut rest = shifted(&dividend.words, longest - length);
    let by = shifted(&divisor.words, longest - divisor_length);
    let mut quotient = 0_u64;
    for _ in 0..QUOTIENT_BITS {
        quotient <<= 1;
        if compare(&rest, &by) != Ordering::Less {
            subtract(&mut rest, &by);
            quotient |= 1;
        }
        rest = shifted(&rest, 1);
    }
    let exponent = dividend.exponent - divisor.exponent + length as i32
        - divisor_length as i32
        - (QUOTIENT_BITS as i32 - 1);
    let zeros = quotient.leading_zeros();
    // A first bit of 0 leaves 63 bits, ten more than a float has.
    let float = to_float(quotient << zeros, exponent - zeros as i32, !rest.is_empty());
    signed(negative, float)
}

/// The highest 64 bits of a number that is not 0, their exponent, and whether there are others
/// below them.
fn leading_bits(words: &[u32], exponent: i32) -> (u64, i32, bool) {
    let mut from_highest = words.iter().rev();
    let mut next = || from_highest.next().copied().map_or(0, u128::from);
    let three = next() << 64 | next() << 32 | next();
    let (length, drop) = (bits(words), 64 - three.leading_zeros());
    let others = three & ((1 << drop) - 1) != 0 || from_highest.any(|word| *word != 0);
    ((three >> drop) as u64, exponent + length as i32 - 64, others)
}

/// The nearest float to `mantissa` times two to the `exponent`, ties to even. The first bit of the
/// mantissa is 1; `rest` says that there is more below its last one.
fn to_float(mantissa: u64, exponent: i32, rest: bool) -> f64 {
    /// Exponent of the lowest bit that a float has.
    const LOWEST: i32 = f64::MIN_EXP - f64::MANTISSA_DIGITS as i32;
    let lowest = (exponent + 64 - f64::MANTISSA_DIGITS as i32).max(LOWEST);
    let drop = (lowest - exponent).min(100);
    let (mantissa, half) = (u128::from(mantissa), 1_u128 << (drop - 1));
    let (kept, dropped) = (mantissa >> drop, mantissa & (2 * half - 1));
    let up = match dropped.cmp(&half) {
        Ordering::Greater => true,
        Ordering::Equal => rest || kept & 1 == 1,
        Ordering::Less => false,
    };
    // At most 2^53. A power of two beyond the range is infinite, as the product is then.
    let kept = kept as u64 + u64::from(up);
    kept as f64 * power_of_two(lowest)
}

/// Two to the power of an exponent from the lowest that floats have on.
fn power_of_two(exponent: i32) -> f64 {
    let biased = exponent + f64::MAX_EXP - 1;
    f64::from_bits(match u64::try_from(biased) {
        Ok(biased @ 1..) => biased.min(0x7ff) << (f64::MANTISSA_DIGITS - 1),
        _ => 1 << (biased + f64::MANTISSA_DIGITS as i32 - 2),
    })
}

fn signed(negative: bool, value: f64) -> f64 {
    if negative { -value + 0.0 } else { value }
}

/// Length of a number without leading zeros.
fn bits(words: &[u32]) -> u32 {
    words.last().map_or(0, |last| words.len() as u32 * 32 - last.leading_zeros())
}

fn trim(words: &mut Vec<u32>) {
    let zeros = words.iter().rev().take_while(|word| **word == 0).count();
    words.truncate(words.len() - zeros);
}

/// The number times two to the power of `by`.
fn shifted(words: &[u32], by: u32) -> Vec<u32> {
    let mut out = vec![0; by as usize / 32];
    let mut carried = 0;
    for word in words {
        let wide = u64::from(*word) << (by % 32) | carried;
        out.push(wide as u32);
        carried = wide >> 32;
    }
    out.push(carried as u32);
    trim(&mut out);
    out
}

fn compare(a: &[u32], b: &[u32]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

/// Takes a number away that is no greater.
fn subtract(from: &mut Vec<u32>, number: &[u32]) {
    let mut borrowed = 0;
    for (at, word) in from.iter_mut().enumerate() {
        let less = i64::from(number.get(at).copied().unwrap_or_default()) + borrowed;
        let rest = i64::from(*word) - less;
        *word = rest as u32;
        borrowed = i64::from(rest < 0);
    }
    trim(from);
}
