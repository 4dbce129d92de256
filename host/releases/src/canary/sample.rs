//! The rows of one live response, held so that they can be encoded again. Arrays are shared with
//! the response, never copied.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use yearbook_sandbox::{OptionValue, PluginEncoder};

/// Input of a response, as far as it is compared.
pub(crate) struct CanarySample {
    /// The release that serves.
    pub(crate) incumbent: Arc<PluginEncoder>,
    /// The release that waits.
    pub(crate) waiting: Arc<PluginEncoder>,
    /// Of all batches.
    pub(crate) schema: SchemaRef,
    /// As the client chose.
    pub(crate) options: Vec<OptionValue>,
    /// The first rows, within bounds.
    pub(crate) batches: Vec<RecordBatch>,
    /// Rows that still may be taken.
    pub(crate) rows_left: usize,
    /// Bytes that still may be taken.
    pub(crate) bytes_left: usize,
}

impl CanarySample {
    /// Takes what there is room for. Returns true if there is enough now.
    pub(super) fn take(&mut self, batch: &RecordBatch) -> bool {
        let rows = batch.num_rows().min(self.rows_left);
        self.batches.push(batch.slice(0, rows));
        self.rows_left -= rows;
        self.bytes_left = self.bytes_left.saturating_sub(batch.get_array_memory_size());
        self.rows_left == 0 || self.bytes_left == 0
    }
}
