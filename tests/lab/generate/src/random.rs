//! Numbers that look random and are the same everywhere. Own code because a library may change its
//! sequence with any release, and the rows must not.

/// SplitMix64 (Steele, Lea and Flood, 2014): one multiplication chain a number, any seed will do.
#[derive(Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A sequence that begins at `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to `bound` - 1; `bound` is small, so the bias of the remainder does not matter.
    pub fn next_below(&mut self, bound: u64) -> u64 {
        self.next_u64() % bound
    }

    /// From 0 up to 1, with all 53 bits that a float has.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exactly what a float keeps")]
    pub fn next_fraction(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of `choices`, which is not empty.
    pub fn choose<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        let at = usize::try_from(self.next_below(choices.len() as u64)).unwrap_or_default();
        choices[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_that_of_splitmix64() {
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!(
            [random.next_u64(), random.next_u64()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]
        );
    }
}
