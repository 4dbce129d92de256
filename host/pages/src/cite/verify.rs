//! The digest of a query's result, computed from the stored rows (contract-13-verify). Holds one
//! batch at a time.

use futures::TryStreamExt;
use tracing::Instrument;
use yearbook_domain::{ReadPlan, ResultDigest};
use yearbook_http::Error;
use yearbook_scan::ResultHasher;
use yearbook_shares::CallerShare;

use crate::PagesState;

/// Reads on the account of `holder` what `plan` selects and returns the number of its rows and
/// their digest.
///
/// # Errors
/// Those of reading, which are logged where they are found.
pub(super) async fn compute(
    app: &PagesState,
    holder: &CallerShare,
    plan: &ReadPlan,
) -> Result<(u64, ResultDigest), Error> {
    let (reader, plan) = (app.core.reader.for_caller(holder), plan.clone());
    let work = async move {
        let columns = plan.columns.iter().filter_map(|index| plan.snapshot.columns.get(*index));
        let mut hasher = ResultHasher::new(columns);
        let mut batches = reader.scan(&plan).await?.batches;
        while let Some(batch) = batches.try_next().await? {
            hasher
                .update(&batch)
                .map_err(|failure| Error::internal("compute a digest", &failure))?;
        }
        Ok((hasher.rows(), hasher.finish()))
    };
    let driven = app.core.workers.drive(holder.clone(), work.in_current_span()).await;
    driven.map_err(|panicked| Error::internal("compute a digest", &panicked))?
}
