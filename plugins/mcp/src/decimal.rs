//! Decimal numbers as they are written, compared exactly: no rounding of the machine makes two of
//! them equal.

use std::cmp::Ordering;

/// Longest text of a number.
const MAX_BYTES: usize = 400;
/// Most digits that are rounded.
const MAX_DIGITS: i32 = 36;
/// Largest exponent.
const MAX_EXPONENT: i32 = 10_000;

/// A number: its digits, times ten to the power of `exponent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decimal {
    is_negative: bool,
    /// The first and the last one are not 0; none of zero.
    digits: Vec<u8>,
    exponent: i32,
}

impl Decimal {
    /// A number as JSON writes it. `None` for anything else.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_BYTES {
            return None;
        }
        let (is_negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_number = !whole.is_empty() && are_digits(whole) && are_digits(fraction);
        if !is_number || mantissa.ends_with('.') || exponent.abs() > MAX_EXPONENT {
            return None;
        }
        let digits = whole.bytes().chain(fraction.bytes()).map(|byte| byte - b'0');
        let mut digits: Vec<u8> = digits.skip_while(|digit| *digit == 0).collect();
        let mut exponent = exponent - i32::try_from(fraction.len()).ok()?;
        while digits.last() == Some(&0) {
            digits.pop();
            exponent += 1;
        }
        Some(if digits.is_empty() {
            Self { is_negative: false, digits, exponent: 0 }
        } else {
            Self { is_negative, digits, exponent }
        })
    }

    /// The power of ten that makes `other` of this number. `None` where none does.
    pub(crate) fn power_to(&self, other: &Self) -> Option<i32> {
        let is_alike = self.is_negative == other.is_negative && self.digits == other.digits;
        (is_alike && !self.digits.is_empty()).then(|| other.exponent - self.exponent)
    }

    /// The number times a power of ten.
    pub(crate) fn times_ten_to(&self, power: i32) -> Self {
        let exponent = if self.digits.is_empty() { 0 } else { self.exponent + power };
        Self { exponent, ..self.clone() }
    }

    /// Returns whether this number is `exact` rounded to the last digit that it has. Halves may go
    /// either way.
    pub(crate) fn is_rounded(&self, exact: &Self) -> bool {
        if exact.exponent >= self.exponent
            || self.digits.is_empty()
            || self.is_negative != exact.is_negative
        {
            return false;
        }
        let Some((below, rest)) = exact.cut(self.exponent) else { return false };
        let Some((own, _)) = self.cut(self.exponent) else { return false };
        match rest {
            Ordering::Less => own == below,
            Ordering::Greater => own == below + 1,
            Ordering::Equal => own == below || own == below + 1,
        }
    }

    /// Units of ten to the power of `place`, and how the rest compares to half of one.
    fn cut(&self, place: i32) -> Option<(u128, Ordering)> {
        let length = i32::try_from(self.digits.len()).ok()?;
        let kept = length + self.exponent - place;
        if kept > MAX_DIGITS {
            return None;
        }
        let digit = |at: i32| {
            let digit = usize::try_from(at).ok().and_then(|at| self.digits.get(at));
            digit.copied().unwrap_or(0)
        };
        let units = (0..kept).fold(0, |units: u128, at| units * 10 + u128::from(digit(at)));
        let is_whole_digit = kept + 1 >= length;
        let rest = match digit(kept).cmp(&5) {
            Ordering::Equal if !is_whole_digit => Ordering::Greater,
            other => other,
        };
        // Before the first digit stand zeros.
        Some((units, if kept < 0 { Ordering::Less } else { rest }))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::Decimal;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn numbers_are_equal_however_they_are_written_contract_20() {
        for (one, other) in [
            ("1", "1.0"),
            ("1500", "1.5e3"),
            ("-0.050", "-5E-2"),
            ("0", "-0.000"),
            ("9007199254740993", "9007199254740993.0"),
        ] {
            assert_eq!(number(one), number(other), "{one} {other}");
        }
        assert_ne!(number("9007199254740993"), number("9007199254740992"));
        assert_ne!(number("0.1"), number("0.1000000000000000055"));
        let long = "1".repeat(500);
        for text in ["", "-", ".5", "1.", "1,000", "0x10", "NaN", "1e", "1e99999", "+1", &long] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }

    #[test]
    fn powers_of_ten_are_found_contract_20() {
        assert_eq!(number("1.5").power_to(&number("1500")), Some(3));
        assert_eq!(number("39").power_to(&number("0.39")), Some(-2));
        assert_eq!(number("2").power_to(&number("-20")), None);
        assert_eq!(number("0").power_to(&number("0")), None);
        assert_eq!(number("12").power_to(&number("13")), None);
        assert_eq!(number("0.039").times_ten_to(2), number("3.9"));
    }

    #[test]
    fn rounded_numbers_are_found_contract_20() {
        for (claim, exact) in [
            ("3.2", "3.187"),
            ("3.1", "3.149"),
            ("4", "3.5"),
            ("3", "3.5"),
            ("1200000", "1197345.4"),
            ("-0.1", "-0.06"),
            ("1", "0.999"),
            ("100", "99.6"),
        ] {
            assert!(number(claim).is_rounded(&number(exact)), "{claim} {exact}");
        }
        for (claim, exact) in [
            ("3.2", "3.2"),
            ("3.3", "3.187"),
            ("3", "3.51"),
            ("4", "3.49"),
            ("-3", "3.1"),
            ("0", "0.01"),
            ("1", "0.04"),
            ("10", "0.5"),
        ] {
            assert!(!number(claim).is_rounded(&number(exact)), "{claim} {exact}");
        }
    }
}
