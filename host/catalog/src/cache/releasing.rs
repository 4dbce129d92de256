//! Releases at their time (contract-21-releases): the view turns to what was waiting once the
//! database's clock has reached its time, as far as this host knows it. Nothing has to happen then:
//! who reads the view next turns it. The database follows; lookups in it wait until it has.

use std::collections::HashSet;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use yearbook_domain::{Announcement, Dataset, Millis, Snapshot, WaitingFiles};

use super::database_clock::ClockReading;
use super::view::ServedView;
use super::{CatalogCache, with_query_timeout};
use crate::{CatalogError, clock};

/// Releases that this host turned to.
#[derive(Debug, Default)]
pub(super) struct AppliedReleases {
    /// Number of turns.
    turns: u16,
    /// Releases that the database has not settled, as far as is known.
    unsettled: HashSet<i64>,
}

impl CatalogCache {
    /// Returns what is known of the database's clock; `None` where it has not answered for long.
    #[must_use]
    pub fn clock_reading(&self) -> Option<ClockReading> {
        self.clock.read()
    }

    /// Returns the present by the database's clock as far as it is known, else by this machine's.
    #[must_use]
    pub fn time(&self) -> Millis {
        self.clock.read().map_or_else(clock::now, |reading| reading.least)
    }

    /// Returns the announced releases, by time.
    #[must_use]
    pub fn announcements(&self) -> Arc<[Announcement]> {
        Arc::clone(&self.view().announcements)
    }

    /// Returns what will be current once all that waits is visible, for caches to be warmed. No
    /// answer may depend on it.
    #[must_use]
    pub fn waiting_snapshots(&self) -> Vec<Arc<Snapshot>> {
        self.view().waiting.iter().map(|waiting| Arc::clone(&waiting.dataset.current)).collect()
    }

    /// Returns the datasets as they will be after the next release, where that is within `soon`.
    #[must_use]
    pub fn datasets_after_next_release(&self, soon: Duration) -> Option<Arc<[Arc<Dataset>]>> {
        let view = self.view();
        let at = view.next_release()?;
        if self.until(at)? > soon {
            return None;
        }
        view.after_releases(|waiting| waiting.release_at == at, 0).map(|after| after.sorted)
    }

    /// Returns the time until the next release, zero where it is due; `None` where nothing waits,
    /// or nobody knows the time.
    #[must_use]
    pub fn until_next_release(&self) -> Option<Duration> {
        self.until(self.view.load().next_release()?)
    }

    /// Tells `files` from now on which of them lie where they waited.
    pub fn follow_waiting_files(&self, files: WaitingFiles) {
        files.replace(self.view().waiting_files.clone());
        *self.waiting_files.lock().unwrap_or_else(PoisonError::into_inner) = files;
    }

    /// Waits until the database has made visible what this host shows: before it is asked about
    /// what may just have been released.
    ///
    /// # Errors
    /// [`CatalogError`] of the database.
    pub async fn settled(&self) -> Result<(), CatalogError> {
        if self.is_settled() { Ok(()) } else { self.settle_now().await }
    }

    fn settle_now(&self) -> BoxFuture<'_, Result<(), CatalogError>> {
        async move {
            let _one_at_a_time = self.refreshing.lock().await;
            if self.is_settled() {
                return Ok(());
            }
            self.settle().await?;
            self.refresh_alone().await
        }
        .boxed()
    }

    /// Turns the view to what is due.
    pub(super) fn turn(&self) {
        let mut turned = self.applied();
        let view = self.view.load_full();
        let is_due = |at: Millis| self.clock.has_reached(at);
        let turns = turned.turns.wrapping_add(1);
        let Some(after) = view.after_releases(|waiting| is_due(waiting.release_at), turns) else {
            return;
        };
        let due = view
            .waiting
            .iter()
            .filter(|waiting| !after.waiting.iter().any(|still| still.release == waiting.release));
        turned.unsettled.extend(due.map(|waiting| waiting.release));
        turned.turns = turns;
        tracing::info!(released = turned.unsettled.len(), "turned to released versions");
        self.show(after);
    }

    /// Shows a view that was read, with what this host turned to already.
    pub(super) fn take_in(&self, view: ServedView) {
        let mut turned = self.applied();
        let waits = |release: &i64| view.waiting.iter().any(|waiting| waiting.release == *release);
        turned.unsettled.retain(waits);
        let again = view
            .after_releases(|waiting| turned.unsettled.contains(&waiting.release), turned.turns);
        self.show(again.unwrap_or(view));
    }

    /// Makes visible in the database what is due there, and what this host shows: a clock that was
    /// set back takes nothing back.
    pub(super) async fn settle(&self) -> Result<(), CatalogError> {
        let due = self.until_next_release().is_some_and(|left| left.is_zero());
        let shown: Vec<i64> = self.applied().unsettled.iter().copied().collect();
        if due || !shown.is_empty() {
            with_query_timeout(&self.store, self.store.settle_releases(shown)).await?;
        }
        Ok(())
    }

    /// Returns how often this host turned to releases by itself.
    pub(super) fn turns(&self) -> u16 {
        self.applied().turns
    }

    fn is_settled(&self) -> bool {
        self.applied().unsettled.is_empty()
    }

    fn applied(&self) -> MutexGuard<'_, AppliedReleases> {
        self.turned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn until(&self, at: Millis) -> Option<Duration> {
        let left = at.0.saturating_sub(self.clock.read()?.least.0).max(0);
        Some(Duration::from_millis(left.unsigned_abs()))
    }

    fn show(&self, view: ServedView) {
        let files = self.waiting_files.lock().unwrap_or_else(PoisonError::into_inner);
        files.replace(view.waiting_files.clone());
        drop(files);
        let (revision, releases) = (view.revision, Arc::clone(&view.releases));
        self.view.store(Arc::new(view));
        // What only waits wakes nobody.
        self.revisions.send_if_modified(|known| std::mem::replace(known, revision) != revision);
        self.releases.send_if_modified(|known| {
            let changed = **known != *releases;
            *known = releases;
            changed
        });
    }
}
