//! Record batches: a range of rows cut into read tasks, and each of these into batches of bounded
//! weight.

mod batch_stream;
mod batching;
mod compact_dictionary;
mod joined_rows;
mod kept_rows;
mod long_text;
mod read_task;
mod row_batches;

pub use batching::BATCHING_VERSION;

pub(crate) use batch_stream::stream_batches;
pub(crate) use batching::{content_bytes, cut_by_weight, cut_into_batches};
pub(crate) use read_task::RowFilter;
pub(crate) use row_batches::RowBatches;
