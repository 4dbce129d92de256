//! The rows of one live response, held so that they can be encoded again. Arrays are shared with
//! the response, never copied.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use futures::StreamExt;
use yearbook_sandbox::{Batches, OptionValue, PluginEncoder};

use super::ShadowWorker;

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
    /// The same `batches`, of which the first are kept and handed to `shadow` as soon as there are
    /// enough, or no more come. A response that fails, or whose client goes away before that, is
    /// not compared.
    pub(crate) fn tee(self, batches: Batches, shadow: Arc<ShadowWorker>) -> Batches {
        futures::stream::unfold(
            (batches, Some((self, shadow))),
            |(mut batches, mut taking)| async {
                let next = batches.next().await;
                match &next {
                    Some(Ok(batch)) => {
                        if let Some((sample, _)) = &mut taking
                            && sample.take(batch)
                        {
                            submit(&mut taking);
                        }
                    }
                    Some(Err(_)) => taking = None,
                    None => submit(&mut taking),
                }
                Some((next?, (batches, taking)))
            },
        )
        .boxed()
    }

    /// Takes what there is room for; whether there is enough now.
    fn take(&mut self, batch: &RecordBatch) -> bool {
        let rows = batch.num_rows().min(self.rows_left);
        self.batches.push(batch.slice(0, rows));
        self.rows_left -= rows;
        self.bytes_left = self.bytes_left.saturating_sub(batch.get_array_memory_size());
        self.rows_left == 0 || self.bytes_left == 0
    }
}

fn submit(taking: &mut Option<(CanarySample, Arc<ShadowWorker>)>) {
    if let Some((sample, shadow)) = taking.take() {
        shadow.offer(sample);
    }
}
