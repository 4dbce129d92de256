//! Names that stand in addresses: datasets and namespaces, snake_case (spec-1-names).

use crate::text_identity::text_identity;

/// The pattern that names keep to, as error messages quote it.
pub const PATTERN: &str = "^[a-z][a-z0-9_]*$";

/// Longest name accepted, in bytes: it appears in file names and object keys.
pub const MAX_BYTES: usize = 128;

/// Returns true when `text` is snake_case as spec-1-names and spec-2.2-columns ask.
#[must_use]
pub fn is_snake_case(text: &str) -> bool {
    text.len() <= MAX_BYTES
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(String);

        impl $type {
            /// None when `text` is not snake_case.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                is_snake_case(text).then(|| Self(text.to_owned()))
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        text_identity!($type, "a name is snake_case, ^[a-z][a-z0-9_]*$");
    };
}

name! {
    /// Address of a dataset, unique in the service.
    DatasetName
}
name! {
    /// Grouping of datasets, used in bulk paths.
    Namespace
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_snake_case_spec_1_2() {
        for good in ["a", "cpi_quarterly", "x1", "a__b_"] {
            assert!(is_snake_case(good), "{good}");
        }
        for bad in
            ["", "A", "1a", "_a", "a-b", "a b", "é", "a\n", "a/../b", &"a".repeat(MAX_BYTES + 1)]
        {
            assert!(!is_snake_case(bad), "{bad}");
        }
    }
}
