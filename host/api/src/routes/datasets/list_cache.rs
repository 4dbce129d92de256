//! The rendered lists of datasets, one for each choice of languages.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;
use yearbook_domain::Dataset;
use yearbook_http::language::WantedLanguages;
use yearbook_http::{Core, Error, RenderedDocument};
use yearbook_shares::CallerShare;

use super::view;

/// Lists that are held at most, besides the one in first languages.
const OTHER_LISTS: usize = 8;

/// Lists of the present view of the catalog.
#[derive(Default)]
pub(crate) struct DatasetListCache {
    lists: Mutex<RenderedLists>,
}

/// Lists of one view of the catalog, that which was asked for last at the end.
#[derive(Default)]
struct RenderedLists {
    datasets: Arc<[Arc<Dataset>]>,
    lists: Vec<(LanguageChoice, RenderedList)>,
}

/// A list, which is rendered once.
type RenderedList = Arc<OnceCell<RenderedDocument>>;

/// Datasets that are not in their first language, by their position, each with the position of its
/// language.
type LanguageChoice = Vec<(usize, usize)>;

impl DatasetListCache {
    /// The document of all datasets, each in the language that is wanted of it. It is rendered and
    /// compressed again only when the catalog moved. Rendered on the account of `caller`.
    pub(super) async fn get(
        &self,
        core: &Core,
        caller: &CallerShare,
        wanted: WantedLanguages,
    ) -> Result<RenderedDocument, Error> {
        let datasets = core.catalog_cache.datasets();
        let list = self.list(&datasets, choose_languages(&datasets, &wanted));
        let rendered = async {
            let rendered = core.workers.run_for(caller, move || render(&datasets, &wanted)).await;
            rendered.map_err(|failure| Error::internal("render the list of datasets", &failure))?
        };
        list.get_or_try_init(|| rendered).await.cloned()
    }

    /// The list of `datasets` in these languages, rendered or not.
    fn list(&self, datasets: &Arc<[Arc<Dataset>]>, choice: LanguageChoice) -> RenderedList {
        let mut held = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&held.datasets, datasets) {
            *held = RenderedLists { datasets: Arc::clone(datasets), lists: Vec::new() };
        }
        let lists = &mut held.lists;
        let known = lists.iter().position(|(known, _)| *known == choice);
        let (choice, list) = match known {
            Some(known) => lists.remove(known),
            None => (choice, RenderedList::default()),
        };
        let is_other = |(choice, _): &(LanguageChoice, RenderedList)| !choice.is_empty();
        if !choice.is_empty()
            && lists.iter().filter(|list| is_other(list)).count() >= OTHER_LISTS
            && let Some(oldest) = lists.iter().position(is_other)
        {
            lists.remove(oldest);
        }
        lists.push((choice, Arc::clone(&list)));
        list
    }
}

/// Returns the languages of `datasets` that are wanted and are not their first.
fn choose_languages(datasets: &[Arc<Dataset>], wanted: &WantedLanguages) -> LanguageChoice {
    let other = |(index, dataset): (usize, &Arc<Dataset>)| {
        let chosen = wanted.choose(&dataset.current)?;
        let languages = &dataset.current.meaning.languages;
        let position = languages.iter().position(|language| language == chosen)?;
        (position > 0).then_some((index, position))
    };
    datasets.iter().enumerate().filter_map(other).collect()
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
    let document = RenderedDocument::new(&metas)?.with_coding_cache();
    let has_languages = datasets.iter().any(|of| !of.current.meaning.languages.is_empty());
    Ok(if has_languages { document.in_several_languages() } else { document })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_one_view_are_held_up_to_a_bound() {
        let cache = DatasetListCache::default();
        let view: Arc<[Arc<Dataset>]> = Vec::new().into();
        let first = cache.list(&view, Vec::new());
        let other = |number: usize| cache.list(&view, vec![(0, number)]);
        let (used, unused) = (other(1), other(2));
        for number in 3..=OTHER_LISTS + 1 {
            assert!(Arc::ptr_eq(&used, &other(1)));
            other(number);
        }
        assert!(!Arc::ptr_eq(&unused, &other(2)), "it was the oldest");
        assert!(Arc::ptr_eq(&first, &cache.list(&view, Vec::new())), "it is never the oldest");
        let held = cache.lists.lock().unwrap_or_else(PoisonError::into_inner).lists.len();
        assert_eq!(held, OTHER_LISTS + 1);
        let moved: Arc<[Arc<Dataset>]> = Vec::new().into();
        assert!(!Arc::ptr_eq(&first, &cache.list(&moved, Vec::new())));
    }
}
