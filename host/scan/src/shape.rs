//! Shape of computed rows, which no file holds: the first or last of each series, their order, a
//! page of them, and the columns that are sent (contract-16-shape). Rows are held where they must
//! be, on the account of the caller's selections. Knows nothing of who computes them.

mod first_rows;
mod held_rows;
mod page;

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use yearbook_domain::SeriesRows;
use yearbook_domain::read_plan::SortKey;

use self::first_rows::first_rows;
use self::held_rows::{last_rows, sorted_rows};
use crate::order::{SelectionBudget, SelectionPermit, SeriesEncoder};
use crate::row_counts::RowCounts;
use crate::{Reader, StorageFailure};

pub use self::page::HELD_ROWS;

/// Rows as they are computed, with whatever error ends them.
pub type ComputedRows =
    BoxStream<'static, Result<RecordBatch, Box<dyn std::error::Error + Send + Sync>>>;

/// Shape of computed rows. Columns are positions in their schema.
#[derive(Clone, Debug, PartialEq)]
pub struct RowShape {
    /// Columns to send, in this order.
    pub columns: Vec<usize>,
    /// Rows of each series; `None` for all.
    pub series: Option<SeriesShape>,
    /// Columns to sort by; empty for the order in which rows come.
    pub sort: Vec<SortKey>,
    /// Rows before those that are sent.
    pub first_row: u64,
    /// Rows at most; `None` for all.
    pub max_rows: Option<u64>,
    /// Number of rows that come, where it is known before they do.
    pub known_rows: Option<u64>,
}

/// Rows of each series.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesShape {
    /// First or last ones, and their number.
    pub rows: SeriesRows,
    /// Columns whose values tell series apart.
    pub columns: Vec<usize>,
    /// Column of period codes, whose forms do too.
    pub period: Option<usize>,
}

/// Computed rows in their shape.
pub struct ShapedRows {
    /// Schema of every batch.
    pub schema: SchemaRef,
    /// Number of rows, and the row at which a next page begins: rows are numbered from 0 in the
    /// order of the whole shape.
    pub counts: RowCounts,
    /// The rows; never an empty batch.
    pub batches: ComputedRows,
}

/// Reason why computed rows get no shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeFailure {
    /// More series than are held.
    TooManySeries,
    /// More rows than are held before the first is sent.
    TooManyRows,
    /// Rows that are not of their schema.
    Rows(String),
}

impl std::fmt::Display for ShapeFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooManySeries => f.write_str("the rows have more series than are held"),
            Self::TooManyRows => f.write_str("there are more rows than are held"),
            Self::Rows(why) => write!(f, "rows have no shape: {why}"),
        }
    }
}

impl std::error::Error for ShapeFailure {}

impl From<ArrowError> for ShapeFailure {
    fn from(error: ArrowError) -> Self {
        Self::Rows(error.to_string())
    }
}

impl Reader {
    /// Gives `rows`, which have `schema`, a shape. When this returns, [`ShapedRows::counts`] are
    /// known: rows were computed up to the first one behind the page where nothing else tells
    /// whether there is one. They are held on the account of the caller of this reader.
    ///
    /// # Errors
    /// A [`ShapeFailure`]; a [`StorageFailure`] where there is no room for what is held; the error
    /// that ended the rows.
    pub async fn shape(
        &self,
        schema: &SchemaRef,
        rows: ComputedRows,
        shape: &RowShape,
    ) -> Result<ShapedRows, Box<dyn std::error::Error + Send + Sync>> {
        shape_rows(schema, rows, shape, &self.selections).await
    }
}

async fn shape_rows(
    schema: &SchemaRef,
    rows: ComputedRows,
    shape: &RowShape,
    budget: &SelectionBudget,
) -> Result<ShapedRows, Box<dyn std::error::Error + Send + Sync>> {
    let projected = schema.project(&shape.columns).map_err(ShapeFailure::from)?;
    let mut rows: ComputedRows =
        rows.try_filter(|batch| std::future::ready(batch.num_rows() > 0)).boxed();
    if let Some(series) = &shape.series {
        let encoder = series.encoder(schema)?;
        rows = match series.rows {
            SeriesRows::First(most) => first_rows(rows, encoder, most, budget).await?,
            SeriesRows::Last(most) => last_rows(rows, schema, encoder, most, budget).await?,
        };
    }
    if !shape.sort.is_empty() {
        rows = sorted_rows(rows, schema, shape, budget).await?;
    }
    let (counts, rows) = page::cut(rows, shape, budget).await?;
    let columns: Arc<[usize]> = shape.columns.clone().into();
    let project = move |batch: RecordBatch| {
        let projected = batch.project(&columns).map_err(ShapeFailure::from);
        std::future::ready(projected.map_err(Into::into))
    };
    let batches = rows.and_then(project).boxed();
    Ok(ShapedRows { schema: Arc::new(projected), counts, batches })
}

impl RowShape {
    /// Returns the number of the first rows that tell what is sent and whether rows remain behind
    /// it; `None` where all are needed.
    #[must_use]
    pub fn enough_rows(&self) -> Option<u64> {
        let most = self.max_rows.filter(|_| self.series.is_none() && self.sort.is_empty())?;
        Some(self.first_row.saturating_add(most).saturating_add(1))
    }
}

impl SeriesShape {
    fn encoder(&self, schema: &SchemaRef) -> Result<SeriesEncoder, ShapeFailure> {
        let types = self.columns.iter().filter_map(|&place| schema.fields().get(place));
        let types = types.map(|field| field.data_type().clone());
        Ok(SeriesEncoder::new(self.columns.clone().into(), types, self.period)?)
    }
}

/// Rows that were held, with their room, which they keep as long as the stream lives.
fn stream_held(
    batches: impl IntoIterator<Item = RecordBatch, IntoIter: Send + 'static>,
    room: SelectionPermit,
) -> ComputedRows {
    stream::iter(batches)
        .map(move |batch| {
            let _held = &room;
            Ok(batch)
        })
        .boxed()
}

/// A failure of storage as the error of computed rows.
fn boxed(failure: StorageFailure) -> Box<dyn std::error::Error + Send + Sync> {
    Box::new(failure)
}

#[cfg(test)]
mod tests;
