//! Facts of a text column that decide how it is read and encoded: whether its values are few, and
//! the traits that all of them have.

use arrow::array::StringArray;
use yearbook_domain::TextTraits;

use super::distinct_values::DistinctValues;

/// The facts so far.
#[derive(Debug)]
pub(crate) struct TextFacts {
    distinct: DistinctValues,
    traits: TextTraits,
}

impl Default for TextFacts {
    fn default() -> Self {
        Self { distinct: DistinctValues::default(), traits: TextTraits::all() }
    }
}

impl TextFacts {
    /// Takes in more values.
    pub(crate) fn extend(&mut self, array: &StringArray) {
        self.distinct.extend(array);
        let offsets = array.value_offsets();
        if let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) {
            // Bytes of nulls, if there are any, may only cost a trait.
            let spanned = usize::try_from(first).unwrap_or(0)..usize::try_from(last).unwrap_or(0);
            self.traits = self.traits.held_by(&array.value_data()[spanned]);
        }
    }

    /// Returns whether they are few.
    pub(crate) fn are_few(&self) -> bool {
        self.distinct.is_few()
    }

    /// Returns the traits that are kept of the column: none where values are few, because then they
    /// are looked at once for all rows.
    pub(crate) fn traits(&self) -> TextTraits {
        if self.are_few() { TextTraits::empty() } else { self.traits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trait_is_lost_with_the_first_value_that_has_it_not() {
        let mut facts = TextFacts::default();
        let texts = |texts: &[Option<&str>]| texts.iter().copied().collect::<StringArray>();
        facts.extend(&texts(&[]));
        facts.extend(&texts(&[Some("a,b"), None, Some("")]));
        assert_eq!(facts.traits, TextTraits::all() - TextTraits::NO_COMMA);
        // A slice: only its own values count.
        facts.extend(&texts(&[Some("\"quoted\""), Some("c"), Some("Ōtaki")]).slice(1, 1));
        assert_eq!(facts.traits, TextTraits::all() - TextTraits::NO_COMMA);
        facts.extend(&texts(&[Some("\"quoted\""), Some("c"), Some("Ōtaki")]).slice(1, 2));
        let lost = TextTraits::NO_COMMA | TextTraits::ASCII;
        assert_eq!(facts.traits, TextTraits::all() - lost);
        assert_eq!(facts.traits(), TextTraits::empty(), "they are few");
        let many: Vec<String> = (0..10_000).map(|row| row.to_string()).collect();
        facts.extend(&StringArray::from_iter_values(many));
        assert_eq!(facts.traits(), TextTraits::all() - lost);
    }
}
