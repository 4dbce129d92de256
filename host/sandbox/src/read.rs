//! Readers: bytes of a file in by chunks, Arrow batches out, in one instance for the whole file.
//! Everything is blocking and runs on a worker. A guest's rows are believed nothing: `rows` checks
//! them. Never touches files; whoever publishes brings the bytes.

mod description;
mod reading;
mod refusal;
mod rows;
mod trial;

use std::ops::Deref;

use yearbook_domain::SourceColumn;

use crate::guest::HostState;
use crate::guest::bindings::reader::ReaderPluginPre;
use crate::guest_error::GuestError;
use crate::options::OptionValue;
use crate::plugin_head::PluginHead;

pub use description::ReaderDescription;
pub use reading::FileReading;
pub use rows::FileColumn;
pub use trial::TrialTable;

/// A loaded input format.
pub struct PluginReader {
    pub(crate) head: PluginHead,
    pub(crate) linked: ReaderPluginPre<HostState>,
    pub(crate) description: ReaderDescription,
}

impl Deref for PluginReader {
    type Target = PluginHead;

    fn deref(&self) -> &PluginHead {
        &self.head
    }
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
    /// [`GuestError`].
    pub fn open(
        &self,
        columns: &[SourceColumn],
        options: &[OptionValue],
    ) -> Result<FileReading, GuestError> {
        FileReading::open(self, columns, options, self.host.dump_target.clone())
    }
}
