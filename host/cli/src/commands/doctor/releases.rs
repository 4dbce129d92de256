//! Checks of releases that wait for their time: which there are, and that nobody reads them before.

use yearbook_catalog::Catalog;

use super::{Finding, Status};
use crate::context::CommandContext;
use crate::output::pluralize;

/// Tells what waits, and whether readers of the bucket can see it.
pub(super) async fn check_waiting(
    context: &CommandContext,
    store: &Catalog,
) -> anyhow::Result<Finding> {
    let waiting = store.waiting_releases().await?;
    if context.waiting_is_readable().await? {
        let message = "share.iceberg_credentials can list or read waiting/ in the object store, so readers of Iceberg would see what waits; take that folder from them";
        let status = if waiting.is_empty() { Status::Warn } else { Status::Fail };
        return Ok((status, message.to_owned()));
    }
    Ok((
        Status::Ok,
        match waiting.first() {
            None => "nothing waits".to_owned(),
            Some(next) => {
                let waits = if waiting.len() == 1 { "waits" } else { "wait" };
                format!(
                    "{} {waits}; the next is {} at {}",
                    pluralize(waiting.len() as u64, "release"),
                    next.dataset,
                    next.release_at.to_rfc3339()
                )
            }
        },
    ))
}
