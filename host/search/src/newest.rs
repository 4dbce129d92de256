//! The newest index, which its owner replaces and any number of rooms ask.

use std::sync::Arc;

use tokio::sync::watch;

use crate::SearchIndex;

/// The newest index. Cloning it is cheap.
#[derive(Clone)]
pub struct NewestIndex(watch::Receiver<IndexedState>);

/// Its owner's side.
pub struct IndexSender(watch::Sender<IndexedState>);

/// An index, and the revision of the catalog that it is of.
#[derive(Clone, Default)]
struct IndexedState {
    index: Option<Arc<SearchIndex>>,
    revision: i64,
}

impl NewestIndex {
    /// A place for indexes, and the side that fills it.
    #[must_use]
    pub fn channel() -> (IndexSender, Self) {
        let (sender, receiver) = watch::channel(IndexedState::default());
        (IndexSender(sender), Self(receiver))
    }

    /// Returns the newest index. Waits only for the first one; `None` if its owner is gone before.
    pub async fn index(&self) -> Option<Arc<SearchIndex>> {
        self.index_of(i64::MIN).await
    }

    /// Returns an index of `revision` or a later one, and waits for it; `None` if its owner is gone
    /// before.
    pub async fn index_of(&self, revision: i64) -> Option<Arc<SearchIndex>> {
        let mut receiver = self.0.clone();
        let is_there = |state: &IndexedState| state.index.is_some() && state.revision >= revision;
        let built = receiver.wait_for(is_there).await.ok()?;
        built.index.clone()
    }
}

impl IndexSender {
    /// Replaces the index by one of `revision`.
    pub fn send(&self, index: SearchIndex, revision: i64) {
        self.0.send_replace(IndexedState { index: Some(Arc::new(index)), revision });
    }

    /// Says that the index is that of `revision`, too.
    pub fn confirm(&self, revision: i64) {
        self.0.send_modify(|state| state.revision = revision);
    }
}
