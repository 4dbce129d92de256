//! Telling a person how far a publication is.

/// Hears of progress. Called from whatever thread drives the future; must not block.
pub trait ProgressReporter: Send + Sync {
    /// A new stage begins. `total` is in whatever unit [`Progress::advance`] will be told in this
    /// stage (bytes of the input file, or rows); none: unknown.
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
