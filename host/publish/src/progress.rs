//! Progress of a publication, for the one who waits for it.

/// Receives progress. Called from the thread that drives the future; must not block.
pub trait ProgressReporter: Send + Sync {
    /// A new stage begins. `total` is in the unit that [`ProgressReporter::advance`] counts in
    /// (bytes of the input file, or rows); `None` if it is unknown.
    fn stage(&self, name: &str, total: Option<u64>);

    /// So much more of the stage is done.
    fn advance(&self, by: u64);
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct SilentReporter;

impl ProgressReporter for SilentReporter {
    fn stage(&self, _name: &str, _total: Option<u64>) {}
    fn advance(&self, _by: u64) {}
}
