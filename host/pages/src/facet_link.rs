//! Links to the search by one value of a facet.

/// One value with its count.
pub(super) struct FacetLink {
    /// The value, as publishers write it.
    pub(super) value: String,
    /// Number of datasets.
    pub(super) count: String,
    /// Query of the search, with its question mark.
    pub(super) query: String,
    /// True where the value is chosen: the link takes the choice away.
    pub(super) is_chosen: bool,
}
