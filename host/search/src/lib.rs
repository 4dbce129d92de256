//! Full-text search over the datasets of a catalog, with facets (contract-9-search). An index is
//! built from documents, lives in memory and never changes. It never touches HTTP, a database or a
//! file, reads no clock and starts no thread: its owner decides when and where it is built.
//!
//! Start at `index`: [`SearchIndex::build`], then [`SearchIndex::search`].

mod analysis;
mod document;
mod error;
mod facet;
mod index;
mod newest;
mod page;
mod query;

pub use document::{ColumnText, DatasetShape, SearchDocument};
pub use error::SearchError;
pub use facet::{Facet, FacetChoices};
pub use index::SearchIndex;
pub use newest::{IndexSender, NewestIndex};
pub use page::{FacetCounts, FacetValue, MatchKind, PAGE_SIZE, SearchHit, SearchPage};
pub use query::{MAX_CHOICE_BYTES, MAX_TEXT_BYTES, SearchQuery};
