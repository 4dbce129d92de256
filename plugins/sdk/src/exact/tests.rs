//! Sums against arithmetic of whole numbers.

#![expect(clippy::cast_possible_truncation, reason = "random numbers are cut")]

use super::*;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }

    /// Any finite float.
    fn float(&mut self) -> f64 {
        loop {
            let float = f64::from_bits(self.next());
            if float.is_finite() {
                return float;
            }
        }
    }

    fn shuffle<T>(&mut self, values: &mut [T]) {
        for at in (1..values.len()).rev() {
            let other = self.below(at as u64 + 1) as usize;
            values.swap(at, other);
        }
    }
}

fn sum(values: &[f64]) -> Sum {
    let mut sum = Sum::default();
    values.iter().for_each(|value| sum.add(*value));
    sum
}

/// A sum of which two floats hold nothing.
fn wide_sum(values: &[f64]) -> Sum {
    let mut sum = Sum::default();
    values.iter().for_each(|value| sum.wide().add(*value));
    sum
}

#[test]
fn sums_are_those_of_integers_rounded_once() {
    let mut random = Random(1);
    for round in 0..3_000 {
        let spread = random.below(48);
        let (mut values, mut exact) = (Vec::new(), 0_i128);
        for _ in 0..random.below(40) + 1 {
            let mantissa = (random.next() as i64 >> (10 + random.below(40))) as i128;
            let exponent = random.below(spread + 1) as i32;
            // In 2^-30.
            exact += mantissa << exponent;
            values.push(mantissa as f64 * 2_f64.powi(exponent - 30));
        }
        // What `as` makes of an integer is the nearest float, ties to even.
        let expected = exact as f64 * 2_f64.powi(-30);
        assert_eq!(sum(&values).value().to_bits(), expected.to_bits(), "{round}: {values:?}");
        assert_eq!(wide_sum(&values).value().to_bits(), expected.to_bits(), "{round}: {values:?}");
    }
}

#[test]
fn the_order_of_values_changes_nothing_whatever_their_range() {
    let mut random = Random(2);
    for _ in 0..500 {
        let count = random.below(60) + 1;
        let mut values: Vec<f64> = (0..count).map(|_| random.float()).collect();
        let negated: Vec<f64> = values.iter().map(|value| -value).collect();
        let expected = sum(&values).value().to_bits();
        random.shuffle(&mut values);
        assert_eq!(sum(&values).value().to_bits(), expected);
        assert_eq!(wide_sum(&values).value().to_bits(), expected);
        // All that is left is what is added to nothing.
        let rest = [1e-320, 0.1, 0.2, -3e-17].map(|value| value * random.below(3) as f64);
        values.extend(negated.into_iter().chain(rest));
        random.shuffle(&mut values);
        assert_eq!(sum(&values).value().to_bits(), sum(&rest).value().to_bits());
    }
}

#[test]
fn sums_that_one_rounding_decides() {
    let ulp = f64::EPSILON;
    for (values, expected) in [
        (vec![], 0.0),
        (vec![-0.0, -0.0], 0.0),
        (vec![0.1; 10], 1.0),
        (vec![1.0, ulp / 2.0], 1.0),
        (vec![1.0, ulp / 2.0, 1e-300], 1.0 + ulp),
        (vec![1.0 + ulp, ulp / 2.0], 1.0 + 2.0 * ulp),
        (vec![1.0 + ulp, ulp / 2.0, -1e-300], 1.0 + ulp),
        (vec![1e16, 1.0, 1e-16], 10_000_000_000_000_002.0),
        (vec![1e16 - 2.0, 1.0 - 2_f64.powi(-53), -(1e16 - 2.0), -(1.0 - 2_f64.powi(-53))], 0.0),
        (vec![f64::MAX, f64::MAX, -f64::MAX], f64::MAX),
        (vec![f64::MAX, f64::MAX], f64::INFINITY),
        (vec![f64::MIN, f64::MIN, 1.0], f64::NEG_INFINITY),
        // Half a unit of the last place more is the end of the range.
        (vec![f64::MAX, 2_f64.powi(969)], f64::MAX),
        (vec![f64::MAX, 2_f64.powi(970)], f64::INFINITY),
        (vec![f64::MAX, 2_f64.powi(970), -5e-324], f64::MAX),
        (vec![5e-324, 5e-324, -1e-323], 0.0),
        (vec![f64::MIN_POSITIVE, -5e-324], f64::MIN_POSITIVE - 5e-324),
        (vec![f64::INFINITY, f64::MAX, f64::MAX], f64::INFINITY),
        (vec![f64::MAX, f64::MAX, f64::NEG_INFINITY], f64::NEG_INFINITY),
    ] {
        for rotated in 0..values.len().max(1) {
            let mut values = values.clone();
            values.rotate_left(rotated);
            assert_eq!(sum(&values).value().to_bits(), f64::to_bits(expected), "{values:?}");
            assert_eq!(wide_sum(&values).value().to_bits(), f64::to_bits(expected), "{values:?}");
        }
    }
    let endless = [f64::INFINITY, 1.0, f64::NEG_INFINITY];
    for values in [endless, [1.0, f64::NAN, 2.0], [-f64::NAN, f64::INFINITY, 0.0]] {
        assert_eq!(sum(&values).value().to_bits(), f64::NAN.to_bits(), "{values:?}");
        assert_eq!(sum(&values).mean(3).to_bits(), f64::NAN.to_bits(), "{values:?}");
    }
}

