//! Input of a chain of transforms that keeps the first rows of what it gives: all columns, since
//! the release that waits may need others than the one that serves.

use std::sync::{Arc, Mutex, PoisonError};

use arrow::datatypes::SchemaRef;
use futures::future::BoxFuture;
use futures::{FutureExt, TryStreamExt};
use yearbook_sandbox::{Batches, BoxError, RowWindow, TransformInput};

use super::{CanarySample, ShadowWorker};

/// An input of which a sample is taken once.
pub(crate) struct SampledInput {
    input: Arc<dyn TransformInput>,
    schema: SchemaRef,
    sample: Mutex<Option<CanarySample>>,
    shadow: Arc<ShadowWorker>,
}

impl SampledInput {
    /// The rows of `input`, which has `schema`, with a sample of them.
    pub(crate) fn new(
        input: Arc<dyn TransformInput>,
        schema: SchemaRef,
        sample: CanarySample,
        shadow: Arc<ShadowWorker>,
    ) -> Self {
        Self { input, schema, sample: Mutex::new(Some(sample)), shadow }
    }
}

impl TransformInput for SampledInput {
    fn codes(&self, column: &str) -> BoxFuture<'_, Result<Option<Vec<String>>, BoxError>> {
        self.input.codes(column)
    }

    fn rows(
        &self,
        window: RowWindow,
        columns: Vec<usize>,
    ) -> BoxFuture<'_, Result<Batches, BoxError>> {
        let sample = match window {
            // Nothing under the lock can fail half-way.
            RowWindow::Selected { .. } => {
                self.sample.lock().unwrap_or_else(PoisonError::into_inner).take()
            }
            RowWindow::Dates { .. } => None,
        };
        let Some(sample) = sample else { return self.input.rows(window, columns) };
        let all = (0..self.schema.fields().len()).collect();
        let shadow = Arc::clone(&self.shadow);
        async move {
            let batches = shadow.tee(sample, self.input.rows(window, all).await?);
            let project = move |batch: arrow::array::RecordBatch| {
                std::future::ready(batch.project(&columns).map_err(BoxError::from))
            };
            Ok(Box::pin(batches.and_then(project)) as Batches)
        }
        .boxed()
    }
}
