//! Workers on the account of a caller: what a job takes is put down to whom it is for.

use std::sync::Arc;

use yearbook_shares::CallerShare;
use yearbook_workers::{JobPanicked, Workers};

/// Workers whose jobs are all for one caller. Cheap to clone.
#[derive(Clone)]
pub(crate) struct CallerWorkers {
    workers: Arc<Workers>,
    holder: CallerShare,
}

impl CallerWorkers {
    /// Jobs on the account of `holder`.
    pub(crate) fn new(workers: &Arc<Workers>, holder: &CallerShare) -> Self {
        Self { workers: Arc::clone(workers), holder: holder.clone() }
    }

    /// Runs `job` as [`Workers::run_for`] does.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = Result<T, JobPanicked>> + Send {
        self.workers.run_for(&self.holder, job)
    }
}
