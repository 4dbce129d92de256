//! Values of conditions and bounds, in one total order: that of `sort` (contract-15-order).

use std::fmt;

/// A value of a column that is not null.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ColumnValue {
    /// False before true.
    Boolean(bool),
    /// A 64-bit integer.
    Integer(i64),
    /// A 64-bit float.
    Number(FloatKey),
    /// Text, and dates: by bytes.
    Text(String),
}

/// A float by its place in the order of numbers: -0 is 0, and there is one NaN, above all others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FloatKey(u64);

/// The bit that tells negative floats.
const SIGN: u64 = 1 << 63;

impl FloatKey {
    /// Creates the key of `number`.
    #[must_use]
    pub fn new(number: f64) -> Self {
        if number.is_nan() {
            return Self(u64::MAX);
        }
        // Adding zero makes -0 of 0.
        let bits = (number + 0.0).to_bits();
        Self(if bits & SIGN == 0 { bits | SIGN } else { !bits })
    }

    /// Returns the number.
    #[must_use]
    pub fn number(self) -> f64 {
        match self.0 {
            u64::MAX => f64::NAN,
            key if key & SIGN == 0 => f64::from_bits(!key),
            key => f64::from_bits(key & !SIGN),
        }
    }

    /// Returns true for NaN.
    #[must_use]
    pub fn is_nan(self) -> bool {
        self.0 == u64::MAX
    }

    /// Returns a number that sorts like the float.
    #[must_use]
    pub fn sort_key(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for FloatKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.number(), f)
    }
}

/// A finite number as JSON prints it.
pub(crate) fn json_number(number: f64) -> String {
    serde_json::Value::from(number).to_string()
}

impl fmt::Display for ColumnValue {
    /// As JSON prints the column's type; NaN and infinities by their words (contract-15-canonical).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Number(key) => match key.number() {
                number if number.is_nan() => f.write_str("NaN"),
                f64::INFINITY => f.write_str("INF"),
                f64::NEG_INFINITY => f.write_str("-INF"),
                number => f.write_str(&json_number(number)),
            },
            Self::Text(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_json_prints_them_contract_15() {
        let text = |number: f64| ColumnValue::Number(FloatKey::new(number)).to_string();
        // (number, text)
        let cases = [
            (5.0, "5.0"),
            (-0.0, "0.0"),
            (0.1, "0.1"),
            (1e22, "1e+22"),
            (4.997_847_854_804_107e18, "4.997847854804107e+18"),
            (1e-7, "1e-7"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "INF"),
            (f64::NEG_INFINITY, "-INF"),
        ];
        for (number, expected) in cases {
            assert_eq!(text(number), expected);
        }
    }

    #[test]
    fn floats_sort_by_value_with_one_zero_and_one_nan_contract_15() {
        let ascending =
            [f64::NEG_INFINITY, -1.5, -f64::MIN_POSITIVE, 0.0, 5e-324, 1.0, f64::INFINITY];
        let keys: Vec<FloatKey> = ascending.into_iter().map(FloatKey::new).collect();
        assert!(keys.is_sorted_by(|one, other| one < other), "{keys:?}");
        assert_eq!(FloatKey::new(-0.0), FloatKey::new(0.0));
        assert_eq!(FloatKey::new(-f64::NAN), FloatKey::new(f64::NAN));
        assert!(FloatKey::new(f64::NAN) > FloatKey::new(f64::INFINITY));
        for (key, number) in keys.iter().zip(ascending) {
            assert_eq!(key.number().to_bits(), number.to_bits());
        }
        assert!(FloatKey::new(f64::NAN).number().is_nan());
    }
}
