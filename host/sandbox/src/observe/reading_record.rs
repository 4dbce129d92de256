//! Record of a reading for its failure dump: every chunk that the reader was given, up to a bound.
//! A longer file leaves no dump, since a reader fails by what it has read before; the publisher has
//! the file.

use std::sync::Arc;

use arrow::array::{BinaryArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use yearbook_domain::SourceColumn;
use yearbook_engine::Limits;

use super::{FailureDump, GuestFunction, ReleaseName};
use crate::guest::HostState;
use crate::guest_error::GuestError;
use crate::options::OptionValue;

/// Bytes of a file that are kept.
const RECORDED_BYTES: usize = 32 << 20;

/// Chunks so far.
pub(crate) struct ReadingRecord {
    dump: FailureDump,
    chunks: Vec<Vec<u8>>,
    bytes: usize,
}

impl ReadingRecord {
    /// Of a file that begins.
    pub(crate) fn new(
        release: &ReleaseName,
        requested: &[SourceColumn],
        options: &[OptionValue],
        limits: &Limits,
    ) -> Self {
        let schema = Schema::new(vec![Field::new("chunk", DataType::Binary, false)]);
        let mut dump = FailureDump::for_response(release, &schema, options, limits);
        dump.about.requests = requested.to_vec();
        Self { dump, chunks: Vec::new(), bytes: 0 }
    }

    /// Keeps a chunk.
    pub(crate) fn push(&mut self, bytes: &[u8], last: bool) {
        self.dump.about.before.last = last;
        self.bytes = self.bytes.saturating_add(bytes.len());
        if self.bytes <= RECORDED_BYTES {
            self.chunks.push(bytes.to_vec());
        } else {
            self.chunks = Vec::new();
        }
    }

    /// Leaves the dump behind, if it is the plugin's failure and the file is short enough.
    pub(crate) fn write_failure(
        mut self,
        call: GuestFunction,
        error: &GuestError,
        state: &HostState,
    ) {
        // The file's fault, not the reader's.
        if matches!(error, GuestError::Declined(_)) {
            return;
        }
        if self.bytes > RECORDED_BYTES {
            tracing::warn!(
                plugin = state.work().plugin_name(),
                "no failure dump is written: the file is longer than {RECORDED_BYTES} bytes"
            );
            return;
        }
        if !self.chunks.is_empty() {
            let chunks = BinaryArray::from_iter_values(&self.chunks);
            let schema = Arc::clone(&self.dump.schema);
            self.dump.batch = RecordBatch::try_new(schema, vec![Arc::new(chunks)]).ok();
        }
        state.write_dump(self.dump, call, error);
    }
}
