//! Exact arithmetic on floats: sums, means and quotients of sums as real numbers have them, rounded
//! once, to the nearest float, ties to even. So the order of the values, and where batches end,
//! change nothing.

use digits::{Digits, digits_to_float, quotient_to_float};
use wide::Wide;

mod digits;
mod wide;

/// An exact sum of floats. 24 bytes, and some 100 more for the few sums that two floats do not
/// hold.
///
/// An infinity makes the sum infinite; infinities of both signs, or a NaN, make it NaN. A sum that
/// exceeds the range of floats in between, and returns into it, is as exact as any other. A zero
/// is positive.
///
/// ```
/// use yearbook_sdk::exact::Sum;
///
/// let mut sum = Sum::default();
/// (0..10).for_each(|_| sum.add(0.1));
/// assert_eq!(sum.value(), 1.0);
/// assert_eq!(sum.mean(10), 0.1);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Sum {
    /// The sum is `high + low + wide`.
    high: f64,
    low: f64,
    wide: Option<Box<Wide>>,
}

impl Sum {
    /// Adds a float.
    ///
    /// ```
    /// use yearbook_sdk::exact::Sum;
    ///
    /// let mut sum = Sum::default();
    /// [1e300, 1.0, -1e300].into_iter().for_each(|value| sum.add(value));
    /// assert_eq!(sum.value(), 1.0);
    /// ```
    #[inline]
    pub fn add(&mut self, value: f64) {
        let (high, error) = two_sum(self.high, value);
        let (low, rest) = two_sum(self.low, error);
        // What is not finite leaves a NaN here.
        if rest == 0.0 {
            (self.high, self.low) = (high, low);
        } else {
            self.add_slowly(value);
        }
    }

    /// Adds an integer.
    ///
    /// ```
    /// use yearbook_sdk::exact::Sum;
    ///
    /// let mut sum = Sum::default();
    /// sum.add_integer(i64::MAX);
    /// sum.add_integer(-i64::MAX + 1);
    /// assert_eq!(sum.value(), 1.0);
    /// ```
    #[inline]
    pub fn add_integer(&mut self, value: i64) {
        if value.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS {
            self.add(value as f64);
        } else {
            self.add_halves(i128::from(value));
        }
    }

