//! What `yearbook gc` asks of a catalogue, for real or only to see what would happen.

use yearbook_domain::{Millis, Stored};

use super::SqlCatalog;
use crate::database::{DatabaseSession, TransactionMode};
use crate::queries::{snapshots, unreferenced};
use crate::{CatalogError, DeletionBatch, DroppedSnapshot, Retention};

impl SqlCatalog {
    /// [`crate::Store::retain`].
    pub(super) async fn delete_expired_snapshots(
        &self,
        retention: Retention,
        dry_run: bool,
    ) -> Result<Vec<DroppedSnapshot>, CatalogError> {
        let doing = "look for old snapshots";
        let mut session = self.begin(doing, TransactionMode::Read).await?;
        let outcome = snapshots::expired_by_dataset(&mut session.connection(), retention).await;
        let outdated = self.finish_transaction(doing, session, outcome).await?;
        if dry_run {
            return Ok(outdated.into_iter().flat_map(|(_, dropped)| dropped).collect());
        }
        let mut dropped = Vec::new();
        for (dataset, _) in outdated {
            let doing = "drop old snapshots";
            let mut session = self.begin(doing, TransactionMode::Write).await?;
            let outcome =
                snapshots::apply_retention(&mut session.connection(), &dataset, retention).await;
            dropped.extend(self.finish_transaction(doing, session, outcome).await?);
        }
        Ok(dropped)
    }

    /// [`crate::Store::condemn`].
    pub(super) async fn mark_unreferenced_for_deletion(
        &self,
        found: &[Stored],
        before: Millis,
        at_most: usize,
        dry_run: bool,
    ) -> Result<DeletionBatch, CatalogError> {
        let doing = "look for files that nothing names";
        let mut session = self.begin(doing, TransactionMode::Write).await?;
        let outcome =
            unreferenced::condemn(&mut session.connection(), found, before, at_most).await;
        if dry_run {
            self.roll_back_transaction(doing, session, outcome).await
        } else {
            self.finish_transaction(doing, session, outcome).await
        }
    }

    /// Returns what `outcome` holds and rolls the transaction back.
    pub(super) async fn roll_back_transaction<T>(
        &self,
        doing: &'static str,
        session: DatabaseSession,
        outcome: Result<T, sqlx::Error>,
    ) -> Result<T, CatalogError> {
        if outcome.is_err() {
            return self.finish_transaction(doing, session, outcome).await;
        }
        session.roll_back().await.map_err(|source| self.failed(doing, source))?;
        outcome.map_err(|source| self.failed(doing, source))
    }
}
