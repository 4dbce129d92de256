//! Results of a query: one page of hits, and counts of facets.

use crate::Facet;

/// Hits on a page.
pub const PAGE_SIZE: usize = 20;

/// One page of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchPage {
    /// Number of all hits.
    pub total: usize,
    /// Number of this page, from 1 to `pages`, or 1.
    pub page: usize,
    /// Number of pages; 0 without hits.
    pub pages: usize,
    /// Hits of this page, best first; equals by name.
    pub hits: Vec<SearchHit>,
    /// Counts of every facet, in the order of [`Facet::ALL`].
    pub facets: Vec<FacetCounts>,
    /// Way in which the text was matched.
    pub match_kind: MatchKind,
}

/// A dataset that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchHit {
    /// Name of the dataset.
    pub name: String,
}

/// Way in which the text of a query was matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchKind {
    /// The query has no text: everything, by name.
    Everything,
    /// Each hit has every word, as it is, by its stem or as a prefix.
    AllWords,
    /// Each hit has every word, some with another letter than was typed.
    Corrected,
    /// No dataset has every word; each hit has some.
    SomeWords,
}

/// Counts of one facet among the hits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FacetCounts {
    /// The facet.
    pub facet: Facet,
    /// Values that occur, most hits first, equals by value: at most 50, and the chosen one in any
    /// case. Counts ignore the facet's own choice.
    pub values: Vec<FacetValue>,
    /// Number of further values.
    pub values_left_out: usize,
}

/// A value of a facet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FacetValue {
    /// The value, as its publisher wrote it.
    pub value: String,
    /// Number of hits that have it.
    pub count: usize,
    /// True for the value that the query chose.
    pub chosen: bool,
}
