//! A chain of transforms: planned from the schema of its input, then run as one stream of batches.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use yearbook_domain::Date;
use yearbook_shares::CallerShare;

use super::{RowWindow, TransformFailure, TransformInput, TransformStep};
use crate::admission::InstancePlaces;
use crate::encode::Batches;
use crate::guest_error::GuestError;

/// A chain whose output is known, and of which no row has been read.
#[derive(Clone)]
pub struct TransformChain {
    schema: SchemaRef,
    order: Vec<String>,
    row_for_row: bool,
    links: usize,
}

impl TransformChain {
    /// Plans `steps` on rows of `schema`, which has the metadata that transforms are given, one
    /// after the other in instances of the share of `holder`. No row is read.
    ///
    /// # Errors
    /// [`TransformFailure`] of the first transform that declines or fails.
    pub async fn plan(
        _holder: &CallerShare,
        steps: Vec<TransformStep>,
        schema: SchemaRef,
        _input: Arc<dyn TransformInput>,
    ) -> Result<Self, TransformFailure> {
        match steps.into_iter().next() {
            None => Ok(Self { schema, order: Vec::new(), row_for_row: true, links: 0 }),
            Some(step) => Err(TransformFailure {
                transform: step.transform,
                error: GuestError::Host("not built yet".to_owned()),
            }),
        }
    }

    /// Columns of the rows that come out, with their metadata.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns whether a row comes out for each row that goes in, in the same order.
    #[must_use]
    pub fn is_row_for_row(&self) -> bool {
        self.row_for_row
    }

    /// Names of columns by which the rows that come out ascend, null last; empty where they have
    /// the order of the input.
    #[must_use]
    pub fn order(&self) -> &[String] {
        &self.order
    }

    /// Leaves out all columns but these, which are positions in [`TransformChain::schema`],
    /// ascending, and reads no more of the input than they need.
    pub fn restrict(&mut self, _columns: &[usize]) {}

    /// Places among the sandbox's instances that a run needs.
    #[must_use]
    pub fn places(&self) -> usize {
        self.links
    }

    /// What a run reads of the input, for a selection that begins at `start`: each window as often
    /// as it is read.
    #[must_use]
    pub fn windows(&self, start: Option<Date>) -> Vec<RowWindow> {
        vec![RowWindow::Selected { start }]
    }

    /// Runs the chain for rows from `start` on, the selection's own first day, in instances of the
    /// share of `holder`. Takes [`TransformChain::places`] of `places`. What fails is a
    /// [`TransformFailure`], or the input's own error.
    #[must_use]
    pub fn start(
        &self,
        _holder: &CallerShare,
        _places: &mut InstancePlaces,
        _start: Option<Date>,
    ) -> Batches {
        Box::pin(futures::stream::empty())
    }
}
