//! The newest index, which its owner replaces and any number of rooms ask.

use std::sync::Arc;

use tokio::sync::watch;

use crate::SearchIndex;

/// The newest index. Cloning it is cheap.
#[derive(Clone)]
pub struct NewestIndex(watch::Receiver<Option<Arc<SearchIndex>>>);

/// Its owner's side.
pub struct IndexSender(watch::Sender<Option<Arc<SearchIndex>>>);

impl NewestIndex {
    /// A place for indexes, and the side that fills it.
    #[must_use]
    pub fn channel() -> (IndexSender, Self) {
        let (sender, receiver) = watch::channel(None);
        (IndexSender(sender), Self(receiver))
    }

    /// Returns the newest index. Waits only for the first one; `None` if its owner is gone before.
    pub async fn index(&self) -> Option<Arc<SearchIndex>> {
        let mut receiver = self.0.clone();
        let built = receiver.wait_for(Option::is_some).await.ok()?;
        built.clone()
    }
}

impl IndexSender {
    /// Replaces the index.
    pub fn send(&self, index: SearchIndex) {
        self.0.send_replace(Some(Arc::new(index)));
    }
}
