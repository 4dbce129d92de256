//! A sum as an integer of any length: what two floats do not hold. Only the words between its
//! lowest and its highest bit are kept.
#![expect(clippy::cast_possible_truncation, reason = "digits are what words have in 32 bits")]

use super::digits::Digits;

/// Exponent of the lowest bit of a product of two floats. Bits of words count from it.
const LOWEST: i32 = -2 * 1_074;

/// Bits of a word that digits have; the others hold what later steps carry.
const WORD_BITS: u32 = 32;

/// Values after which words are carried: fewer than fill the bits above a digit.
const CARRY_AFTER: u32 = 1 << 30;

/// A sum.
#[derive(Debug, Clone, Default)]
pub(super) struct Wide {
    /// Number of the lowest word that is kept.
    first: usize,
    /// Signed digits to the base of 2^32, not yet carried.
    words: Vec<i64>,
    /// Values since words were carried.
    values: u32,
    /// Sum of what is not finite; 0 where everything is.
    special: f64,
}

impl Wide {
    /// Adds a float.
    pub(super) fn add(&mut self, value: f64) {
        if value.is_finite() {
            let (mantissa, exponent) = decompose(value);
            self.add_bits(mantissa.into(), exponent, value.is_sign_negative());
        } else {
            self.special += value;
        }
    }

    /// Adds the product of two finite floats.
    pub(super) fn add_product(&mut self, a: f64, b: f64) {
        let ((a_mantissa, a_exponent), (b_mantissa, b_exponent)) = (decompose(a), decompose(b));
        let negative = a.is_sign_negative() != b.is_sign_negative();
        let product = u128::from(a_mantissa) * u128::from(b_mantissa);
        let exponent = a_exponent + b_exponent;
        self.add_bits(product & u128::from(u64::MAX), exponent, negative);
        self.add_bits(product >> 64, exponent + 64, negative);
    }

    /// Digits of the sum, or the infinity or NaN that it is.
    pub(super) fn into_digits(mut self) -> Result<Digits, f64> {
        if self.special.is_nan() {
            // Its sign and payload are the machine's.
            return Err(f64::NAN);
        }
        if self.special != 0.0 {
            return Err(self.special);
        }
        self.carry();
        // After carrying all digits but the highest are positive.
        let negative = self.words.last().is_some_and(|word| *word < 0);
        if negative {
            self.words.iter_mut().for_each(|word| *word = -*word);
            self.carry();
        }
        let exponent = LOWEST + (self.first as i32) * WORD_BITS as i32;
        let words = self.words.into_iter().map(|word| word as u32).collect();
        Ok(Digits::new(negative, words, exponent))
    }

    /// Adds an integer of at most 64 bits times a power of two.
    fn add_bits(&mut self, bits: u128, exponent: i32, negative: bool) {
        if bits == 0 {
            return;
        }
        let lowest = (exponent - LOWEST) as u32;
        let word = (lowest / WORD_BITS) as usize;
        let mut rest = bits << (lowest % WORD_BITS);
        self.ensure_words(word, 3);
        for slot in &mut self.words[word - self.first..][..3] {
            let digit = i64::from(rest as u32);
            *slot += if negative { -digit } else { digit };
            rest >>= WORD_BITS;
        }
        self.values += 1;
        if self.values == CARRY_AFTER {
            self.carry();
        }
    }

    /// Makes room for so many words from `word` on.
    fn ensure_words(&mut self, word: usize, count: usize) {
        if self.words.is_empty() {
            self.first = word;
        }
        if word < self.first {
            let before = std::iter::repeat_n(0, self.first - word);
            self.words.splice(0..0, before);
            self.first = word;
        }
        let end = word + count - self.first;
        if self.words.len() < end {
            self.words.resize(end, 0);
        }
    }

    /// Brings every word but the highest into 0..2^32, and the highest into -2^32..2^32.
    fn carry(&mut self) {
        self.values = 0;
        let mut carried = 0;
        for word in &mut self.words {
            let value = *word + carried;
            *word = value & i64::from(u32::MAX);
            carried = value >> WORD_BITS;
        }
        while carried != 0 {
            match (carried, self.words.last_mut()) {
                // The sign alone.
                (-1, Some(highest)) if *highest != 0 => {
                    *highest -= 1 << WORD_BITS;
                    carried = 0;
                }
                _ => {
                    self.words.push(carried & i64::from(u32::MAX));
                    carried >>= WORD_BITS;
                }
            }
        }
    }
}

/// Mantissa and exponent of a finite float, without its sign.
fn decompose(value: f64) -> (u64, i32) {
    let bits = value.abs().to_bits();
    let (exponent, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    if exponent == 0 { (fraction, -1_074) } else { (fraction | 1 << 52, exponent - 1_075) }
}

#[cfg(test)]
mod tests {
    use super::super::digits::digits_to_float;
    use super::*;

    #[test]
    fn words_are_carried_before_they_overflow() {
        let mut wide = Wide::default();
        let mut add = |value: f64| {
            // As after a billion values that filled these words.
            wide.add(value);
            wide.values = CARRY_AFTER - 1;
            let before = wide.clone().into_digits().map(|digits| digits_to_float(&digits));
            wide.add(5e-324);
            assert!(wide.values == 0 && wide.words.iter().all(|word| word.abs() < 1 << 32));
            wide.add(-5e-324);
            let after = wide.clone().into_digits().map(|digits| digits_to_float(&digits));
            assert_eq!(before, after);
            after
        };
        for value in [f64::MAX, -1e-300, f64::MAX, f64::MAX] {
            assert!(add(value).is_ok());
        }
        for value in [-f64::MAX, 1e-300, -f64::MAX, -3.0, f64::MIN] {
            assert!(add(value).is_ok());
        }
        assert_eq!(add(0.0), Ok(-3.0));
        for value in [-f64::MAX, f64::MAX, -2.0_f64.powi(-1000)] {
            assert!(add(value).is_ok());
        }
        assert_eq!(add(3.0), Ok(-2.0_f64.powi(-1000)));
    }
}
