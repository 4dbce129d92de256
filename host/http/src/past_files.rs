//! Files of the past: versions that retention dropped, and revisions. The server puts in what makes
//! them.

use std::sync::Arc;

use futures::future::BoxFuture;
use yearbook_catalog::{KnownHistory, PastVersion};
use yearbook_domain::{Dataset, Snapshot};

use crate::Error;

/// Files of versions that retention dropped.
pub trait PastFiles: Send + Sync {
    /// Returns the version with a file that can be read: its own, or one made again.
    ///
    /// Fails with [`Error::Rebuilding`] where that takes longer than a request may wait, and with
    /// [`yearbook_domain::Refusal::HistoryTooLarge`] where there never is room for it.
    fn open(
        &self,
        dataset: &Dataset,
        past: PastVersion,
    ) -> BoxFuture<'_, Result<Arc<Snapshot>, Error>>;

    /// Returns the table of revisions of `history` until `newest`. The numbers are those
    /// of this version and of the one since which revisions are told. Its id is that of no
    /// snapshot.
    ///
    /// Fails as [`PastFiles::open`].
    fn revisions(
        &self,
        dataset: &Dataset,
        newest: Arc<Snapshot>,
        versions: (u64, Option<u64>),
        history: Arc<KnownHistory>,
    ) -> BoxFuture<'_, Result<Arc<Snapshot>, Error>>;
}
