//! A few names by number, so that counting a request compares short texts and allocates nothing.

use std::sync::OnceLock;

/// What a name is called when there are more than there is room for.
const OTHER: &str = "other";

/// Up to `N` - 1 names in the order in which they were first seen; every further one is [`OTHER`].
#[derive(Debug)]
pub(crate) struct NameTable<const N: usize>([OnceLock<Box<str>>; N]);

impl<const N: usize> Default for NameTable<N> {
    fn default() -> Self {
        Self([const { OnceLock::new() }; N])
    }
}

impl<const N: usize> NameTable<N> {
    /// The number of `name`, below `N`.
    pub(crate) fn number(&self, name: &str) -> usize {
        self.0
            .iter()
            .take(N - 1)
            .position(|slot| &**slot.get_or_init(|| name.into()) == name)
            .unwrap_or(N - 1)
    }

    /// The name with that number.
    pub(crate) fn name(&self, number: usize) -> &str {
        self.0.get(number).and_then(OnceLock::get).map_or(OTHER, |name| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_beyond_the_bound_is_other() {
        let names = NameTable::<3>::default();
        assert_eq!(["a", "b", "a", "c", "d"].map(|name| names.number(name)), [0, 1, 0, 2, 2]);
        assert_eq!([0, 1, 2].map(|number| names.name(number)), ["a", "b", "other"]);
    }
}
