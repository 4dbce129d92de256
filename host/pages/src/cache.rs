//! Rendered pages in memory. A key names everything that a page was made from, so an entry is never
//! wrong; what is not asked for any more makes room.

use std::sync::Arc;

use yearbook_cache::Cache;
use yearbook_http::{Error, RenderedDocument};

/// Bytes that an entry takes besides its key and page: counters and allocation.
const ENTRY_BYTES: usize = 512;

/// Rendered pages.
pub(crate) struct DocumentCache(Cache<PageKey, RenderedDocument>);

/// Everything that decides the bytes of a page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PageKey {
    /// Start of absolute links.
    pub(crate) base_url: String,
    /// Path, and the parameters that the page knows, in one order.
    pub(crate) address: String,
    /// Version of what is shown: a revision, or a snapshot with what else the page states.
    pub(crate) version: String,
}

impl DocumentCache {
    /// Holding up to `bytes` of pages with their compressed forms.
    pub(crate) fn new(bytes: u64) -> Self {
        let weigh = |key: &PageKey, page: &RenderedDocument| {
            let texts = key.base_url.len() + key.address.len() + key.version.len();
            u32::try_from(ENTRY_BYTES + texts + page.len_with_codings()).unwrap_or(u32::MAX)
        };
        Self(Cache::weighted(bytes, weigh))
    }

    /// The page of `key`, from memory or rendered by `render`, once for all who ask for it.
    ///
    /// # Errors
    /// Those of `render`, which no entry keeps.
    pub(crate) async fn get(
        &self,
        key: PageKey,
        render: impl Future<Output = Result<RenderedDocument, Error>> + Send,
    ) -> Result<RenderedDocument, Error> {
        if let Some(page) = self.0.get(&key).await {
            return Ok(page);
        }
        let render = async { render.await.map(RenderedDocument::with_coding_cache) };
        let rendered = self.0.try_get_with(key, render).await;
        rendered.map_err(Arc::unwrap_or_clone)
    }
}
