//! What `yearbook gc` asks of a catalogue, for real or only to see what would happen.

use yearbook_domain::{Millis, Stored};

use super::Catalogue;
use crate::database::{Begin, Session};
use crate::tables::{history, loose};
use crate::{Condemned, Dropped, Failure, Retention};

impl Catalogue {
    /// [`crate::Store::retain`].
    pub(super) async fn drop_old(
        &self,
        retention: Retention,
        dry_run: bool,
    ) -> Result<Vec<Dropped>, Failure> {
        let doing = "look for old snapshots";
        let mut session = self.begin(doing, Begin::Read).await?;
        let outcome = history::outdated(&mut session.connection(), retention).await;
        let outdated = self.done(doing, session, outcome).await?;
        if dry_run {
            return Ok(outdated.into_iter().flat_map(|(_, dropped)| dropped).collect());
        }
        let mut dropped = Vec::new();
        for (dataset, _) in outdated {
            let doing = "drop old snapshots";
            let mut session = self.begin(doing, Begin::Write).await?;
            let outcome = history::retain(&mut session.connection(), &dataset, retention).await;
            dropped.extend(self.done(doing, session, outcome).await?);
        }
        Ok(dropped)
    }

    /// [`crate::Store::condemn`].
    pub(super) async fn condemn_loose(
        &self,
        found: &[Stored],
        before: Millis,
        at_most: usize,
        dry_run: bool,
    ) -> Result<Condemned, Failure> {
        let doing = "look for files that nothing names";
        let mut session = self.begin(doing, Begin::Write).await?;
        let outcome = loose::condemn(&mut session.connection(), found, before, at_most).await;
        if dry_run {
            self.undone(doing, session, outcome).await
        } else {
            self.done(doing, session, outcome).await
        }
    }

    /// Returns what `outcome` holds and rolls the transaction back.
    pub(super) async fn undone<T>(
        &self,
        doing: &'static str,
        session: Session,
        outcome: Result<T, sqlx::Error>,
    ) -> Result<T, Failure> {
        if outcome.is_err() {
            return self.done(doing, session, outcome).await;
        }
        session.roll_back().await.map_err(|source| self.failed(doing, source))?;
        outcome.map_err(|source| self.failed(doing, source))
    }
}
