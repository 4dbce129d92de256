//! Readers: bytes of a file in by chunks, Arrow batches out, in one instance for the whole file.
//! Everything is blocking and runs on a worker. A guest's rows are believed nothing: `rows` checks
//! them. Never touches files; whoever publishes brings the bytes.

mod description;
mod error;
mod reading;
mod rows;
mod trial;

use std::sync::Arc;

use yearbook_domain::{Digest, SourceColumn};

use crate::guest::bindings::reader::ReaderPluginPre;
use crate::guest::{GuestHost, HostState};
use crate::observe::PluginMetrics;
use crate::options::OptionValue;

pub use description::ReaderDescription;
pub use error::ReadError;
pub use reading::FileReading;
pub use rows::FileColumn;
pub use trial::TrialTable;

/// A loaded input format.
pub struct PluginReader {
    pub(crate) host: Arc<GuestHost>,
    pub(crate) pre: ReaderPluginPre<HostState>,
    pub(crate) description: ReaderDescription,
    pub(crate) digest: Digest,
    pub(crate) bytes: u64,
    pub(crate) metrics: Arc<PluginMetrics>,
}

impl PluginReader {
    /// The plugin's description, checked.
    #[must_use]
    pub fn description(&self) -> &ReaderDescription {
        &self.description
    }

    /// Begins a file in a fresh instance. Blocking, as all of a reading is.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn open(
        &self,
        columns: &[SourceColumn],
        options: &[OptionValue],
    ) -> Result<FileReading, ReadError> {
        FileReading::open(self, columns, options, self.host.dump_target.clone())
    }
}
