//! The rendered list of datasets.

use std::sync::{Arc, Mutex, PoisonError};

use yearbook_domain::Dataset;
use yearbook_http::{Error, RenderedDocument};

use super::view;

/// The list as it was last rendered, with the view of the catalog that it was made from.
#[derive(Default)]
pub(crate) struct DatasetListCache {
    last: Mutex<Option<RenderedList>>,
}

/// The view that was rendered, and what came of it.
type RenderedList = (Arc<[Arc<Dataset>]>, RenderedDocument);

impl DatasetListCache {
    /// The document of `datasets`, rendered again only when the catalog moved.
    pub(super) fn get(&self, datasets: Arc<[Arc<Dataset>]>) -> Result<RenderedDocument, Error> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((view, document)) = &*last
            && Arc::ptr_eq(view, &datasets)
        {
            return Ok(document.clone());
        }
        let metas: Vec<view::DatasetMeta<'_>> =
            datasets.iter().map(|dataset| view::DatasetMeta::new(dataset)).collect();
        let document = RenderedDocument::new(&metas)?;
        *last = Some((Arc::clone(&datasets), document.clone()));
        Ok(document)
    }
}
