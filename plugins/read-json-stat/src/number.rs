//! Numbers of JSON by their digits, exactly: nothing here goes through a float.

use std::fmt::Write;

/// Greatest digits of a [`Decimal`]: what 58 bits hold with a sign.
const MAX_DIGITS: i64 = (1 << 57) - 1;

/// Most digits behind the point of a [`Decimal`].
pub(crate) const MAX_SCALE: u32 = 60;

/// A number without an exponent: its digits, and how many of them stand behind the point. The text
/// that it was read from is known again, `1.50` as 150 and 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub(crate) digits: i64,
    pub(crate) scale: u32,
}

impl Decimal {
    /// Reads a number of JSON; `None` for one with an exponent or too many digits, and for a
    /// negative zero.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mut digits, mut scale, mut behind_point) = (0_i64, 0, 0);
        for byte in text.bytes() {
            match byte {
                b'0'..=b'9' => {
                    digits = digits * 10 + i64::from(byte - b'0');
                    scale += behind_point;
                }
                b'.' => behind_point = 1,
                _ => return None,
            }
            if digits > MAX_DIGITS || scale > MAX_SCALE {
                return None;
            }
        }
        match (negative, digits) {
            (true, 0) => None,
            (true, _) => Some(Self { digits: -digits, scale }),
            (false, _) => Some(Self { digits, scale }),
        }
    }

    /// Writes the number as it was read.
    pub(crate) fn write(self, text: &mut String) {
        let scale = self.scale as usize;
        let sign = if self.digits < 0 { "-" } else { "" };
        text.clear();
        // Writing to a text never fails.
        let _ = write!(text, "{sign}{:0width$}", self.digits.unsigned_abs(), width = scale + 1);
        if scale > 0 {
            text.insert(text.len() - scale, '.');
        }
    }
}

/// The integer that a number of JSON is: `12`, `12.0` and `1.2e1` are one.
pub(crate) fn whole_number(text: &str) -> Option<i64> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    if digits.bytes().all(|byte| matches!(byte, b'-' | b'0')) {
        return Some(0);
    }
    let exponent = exponent.parse::<i64>().ok()?.checked_sub(fraction.len().try_into().ok()?)?;
    let (digits, zeros) = match usize::try_from(exponent) {
        Ok(zeros) => (digits, zeros),
        Err(_) => {
            let cut = digits.len().checked_sub(usize::try_from(exponent.unsigned_abs()).ok()?)?;
            let (digits, rest) = digits.split_at(cut);
            (rest.bytes().all(|byte| byte == b'0').then(|| digits.to_owned())?, 0)
        }
    };
    // 64 bits have 19 digits.
    (zeros < 19).then(|| digits + &"0".repeat(zeros))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_is_written_as_it_was_read() {
        let mut text = String::new();
        for number in [
            "0",
            "-1",
            "12",
            "1.50",
            "0.050",
            "-0.5",
            "100.0",
            "9007199254740993",
            "144115188075855871",
            "-0.12345678901234567",
        ] {
            Decimal::parse(number).expect(number).write(&mut text);
            assert_eq!(text, number);
        }
        for number in ["-0", "-0.0", "1e5", "1E-5", "144115188075855872", "12345678901234567890"] {
            assert_eq!(Decimal::parse(number), None, "{number}");
        }
    }

    #[test]
    fn a_whole_number_is_exact() {
        for (number, expected) in [
            ("12", Some(12)),
            ("-12.000", Some(-12)),
            ("1.2e1", Some(12)),
            ("1e+05", Some(100_000)),
            ("1200E-2", Some(12)),
            ("0.0e-99", Some(0)),
            ("-0", Some(0)),
            ("9007199254740993", Some(9_007_199_254_740_993)),
            ("9007199254740993.0", Some(9_007_199_254_740_993)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("12345678901234567890", None),
            ("0.99999999999999999999", None),
            ("12.5", None),
            ("125e-1", None),
            ("1e-1", None),
            ("-1e-1", None),
            ("1e19", None),
            ("1e-9223372036854775808", None),
            ("1e99999999999999999999", None),
        ] {
            assert_eq!(whole_number(number), expected, "{number}");
        }
    }
}
