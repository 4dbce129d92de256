//! Floats as the shortest text that reads back as the same number.
//!
//! A float is `m / 2^point` with a whole `m` of 53 bits. Between 2^-9 and 2^49 its decimals are
//! found exactly in numbers of 64 and 96 bits, without tables of powers of ten: multiplications of
//! 128 bits are what the general method spends its time on where a machine has none, as in
//! WebAssembly.

use super::super::Dialect;
use super::{ASCII_ZEROS, E8, NumberBuffer, copy, digits8, low, put8, short, unsigned_at};

/// The stored bits of `m`; the highest, always set, is not stored.
const FRACTION: u64 = (1 << 52) - 1;

/// Writes a float; returns its length.
///
/// First the numbers with at most four decimals, which is most of what statistics hold. Exact:
/// `decimals` of them are taken only when the number that they say is less than half of the float's
/// last place away, so that it reads back as the float; and among decimals of at most 15 digits no
/// two read back as the same float, so that without its trailing zeros it is the shortest. (Powers
/// of two, whose last place is narrower below, are either hit exactly or far away.)
#[inline(always)]
pub(in super::super) fn float<D: Dialect>(number: f64, slot: &mut NumberBuffer) -> usize {
    let bits = number.to_bits();
    let point = 1075_u64.wrapping_sub(bits >> 52 & 0x7ff);
    if !(4..=MOST_PLACES).contains(&point) {
        return rare::<D>(number, slot);
    }
    let (whole, part) = split(bits, point);
    // part / 2^point = scaled / 10^4 / 2^(point - 4); half of the last place is 10^4 / 2^5 of that.
    let scaled = part * 625;
    let decimals = (scaled + (1 << (point - 4) >> 1)) >> (point - 4);
    let off = scaled.wrapping_sub(decimals << (point - 4));
    if off.wrapping_add(312) > 624 || whole >= E8 {
        return exact::<D>(bits, slot);
    }
    slot[0] = b'-';
    let at = short(low(whole), slot, usize::from(number.is_sign_negative()));
    slot[at] = b'.';
    let digits = digits4(low(decimals));
    slot[at + 1..at + 5].copy_from_slice(&(digits | 0x3030_3030).to_le_bytes());
    at + 5 - (digits | 1).leading_zeros() as usize / 8
}

/// Parts before and after the binary point.
#[inline(always)]
fn split(bits: u64, point: u64) -> (u64, u64) {
    let all = bits & FRACTION | (FRACTION + 1);
    (all >> point, all & ((1 << point) - 1))
}

/// Four decimal digits of a number below 10^4, one a byte, the most significant in the lowest byte.
#[inline(always)]
fn digits4(number: u32) -> u32 {
    let hundreds = (number * 5_243) >> 19;
    let twos = hundreds | (number - hundreds * 100) << 16;
    let tens = ((twos * 103) >> 10) & 0x000f_000f;
    tens | (twos - tens * 10) << 8
}

/// Binary places up to which [`exact`] counts in 96 bits.
const MOST_PLACES: u64 = 61;

/// Decimal places that surely belong to the shortest text of a float with `point` binary ones: 10
/// to their power is below 2^point, and 10 times that above. One more may follow.
const fn places(point: u64) -> u64 {
    (point * 78_913) >> 18
}

/// Weight of a last binary place in units of `10^-places / 2^43`: `10^places * 2^(43 - point)`,
/// by `point`.
#[expect(clippy::cast_possible_truncation, reason = "below 2^43 by the choice of places")]
static UNITS: [u64; 62] = {
    let mut units = [0; 62];
    let mut point = 0;
    while point < 62 {
        units[point] = (10_u128.pow(places(point as u64) as u32) << 43 >> point) as u64;
        point += 1;
    }
    units
};

