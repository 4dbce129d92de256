//! Rows that are held until the last one was computed: the last of each series, and those that come
//! first in an order. Of what is held and what comes, the rows to hold are chosen again whenever as
//! many have come as are held, so that each row is looked at a few times at most.

use arrow::array::{RecordBatch, UInt64Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::SchemaRef;
use futures::TryStreamExt;
use yearbook_domain::read_plan::MAX_SERIES;

use super::{ComputedRows, RowShape, ShapeFailure, boxed, stream_held};
use crate::StorageFailure;
use crate::batches::{content_bytes, cut_into_batches};
use crate::order::{
    RowKeys, SERIES_BYTES, SelectionBudget, SelectionPermit, SeriesEncoder, SeriesNumbers,
};

/// Rows that come before any are chosen.
const MIN_CHOSEN_ROWS: usize = 8_192;

type HeldError = Box<dyn std::error::Error + Send + Sync>;

/// Rows to hold of a batch, by their positions in the order in which they are held, and the bytes
/// of what was needed to choose them.
type Choice = Result<(Vec<u64>, u64), ShapeFailure>;

struct HeldRows {
    schema: SchemaRef,
    /// Rows that were chosen, and those that came since.
    batches: Vec<RecordBatch>,
    chosen: usize,
    rows: usize,
    bytes: u64,
    room: SelectionPermit,
}

/// The last `most` rows of each series of `rows`, in the order in which they come.
pub(super) async fn last_rows(
    rows: ComputedRows,
    schema: &SchemaRef,
    encoder: SeriesEncoder,
    most: u64,
    budget: &SelectionBudget,
) -> Result<ComputedRows, HeldError> {
    let choose = |batch: &RecordBatch| {
        let mut numbers = SeriesNumbers::default();
        let mut series = Vec::with_capacity(batch.num_rows());
        numbers.append_all(&encoder.encode(batch)?, &mut series);
        let known = numbers.len() as u64;
        if known > MAX_SERIES {
            return Err(ShapeFailure::TooManySeries);
        }
        let mut counts = vec![0; numbers.len()];
        let mut last: Vec<u64> = Vec::new();
        for (row, series) in series.into_iter().enumerate().rev() {
            if let Some(count) = counts.get_mut(series).filter(|count| **count < most) {
                *count += 1;
                last.push(row as u64);
            }
        }
        last.reverse();
        Ok((last, known * SERIES_BYTES))
    };
    HeldRows::new(schema, budget).await.map_err(boxed)?.hold(rows, choose).await
}

/// The rows of `shape` in its order, those of the pages before it included.
pub(super) async fn sorted_rows(
    rows: ComputedRows,
    schema: &SchemaRef,
    shape: &RowShape,
    budget: &SelectionBudget,
) -> Result<ComputedRows, HeldError> {
    let columns: Vec<(usize, bool)> =
        shape.sort.iter().map(|key| (key.column, key.descending)).collect();
    let types = columns.iter().filter_map(|(place, _)| schema.fields().get(*place));
    let types: Vec<_> = types.map(|field| field.data_type().clone()).collect();
    let keys = RowKeys::new(columns, types.into_iter()).map_err(ShapeFailure::from)?;
    // The row behind the page tells that there is one.
    let most = shape.max_rows.map_or(u64::MAX, |most| most.saturating_add(1));
    let most = usize::try_from(shape.first_row.saturating_add(most)).unwrap_or(usize::MAX);
    let choose = |batch: &RecordBatch| {
        let keys = keys.encode(batch)?;
        let mut order: Vec<usize> = (0..batch.num_rows()).collect();
        // Stable: equal rows keep the order in which they came.
        order.sort_by(|&one, &other| keys.row(one).cmp(&keys.row(other)));
        order.truncate(most);
        Ok((order.into_iter().map(|row| row as u64).collect(), keys.size() as u64))
    };
    HeldRows::new(schema, budget).await.map_err(boxed)?.hold(rows, choose).await
}

impl HeldRows {
    async fn new(schema: &SchemaRef, budget: &SelectionBudget) -> Result<Self, StorageFailure> {
        let room = budget.take(0).await?;
        let schema = SchemaRef::clone(schema);
        Ok(Self { schema, batches: Vec::new(), chosen: 0, rows: 0, bytes: 0, room })
    }

    /// Takes all of `rows`, and holds those that `choose` chooses.
    async fn hold(
        mut self,
        mut rows: ComputedRows,
        choose: impl Fn(&RecordBatch) -> Choice,
    ) -> Result<ComputedRows, HeldError> {
        while let Some(batch) = rows.try_next().await? {
            self.bytes = self.bytes.saturating_add(content_bytes(&batch));
            self.room.grow_to(self.bytes).map_err(boxed)?;
            self.rows += batch.num_rows();
            self.batches.push(batch);
            if self.rows >= MIN_CHOSEN_ROWS.max(2 * self.chosen) {
                self.choose(&choose)?;
            }
        }
        let held = self.choose(&choose)?;
        let batches: Vec<_> = cut_into_batches(&held).collect();
        Ok(stream_held(batches, self.room))
    }

    /// Chooses rows of all that are here.
    fn choose(
        &mut self,
        choose: impl Fn(&RecordBatch) -> Choice,
    ) -> Result<RecordBatch, HeldError> {
        // All rows stand here twice for a moment.
        self.room.grow_to(self.bytes.saturating_mul(2)).map_err(boxed)?;
        let all = concat_batches(&self.schema, &self.batches).map_err(ShapeFailure::from)?;
        self.batches.clear();
        let (rows, bytes) = choose(&all)?;
        self.room.grow_to(self.bytes.saturating_mul(2).saturating_add(bytes)).map_err(boxed)?;
        let chosen =
            take_record_batch(&all, &UInt64Array::from(rows)).map_err(ShapeFailure::from)?;
        self.bytes = content_bytes(&chosen);
        (self.rows, self.chosen) = (chosen.num_rows(), chosen.num_rows());
        self.batches.push(chosen.clone());
        Ok(chosen)
    }
}
