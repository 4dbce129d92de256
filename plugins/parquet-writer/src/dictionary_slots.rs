//! A hash table from 64-bit values to their positions in the order of first appearance.

/// Positions of distinct values.
pub(crate) struct DictionarySlots {
    /// Values beside their positions; twice as many and more as there may be values.
    slots: Vec<Option<(u64, u16)>>,
    len: usize,
    limit: usize,
}

/// There are more distinct values than were allowed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DictionaryFull;

impl DictionarySlots {
    /// For at most `limit` distinct values, which must be below 65,536.
    pub(crate) fn new(limit: usize) -> Self {
        Self { slots: vec![None; 64.min(limit.next_power_of_two() * 2)], len: 0, limit }
    }

    /// The position of a value, which is how many there were before where the value is new.
    #[inline]
    pub(crate) fn position(&mut self, value: u64) -> Result<u16, DictionaryFull> {
        let mut at = self.slot_of(value);
        loop {
            match self.slots[at] {
                Some((held, position)) if held == value => return Ok(position),
                Some(_) => at = (at + 1) & (self.slots.len() - 1),
                None => return self.insert(at, value),
            }
        }
    }

    #[cold]
    fn insert(&mut self, at: usize, value: u64) -> Result<u16, DictionaryFull> {
        if self.len == self.limit {
            return Err(DictionaryFull);
        }
        let position = u16::try_from(self.len).map_err(|_| DictionaryFull)?;
        self.slots[at] = Some((value, position));
        self.len += 1;
        if self.len * 2 > self.slots.len() {
            let grown = vec![None; self.slots.len() * 4];
            for (value, position) in std::mem::replace(&mut self.slots, grown).into_iter().flatten()
            {
                let mut at = self.slot_of(value);
                while self.slots[at].is_some() {
                    at = (at + 1) & (self.slots.len() - 1);
                }
                self.slots[at] = Some((value, position));
            }
        }
        Ok(position)
    }

    /// First slot to look at: the upper bits of a product, on which all bits of the value bear.
    #[inline]
    fn slot_of(&self, value: u64) -> usize {
        let mixed = (value ^ value >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as usize & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_position_of_their_first_appearance() {
        let mut slots = DictionarySlots::new(3);
        let positions = [7, u64::MAX, 7, 0, u64::MAX, 0].map(|value| slots.position(value));
        assert_eq!(positions, [Ok(0), Ok(1), Ok(0), Ok(2), Ok(1), Ok(2)]);
        assert_eq!(
            (slots.position(8), slots.position(7), slots.len),
            (Err(DictionaryFull), Ok(0), 3)
        );
    }

    #[test]
    fn the_table_grows() {
        let mut slots = DictionarySlots::new(40_000);
        let value = |at: u64| (at as f64 / 10.0).to_bits();
        for round in 0..2 {
            for at in 0..40_000 {
                assert_eq!(
                    slots.position(value(at)),
                    u16::try_from(at).map_err(|_| DictionaryFull),
                    "{round}"
                );
            }
        }
    }
}
