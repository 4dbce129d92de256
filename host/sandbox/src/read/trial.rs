//! A file that is read for a check: every batch is kept, and a failure says in which call.

use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use yearbook_domain::SourceColumn;

use super::{FileReading, PluginReader};
use crate::observe::ResourceUsage;
use crate::options::OptionValue;
use crate::trial::{GuestCall, TrialError};

/// Result of a trial.
#[derive(Clone, Debug)]
pub struct TrialTable {
    /// Columns of the batches.
    pub schema: SchemaRef,
    /// Every batch.
    pub batches: Vec<RecordBatch>,
    /// Usage of the instance.
    pub usage: ResourceUsage,
    /// Processor time of all calls together.
    pub cpu: Duration,
}

impl TrialTable {
    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

impl PluginReader {
    /// Reads a file that comes in `chunks`, and keeps all of it. Blocking.
    ///
    /// # Errors
    /// [`TrialError`], with the call that failed.
    pub fn trial(
        &self,
        columns: &[SourceColumn],
        options: &[OptionValue],
        chunks: &[&[u8]],
    ) -> Result<TrialTable, TrialError> {
        let dumps = self.host.dump_target.or_in_memory();
        let failed = |call, error| TrialError { call, error, dump: dumps.take() };
        let mut reading = FileReading::open(self, columns, options, dumps.clone())
            .map_err(|error| failed(GuestCall::Open, error))?;
        let mut batches = Vec::new();
        let count = chunks.len().max(1);
        for at in 0..count {
            let chunk = chunks.get(at).copied().unwrap_or_default();
            let pushed = reading.push(chunk, at + 1 == count);
            pushed.map_err(|error| failed(GuestCall::Push(at + 1), error))?;
            while let Some(batch) =
                reading.pull().map_err(|error| failed(GuestCall::Pull(at + 1), error))?
            {
                batches.push(batch);
            }
        }
        let columns = reading.columns().map_err(|error| failed(GuestCall::Pull(count), error))?;
        let schema = columns.map_or_else(|| Schema::empty().into(), |(_, schema)| schema.clone());
        Ok(TrialTable { schema, batches, usage: reading.used(), cpu: reading.cpu() })
    }
}
