//! Transforms that the rows of a read go through (contract-16-apply).

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::ReadPlan;
use crate::query::options::OptionScalar;

/// Characters of an option's value that are escaped in a notice: it is a header, too.
const ESCAPED: &AsciiSet = &CONTROLS.add(b'%').add(b',').add(b'(').add(b')');

/// A transform of a read.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedTransform {
    /// Its name.
    pub name: String,
    /// Version of the release that is loaded.
    pub version: String,
    /// Options that have another value than the default, by name.
    pub options: Vec<(String, OptionScalar)>,
}

/// Transforms of a read, and what the first of them sees.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedTransforms {
    /// Rows of the snapshot, all columns that were not left out, without a limit.
    pub input: ReadPlan,
    /// At least one, in the order in which rows go through them.
    pub transforms: Vec<AppliedTransform>,
}

impl AppliedTransform {
    /// Options in parentheses; nothing where all have their defaults.
    fn listed_options(&self) -> String {
        let option = |(name, value): &(String, OptionScalar)| {
            let value = value.to_string();
            format!("{name}={}", utf8_percent_encode(&value, ESCAPED))
        };
        let options: Vec<String> = self.options.iter().map(option).collect();
        if options.is_empty() { String::new() } else { format!("({})", options.join(",")) }
    }
}

impl AppliedTransforms {
    /// Returns what says that rows were changed, and how: `growth(periods=4), pivot(column=region)`
    /// (contract-16-modified).
    #[must_use]
    pub fn to_notice(&self) -> String {
        let notice = |transform: &AppliedTransform| {
            format!("{}{}", transform.name, transform.listed_options())
        };
        self.transforms.iter().map(notice).collect::<Vec<_>>().join(", ")
    }

    /// Returns what a citation says of the releases that computed its rows:
    /// `growth 1.2.0 (periods=4), then pivot 1.0.0 (column=region)`.
    #[must_use]
    pub fn to_citation(&self) -> String {
        let cited = |transform: &AppliedTransform| {
            let AppliedTransform { name, version, .. } = transform;
            format!("{name} {version} {}", transform.listed_options()).trim_end().to_owned()
        };
        self.transforms.iter().map(cited).collect::<Vec<_>>().join(", then ")
    }

    /// Names and values of the parameters that ask for these transforms.
    pub(crate) fn to_pairs(&self) -> impl Iterator<Item = (String, String)> {
        let named =
            |transform: &AppliedTransform| format!("{}@{}", transform.name, transform.version);
        let apply = self.transforms.iter().map(named).collect::<Vec<_>>().join(",");
        let options = self.transforms.iter().flat_map(|transform| {
            let pair = |(name, value): &(String, OptionScalar)| {
                (format!("{}.{name}", transform.name), value.to_string())
            };
            transform.options.iter().map(pair)
        });
        [("apply".to_owned(), apply)].into_iter().chain(options)
    }
}