/// Factor that makes `places + 1` decimals 16 of them.
static PADDING: [u64; 19] = {
    let mut padding = [1; 19];
    let mut places = 15;
    while places > 0 {
        places -= 1;
        padding[places] = padding[places + 1] * 10;
    }
    padding
};

/// Any float of 4 to 61 binary places. The method is Schubfach (Raffaello Giulietti, "The Schubfach
/// way to render doubles"), in zmij's order: cut after `places`; take the neighbour that lies
/// within half a last binary place when there is one, else one more digit, rounded.
#[inline(never)]
fn exact<D: Dialect>(bits: u64, slot: &mut NumberBuffer) -> usize {
    let point = 1075_u64.wrapping_sub(bits >> 52 & 0x7ff);
    let places = usize::try_from(places(point)).unwrap_or(0);
    let (Some(&unit), Some(&padding)) = (UNITS.get(low(point) as usize), PADDING.get(places))
    else {
        return 0;
    };
    if bits & FRACTION == 0 {
        // The last place is narrower below a power of two.
        return rare::<D>(f64::from_bits(bits), slot);
    }
    let (whole, part) = split(bits, point);
    // part * unit, the highest 64 bits and the lowest 32 apart.
    let lowest = (part & LOW) * (unit & LOW);
    let highest = (part >> 32) * unit + (part & LOW) * (unit >> 32) + (lowest >> 32);
    let (cut, rest) = (highest >> 11, (highest & 0x7ff) << 32 | lowest & LOW);
    // Neither can be met exactly: `unit` is odd times a power of two, and `2 * rest` has more
    // factors of two.
    let up = 2 * rest + unit > 1 << 44;
    let down = 2 * rest < unit;
    // Halves are rounded to even: 2.5 to 2, 7.5 to 8.
    let digit = (rest * 10 + (1 << 42) - u64::from(rest == 1 << 41)) >> 43;
    let decimals = if up | down { (cut + u64::from(up)) * 10 } else { cut * 10 + digit };
    slot[0] = b'-';
    let at = unsigned_at(whole, slot, usize::from(bits >> 63 == 1));
    slot[at] = b'.';
    fraction(decimals * padding, places, slot, at + 1)
}

const LOW: u64 = 0xffff_ffff;

/// Writes 16 decimals, or `places + 1` where that is more, without trailing zeros but at least one;
/// returns the position after them.
#[inline(always)]
fn fraction(decimals: u64, places: usize, slot: &mut NumberBuffer, at: usize) -> usize {
    let (mut at, mut decimals, mut least) = (at, decimals, 1);
    if places > 15 {
        // One to three more in front, of which only the last may not be zero.
        let front = decimals / (E8 * E8);
        decimals -= front * (E8 * E8);
        slot[at..at + 4]
            .copy_from_slice(&(low(front) << (8 * (places - 16)) | 0x3030_3030).to_le_bytes());
        at += places - 15;
        least = 0;
    }
    let first = decimals / E8;
    let (first, second) = (digits8(low(first)), digits8(low(decimals - first * E8)));
    put8(slot, at, first | ASCII_ZEROS);
    put8(slot, at + 8, second | ASCII_ZEROS);
    let zeros = if second == 0 { 64 + first.leading_zeros() } else { second.leading_zeros() };
    at + (16 - zeros as usize / 8).max(least)
}

/// All others: zero, whole numbers from 2^49 on, what is below 2^-9, powers of two with many
/// decimals, and what is not finite.
#[inline(never)]
fn rare<D: Dialect>(number: f64, slot: &mut NumberBuffer) -> usize {
    if number == 0.0 {
        copy(if number.is_sign_negative() { b"-0.0" } else { b"0.0" }, slot)
    } else if number.is_finite() {
        copy(zmij::Buffer::new().format_finite(number).as_bytes(), slot)
    } else {
        copy(not_finite::<D>(number), slot)
    }
}

