//! A part of one live response, held so that the release that waits can make it again. Arrays and
//! facts are shared with the response, never copied.

use std::ops::Deref;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use yearbook_catalog::ReleaseId;
use yearbook_sandbox::{
    AdapterExchange, OptionValue, PluginAdapter, PluginEncoder, PluginHead, PluginTransform,
};

use super::CanaryPair;

/// Input of both releases.
pub(crate) enum CanarySample {
    /// Rows that are encoded.
    Encoded(ReleasePair<PluginEncoder>, SampledRows),
    /// Rows of a table that are transformed.
    Transformed(ReleasePair<PluginTransform>, SampledRows),
    /// A request that an adapter answers.
    Answered(ReleasePair<PluginAdapter>, Box<AdapterExchange>),
}

/// A release that serves, and one that waits to take its place.
pub(crate) struct ReleasePair<P> {
    /// The release that serves.
    pub(crate) incumbent: Arc<P>,
    /// The release that waits.
    pub(crate) waiting: Arc<P>,
}

/// Rows of a response, as far as they are compared.
pub(crate) struct SampledRows {
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

impl<P: Deref<Target = PluginHead>> ReleasePair<P> {
    /// Key of their comparison.
    pub(super) fn key(&self) -> CanaryPair {
        let head: &PluginHead = &self.waiting;
        let (kind, name, digest) = (head.kind(), head.name().to_owned(), *head.digest());
        (ReleaseId { kind, name, digest }, *self.incumbent.digest())
    }
}

impl CanarySample {
    /// Key of the comparison.
    pub(super) fn key(&self) -> CanaryPair {
        match self {
            Self::Encoded(pair, _) => pair.key(),
            Self::Transformed(pair, _) => pair.key(),
            Self::Answered(pair, _) => pair.key(),
        }
    }

    /// Returns whether the sandbox has room for work that no client waits for.
    pub(super) fn has_room(&self) -> bool {
        match self {
            Self::Encoded(pair, _) => pair.waiting.has_room(),
            Self::Transformed(pair, _) => pair.waiting.has_room(),
            Self::Answered(pair, _) => pair.waiting.has_room(),
        }
    }

    /// Takes what there is room for. Returns true if there is enough now.
    pub(super) fn take(&mut self, batch: &RecordBatch) -> bool {
        match self {
            Self::Encoded(_, rows) | Self::Transformed(_, rows) => rows.take(batch),
            Self::Answered(..) => true,
        }
    }
}

impl SampledRows {
    fn take(&mut self, batch: &RecordBatch) -> bool {
        let rows = batch.num_rows().min(self.rows_left);
        self.batches.push(batch.slice(0, rows));
        self.rows_left -= rows;
        self.bytes_left = self.bytes_left.saturating_sub(batch.get_array_memory_size());
        self.rows_left == 0 || self.bytes_left == 0
    }
}
