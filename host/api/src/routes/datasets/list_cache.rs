//! The rendered list of datasets.

use std::sync::{Arc, Mutex, PoisonError};

use yearbook_domain::Dataset;
use yearbook_http::language::WantedLanguages;
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
    /// The document of `datasets`, each in the language that is wanted of it. That in their first
    /// languages is rendered again only when the catalog moved.
    pub(super) fn get(
        &self,
        datasets: Arc<[Arc<Dataset>]>,
        wanted: &WantedLanguages,
    ) -> Result<RenderedDocument, Error> {
        let is_other = |dataset: &Arc<Dataset>| {
            let snapshot = &dataset.current;
            wanted.choose(snapshot) != snapshot.meaning.languages.first()
        };
        if datasets.iter().any(is_other) {
            return render(&datasets, wanted);
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((view, document)) = &*last
            && Arc::ptr_eq(view, &datasets)
        {
            return Ok(document.clone());
        }
        let document = render(&datasets, &WantedLanguages::default())?;
        *last = Some((Arc::clone(&datasets), document.clone()));
        Ok(document)
    }
}

fn render(datasets: &[Arc<Dataset>], wanted: &WantedLanguages) -> Result<RenderedDocument, Error> {
    let snapshots: Vec<_> = datasets
        .iter()
        .map(|dataset| dataset.current.in_language(wanted.choose(&dataset.current)))
        .collect();
    let metas: Vec<view::DatasetMeta<'_>> = datasets
        .iter()
        .zip(&snapshots)
        .map(|(dataset, snapshot)| view::DatasetMeta::new(dataset, snapshot))
        .collect();
    let document = RenderedDocument::new(&metas)?;
    let has_languages = datasets.iter().any(|of| !of.current.meaning.languages.is_empty());
    Ok(if has_languages { document.in_several_languages() } else { document })
}
