//! Failures of the index: ours, never those of a query.

/// A failure of the library beneath, in memory, which is a bug or a lack of memory.
#[derive(Debug, thiserror::Error)]
#[error("the search index failed to {doing}: {source}")]
pub struct SearchError {
    doing: &'static str,
    source: tantivy::TantivyError,
}

impl SearchError {
    /// Returns the conversion of a failure to do `doing`.
    pub(crate) fn new<E: Into<tantivy::TantivyError>>(doing: &'static str) -> impl Fn(E) -> Self {
        move |source| Self { doing, source: source.into() }
    }
}