/// Writes a float of 32 bits; returns its length.
pub(in super::super) fn float32<D: Dialect>(number: f32, slot: &mut NumberBuffer) -> usize {
    if number.is_finite() {
        copy(zmij::Buffer::new().format_finite(number).as_bytes(), slot)
    } else {
        copy(not_finite::<D>(number.into()), slot)
    }
}

/// Spelling of a number that is not finite.
fn not_finite<D: Dialect>(number: f64) -> &'static [u8] {
    if number.is_nan() {
        D::NAN
    } else if number > 0.0 {
        D::INFINITY
    } else {
        D::NEGATIVE_INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::super::ROOM;
    use super::*;

    struct Plain;

    impl Dialect for Plain {
        const NULL: &'static [u8] = b"";
        const NAN: &'static [u8] = b"NaN";
        const INFINITY: &'static [u8] = b"INF";
        const NEGATIVE_INFINITY: &'static [u8] = b"-INF";
        const QUOTE: &'static [u8] = b"";
        const EMPTY_TEXT: &'static [u8] = b"";
        const NESTED: bool = false;

        fn is_plain(&self, _: &[u8]) -> bool {
            true
        }

        fn escape(&self, _: &[u8], _: &mut Vec<u8>) {}
    }

    fn text(number: f64) -> String {
        let mut slot = [b'?'; ROOM];
        let length = float::<Plain>(number, &mut slot);
        String::from_utf8_lossy(&slot[..length]).into_owned()
    }

    /// Compares with a printer that is not ours.
    fn check(number: f64) {
        for number in [number, -number] {
            if number.is_finite() {
                assert_eq!(
                    text(number),
                    zmij::Buffer::new().format_finite(number),
                    "{:#x}",
                    number.to_bits()
                );
            }
        }
    }

    /// The same numbers at every run (xorshift).
    fn random() -> impl FnMut() -> u64 {
        let mut state = 88_172_645_463_325_252_u64;
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        }
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
            (0.012_345_678_901_234_567, "0.012345678901234567"),
            (3_999_999.999, "3999999.999"),
            (99_999_999.999_9, "99999999.9999"),
            (100_000_000.0, "100000000.0"),
            (562_949_953_421_311.94, "562949953421311.94"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "INF"),
            (f64::NEG_INFINITY, "-INF"),
        ] {
            assert_eq!(text(number), expected);
        }
    }

    #[test]
    fn random_floats_print_what_the_general_method_prints() {
        let mut random = random();
        for _ in 0..150_000 {
            check(f64::from_bits(random()));
            // Between 2^-11 and 2^55, with any number of bits set: few of them make halves and
            // exact decimals.
            let exponent = (1012 + random() % 66) << 52;
            let bits = random() & FRACTION;
            check(f64::from_bits(exponent | bits));
            check(f64::from_bits(exponent | bits >> (random() % 52) << (random() % 52) & FRACTION));
        }
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "the nearest float is what is wanted")]
    fn decimals_and_their_neighbours_print_what_the_general_method_prints() {
        let mut random = random();
        let powers: Vec<f64> = (0..20).map(|power| 10_f64.powi(power)).collect();
        for _ in 0..30_000 {
            let number = (random() >> (random() % 64)) as f64;
            for power in &powers {
                check(number / power);
                check((number / power).next_up());
                check((number / power).next_down());
            }
        }
    }

    #[test]
    fn every_short_decimal_prints_what_the_general_method_prints() {
        for number in 0..200_000 {
            for power in [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6] {
                check(f64::from(number) / power);
            }
        }
    }

    #[test]
    fn the_edges_of_every_power_of_two_print_what_the_general_method_prints() {
        for exponent in 0..2047_u64 {
            for bits in [
                0,
                1,
                2,
                3,
                FRACTION,
                FRACTION - 1,
                1 << 51,
                (1 << 51) - 1,
                3 << 50,
                1 << 50,
                5 << 49,
            ] {
                check(f64::from_bits(exponent << 52 | bits));
            }
        }
    }
}
