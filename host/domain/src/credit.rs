//! Source of the data and the credit that it needs (spec-1-attribution, spec-4.1-attribution).

use serde::{Deserialize, Serialize};

use crate::words;

/// Precision with which [`Credit::source_url`] addresses the dataset (spec-2.1-precision).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceUrlPrecision {
    /// The address is of this dataset.
    Dataset,
    /// The address is the agency's landing page.
    Source,
}

words! { SourceUrlPrecision { Dataset = "dataset", Source = "source" } }

/// The credit that travels with data in headers, in Arrow schema metadata and in Parquet key-value
/// metadata. Publishing refuses control characters in all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credit {
    /// Publishing agency.
    pub source: String,
    /// Ready-made credit, passed on verbatim.
    pub attribution: String,
    /// `licenses[0].name` of the data package.
    pub licence: String,
    /// `licenses[0].title`: the licence's name for people.
    pub licence_title: Option<String>,
    /// `licenses[0].path`, where it is an address.
    pub licence_url: Option<String>,
    /// Address of the source; `None` if unknown.
    pub source_url: Option<String>,
    /// Precision of `source_url`; `None` exactly when that is none.
    pub source_url_precision: Option<SourceUrlPrecision>,
    /// Every entry of the data package's `sources`, in its order.
    pub sources: Vec<SourceEntry>,
}

impl Credit {
    /// Returns true where the licence forbids to pass changed rows on (contract-16-licence).
    #[must_use]
    pub fn forbids_derivatives(&self) -> bool {
        let licence = self.licence.to_ascii_uppercase();
        ["CC-BY-ND-", "CC-BY-NC-ND-"].iter().any(|family| licence.starts_with(family))
    }
}

/// An entry of the data package's `sources`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceEntry {
    /// Name of the source.
    pub title: Option<String>,
    /// Its address.
    pub path: Option<String>,
}

/// The part of a [`Credit`] that rows keep however old they are (contract-4-changes-credit).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreditLine {
    /// Ready-made credit, passed on verbatim.
    pub attribution: String,
    /// Name of the licence.
    pub licence: String,
}

impl CreditLine {
    /// Joins the credits of rows that were published with `lines`, oldest first: each distinct text
    /// once, attributions joined by `; `, licences by ` AND `.
    #[must_use]
    pub fn join(lines: &[Self]) -> Self {
        let distinct = |text: fn(&Self) -> &str, separator: &str| {
            let mut texts: Vec<&str> = Vec::new();
            for text in lines.iter().map(text) {
                if !texts.contains(&text) {
                    texts.push(text);
                }
            }
            texts.join(separator)
        };
        Self {
            attribution: distinct(|line| &line.attribution, "; "),
            licence: distinct(|line| &line.licence, " AND "),
        }
    }
}

impl From<&Credit> for CreditLine {
    fn from(credit: &Credit) -> Self {
        Self { attribution: credit.attribution.clone(), licence: credit.licence.clone() }
    }
}
