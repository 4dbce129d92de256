//! The share: requests by operation, and bytes of files (contract-12-records).

use std::fmt;

use super::exposition::MetricsWriter;
use crate::share::ShareOperation;
use crate::state::AppState;

/// Writes what the share has counted.
pub(super) fn write(state: &AppState, sheet: &mut MetricsWriter<'_>) -> fmt::Result {
    let metrics = &state.share.metrics;
    sheet.counter(
        "yearbook_share_requests",
        "Requests of the share by operation, refusals behind the check of the key included.",
        ShareOperation::ALL
            .map(|operation| (vec![("operation", operation.name())], metrics.requests(operation))),
    )?;
    sheet.counter(
        "yearbook_share_file_bytes",
        "Bytes of files that were sent to recipients of the share.",
        [(vec![], metrics.file_bytes())],
    )
}