    /// Adds the exact product of two floats: a value times its weight.
    ///
    /// ```
    /// use yearbook_sdk::exact::Sum;
    ///
    /// let mut sum = Sum::default();
    /// sum.add_product(0.1, 0.1);
    /// sum.add(-0.1 * 0.1);
    /// assert_eq!(sum.value(), -8.326672684688674e-19);
    /// ```
    pub fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        if product == 0.0 && (a == 0.0 || b == 0.0) || !(a.is_finite() && b.is_finite()) {
            self.add(product);
        } else if let Some(error) = product_error(a, b, product) {
            self.add(product);
            self.add(error);
        } else {
            self.wide().add_product(a, b);
        }
    }

    /// The sum.
    ///
    /// ```
    /// use yearbook_sdk::exact::Sum;
    ///
    /// assert_eq!(Sum::default().value(), 0.0);
    /// ```
    #[must_use]
    pub fn value(&self) -> f64 {
        if self.wide.is_none() {
            // The one rounding; a zero loses its sign.
            return self.high + self.low + 0.0;
        }
        match self.digits() {
            Ok(digits) => digits_to_float(&digits),
            Err(special) => special,
        }
    }

    /// The sum divided by a number of values, rounded once; NaN where there are none.
    ///
    /// ```
    /// use yearbook_sdk::exact::Sum;
    ///
    /// let mut sum = Sum::default();
    /// [f64::MAX, f64::MAX].into_iter().for_each(|value| sum.add(value));
    /// assert_eq!(sum.value(), f64::INFINITY);
    /// assert_eq!(sum.mean(2), f64::MAX);
    /// ```
    #[must_use]
    pub fn mean(&self, count: u64) -> f64 {
        let mut divisor = Self::default();
        divisor.add_halves(i128::from(count));
        self.quotient(&divisor)
    }

    /// The sum divided by another, rounded once: a weighted mean. Divided by zero it is what floats
    /// say.
    ///
    /// ```
    /// use yearbook_sdk::exact::Sum;
    ///
    /// let (mut values, mut weights) = (Sum::default(), Sum::default());
    /// for (value, weight) in [(0.1, 3.0), (0.2, 1.0)] {
    ///     values.add_product(value, weight);
    ///     weights.add(weight);
    /// }
    /// assert_eq!(values.quotient(&weights), 0.125);
    /// ```
    #[must_use]
    pub fn quotient(&self, divisor: &Self) -> f64 {
        if let Some(quotient) = self.quick_quotient(divisor) {
            return quotient;
        }
        match (self.digits(), divisor.digits()) {
            (Ok(dividend), Ok(divisor)) => quotient_to_float(&dividend, &divisor),
            (Ok(_), Err(special)) if special.is_infinite() => 0.0,
            (Err(special), Ok(divisor)) if divisor.negative => -special,
            (Err(special), Ok(_)) => special,
            (_, Err(_)) => f64::NAN,
        }
    }

    /// A quotient that a second step of division decides, where both sums are within two floats.
    fn quick_quotient(&self, divisor: &Self) -> Option<f64> {
        if self.wide.is_some() || divisor.wide.is_some() {
            return None;
        }
        let (high, low) = two_sum(self.high, self.low);
        let (divisor_high, divisor_low) = two_sum(divisor.high, divisor.low);
        let quotient = high / divisor_high;
        if low == 0.0 && divisor_low == 0.0 && divisor_high != 0.0 {
            return Some(quotient + 0.0);
        }
        // Nothing overflows or underflows on the way.
        if ![high, divisor_high, quotient].into_iter().all(is_moderate) {
            return None;
        }
        let product = quotient * divisor_high;
        // Exact: the product is next to `high`, and the rest of a division is a float.
        let rest = (high - product) - product_error(quotient, divisor_high, product)?;
        let beside = quotient * divisor_low;
        let correction = (rest + low - beside) / divisor_high;
        // Above what the six roundings of the correction come to.
        let error = (rest.abs() + low.abs() + beside.abs()) / divisor_high.abs() * 2_f64.powi(-49);
        let (least, most) = (quotient + (correction - error), quotient + (correction + error));
        (least == most).then_some(least)
    }

    /// Adds an integer of which neither half of 32 bits is more than a float holds.
    fn add_halves(&mut self, value: i128) {
        self.add((value >> 32) as f64 * 4_294_967_296.0);
        self.add((value & 0xffff_ffff) as f64);
    }

    #[cold]
    #[inline(never)]
    fn add_slowly(&mut self, value: f64) {
        // Both floats grow, and their bits overlap: apart they may have room.
        let (high, low) = two_sum(self.high, self.low);
        let (high, error) = two_sum(high, value);
        let (low, rest) = two_sum(low, error);
        if rest == 0.0 {
            (self.high, self.low) = (high, low);
            return;
        }
        let parts = [self.high, self.low, value];
        (self.high, self.low) = (0.0, 0.0);
        let wide = self.wide();
        parts.into_iter().for_each(|part| wide.add(part));
    }

    fn wide(&mut self) -> &mut Wide {
        self.wide.get_or_insert_default()
    }

    /// All digits of the sum, or the infinity or NaN that it is.
    fn digits(&self) -> Result<Digits, f64> {
        let mut wide = self.wide.as_deref().cloned().unwrap_or_default();
        wide.add(self.high);
        wide.add(self.low);
        wide.into_digits()
    }
}

/// The nearest float to a sum, and what is missing. What is missing is infinite or NaN where the
/// sum, or anything on the way, is (Knuth; Boldo, Graillat and Muller, "On the robustness of the
/// 2Sum and Fast2Sum algorithms").
#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    let a_part = sum - b_part;
    (sum, (a - a_part) + (b - b_part))
}

/// Error of the nearest float to a product of floats; `None` where it might be no float, or
/// something on the way is beyond the range (Dekker).
fn product_error(a: f64, b: f64, product: f64) -> Option<f64> {
    let split = |value: f64| {
        let scaled = 134_217_729.0 * value; // 2^27 + 1
        let high = scaled - (scaled - value);
        (high, value - high)
    };
    if ![a, b, product].into_iter().all(is_moderate) {
        return None;
    }
    let ((a_high, a_low), (b_high, b_low)) = (split(a), split(b));
    let error = a_high * b_high - product + a_high * b_low + a_low * b_high + a_low * b_low;
    Some(error)
}

/// Returns whether products with its neighbours are far from the ends of the range.
fn is_moderate(value: f64) -> bool {
    (1e-270..1e270).contains(&value.abs())
}

#[cfg(test)]
mod tests;
