//! Input of a chain: what whoever reads the table does for it.

use futures::future::BoxFuture;
use yearbook_domain::Date;
use yearbook_engine::BoxError;

use crate::encode::Batches;

/// Reads the table that the first transform of a chain works on: one selection of its rows.
pub trait TransformInput: Send + Sync {
    /// The distinct values of a column, ascending, less those that the selection's conditions on it
    /// exclude; `None` where they are not known.
    fn codes(&self, column: &str) -> BoxFuture<'_, Result<Option<Vec<String>>, BoxError>>;

    /// The selection's rows of `window`, in natural order. `columns`: positions in the schema that
    /// the chain was planned for, ascending; the batches have these columns alone, of the types
    /// that the schema has for them.
    fn rows(
        &self,
        window: RowWindow,
        columns: Vec<usize>,
    ) -> BoxFuture<'_, Result<Batches, BoxError>>;
}

/// Rows of a selection by their dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowWindow {
    /// Rows of the selection, with `start` in the place of its own first day; `None` where it has
    /// none. Its last day holds.
    Selected {
        /// First day.
        start: Option<Date>,
        /// Rows that suffice, the first ones; `None` for all.
        most: Option<u64>,
    },
    /// Rows of these days, both inclusive, in the place of the selection's own; all of its other
    /// conditions hold.
    Dates {
        /// First day.
        from: Date,
        /// Last day.
        to: Date,
    },
}