#[test]
fn means_are_the_nearest_floats_to_quotients_of_integers() {
    let mut random = Random(3);
    for _ in 0..20_000 {
        let total = random.next() as i64 >> (24 + random.below(38));
        let count = (random.below(1 << 20) >> random.below(20)).max(1);
        let half = random.next() as i64 >> 2;
        let mut sum = Sum::default();
        sum.add_integer(half);
        sum.add_integer(total - half);
        let mean = sum.mean(count);
        let bits = mean.abs().to_bits();
        let (mantissa, exponent) =
            ((bits & ((1 << 52) - 1) | 1 << 52) as i128, (bits >> 52) as i32 - 1_075);
        if mean == 0.0 {
            assert_eq!(total, 0);
            continue;
        }
        // |total| / count = mantissa * 2^exponent, within half a unit of the last place.
        let (count, total) = (i128::from(count), i128::from(total.unsigned_abs()));
        let scale = (-exponent).max(0) as u32;
        let difference = (total << scale) - ((mantissa * count) << exponent.max(0));
        let twice = 2 * difference.abs();
        assert!(twice < count || twice == count && mantissa % 2 == 0, "{total} / {count} = {mean}");
    }
}

#[test]
fn a_second_step_of_division_finds_what_long_division_finds() {
    let mut random = Random(4);
    let (mut quick, mut rounds) = (0, 0);
    for round in 0..20_000 {
        let mut some = |range: i32| {
            let count = random.below(4) + 1;
            let values = (0..count).map(|_| {
                let mantissa = (random.next() as i64 >> random.below(60)) as f64;
                mantissa * 2_f64.powi(random.below(range as u64) as i32 - range / 2)
            });
            sum(&values.collect::<Vec<_>>())
        };
        let range = [40, 60, 1_800][round % 3];
        let (dividend, divisor) = (some(range), some(range));
        let (Ok(all), Ok(by)) = (dividend.digits(), divisor.digits()) else { panic!("finite") };
        let long = quotient_to_float(&all, &by);
        if divisor.value() != 0.0 {
            assert_eq!(dividend.quotient(&divisor).to_bits(), long.to_bits());
            rounds += 1;
            quick += i32::from(dividend.quick_quotient(&divisor).is_some());
        }
    }
    assert!(quick > rounds / 2, "{quick} of {rounds}");
}

#[test]
fn quotients_at_the_ends_of_the_range() {
    let value = |value: f64| sum(&[value]);
    let over = sum(&[f64::MAX, f64::MAX]);
    for (dividend, divisor, expected) in [
        (value(0.0), value(-2.0), 0.0),
        (value(1.0), value(0.0), f64::INFINITY),
        (value(-1.0), value(0.0), f64::NEG_INFINITY),
        (value(0.0), value(0.0), f64::NAN),
        (over.clone(), value(2.0), f64::MAX),
        (over.clone(), value(0.5), f64::INFINITY),
        (over.clone(), over.clone(), 1.0),
        (over.clone(), sum(&[f64::MIN, f64::MIN]), -1.0),
        (value(5e-324), value(2.0), 0.0),
        (value(-5e-324), value(2.0), 0.0),
        (value(1.5e-323), value(2.0), 1e-323),
        (sum(&[5e-324, 1.0, -1.0]), value(1.0), 5e-324),
        (value(f64::INFINITY), over.clone(), f64::INFINITY),
        (value(f64::INFINITY), value(-1.0), f64::NEG_INFINITY),
        (over, value(f64::INFINITY), 0.0),
        (value(f64::INFINITY), value(f64::INFINITY), f64::NAN),
        (value(f64::NAN), value(1.0), f64::NAN),
        (value(1.0), value(f64::NAN), f64::NAN),
    ] {
        let quotient = dividend.quotient(&divisor);
        assert_eq!(quotient.to_bits(), expected.to_bits(), "{dividend:?} / {divisor:?}");
    }
    assert!(value(1.0).mean(0).is_infinite() && Sum::default().mean(0).is_nan());
    assert_eq!(value(1.0).mean(u64::MAX), 1.0 / u64::MAX as f64);
}

#[test]
fn products_are_exact_also_beyond_the_range() {
    let mut random = Random(5);
    for _ in 0..5_000 {
        let (a, b) = (random.float(), random.float());
        let mut product = Sum::default();
        product.add_product(a, b);
        assert_eq!(product.value().to_bits(), (a * b + 0.0).to_bits(), "{a} * {b}");
        // As the wide one has it, whatever way it took.
        product.wide().add_product(-a, b);
        assert_eq!(product.value(), 0.0);
        assert_eq!(product.quotient(&sum(&[5e-324])), 0.0, "nothing is left");
    }
    let mut product = Sum::default();
    for (a, b) in [(f64::INFINITY, 0.0), (f64::NAN, 1.0)] {
        product.add_product(a, b);
        assert!(product.value().is_nan());
    }
}

#[test]
fn a_sum_is_as_small_as_a_million_groups_need() {
    assert!(size_of::<Sum>() <= 24);
    let mut sum = Sum::default();
    for value in 0..1_000_000 {
        sum.add(f64::from(value) / 100.0);
    }
    assert!(sum.wide.is_none(), "two floats hold a million amounts");
}
