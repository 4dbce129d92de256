//! Atom feeds (RFC 4287): the newest snapshots of the catalog, and those of one dataset. An entry
//! is a version; its id is the same on every host and under every address.

use std::sync::Arc;

use yearbook_domain::uuid::uuid_of_name;
use yearbook_domain::{Dataset, Millis, SnapshotSummary};

use super::escape::xml_text;
use super::view::{CatalogView, DatasetView, SERVICE_LANGUAGE};
use crate::figures::counted;
use crate::newest::newest_first;
use crate::version_changes::changes_sentence;

/// Entries of a feed at most.
pub(super) const MAX_ENTRIES: usize = 50;

/// Returns the feed of the newest snapshots of `datasets`.
pub(super) fn catalog_feed(catalog: &CatalogView<'_>, datasets: &[Arc<Dataset>]) -> String {
    let newest = newest_first(datasets, MAX_ENTRIES);
    let updated = newest.first().map_or(Millis(0), |dataset| dataset.current.created_at);
    let entries: String = newest
        .into_iter()
        .filter_map(|dataset| {
            let view = DatasetView::new(catalog, dataset);
            dataset.snapshots.last().map(|snapshot| entry(&view, snapshot))
        })
        .collect();
    let title = format!("{}: newest versions", catalog.settings.title);
    feed(catalog, (title.as_str(), SERVICE_LANGUAGE), "/feed.xml", "/", updated, &entries)
}

/// Returns the feed of the retained snapshots of a dataset, newest first.
pub(super) fn dataset_feed(view: &DatasetView<'_>) -> String {
    let path = format!("/datasets/{}", view.dataset.name);
    let newest = view.dataset.snapshots.iter().rev().take(MAX_ENTRIES);
    let entries: String = newest.map(|snapshot| entry(view, snapshot)).collect();
    let updated = view.snapshot().created_at;
    let title = (view.title(), view.language);
    feed(view.catalog, title, &format!("{path}/feed.xml"), &path, updated, &entries)
}

/// Returns a feed of these entries, whose title stands with its language.
pub(super) fn feed(
    catalog: &CatalogView<'_>,
    (title, language): (&str, &str),
    path: &str,
    page: &str,
    updated: Millis,
    entries: &str,
) -> String {
    let (title, base) = (xml_text(title), xml_text(catalog.base_url));
    let author = xml_text(catalog.settings.publisher());
    let [language, _] = language_attributes(language);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <feed xmlns=\"http://www.w3.org/2005/Atom\" xml:lang=\"{SERVICE_LANGUAGE}\">\n\
         <id>{base}{path}</id>\n<title{language}>{title}</title>\n<updated>{}</updated>\n\
         <author><name>{author}</name></author>\n\
         <link rel=\"self\" type=\"application/atom+xml\" href=\"{base}{path}\"/>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{base}{page}\"/>\n{entries}</feed>\n",
        updated.to_rfc3339()
    )
}

/// Returns the attribute for words of a publisher in a feed, and the one for those of the service
/// among them; empty where both have one language.
pub(super) fn language_attributes(language: &str) -> [String; 2] {
    if language == SERVICE_LANGUAGE {
        return [String::new(), String::new()];
    }
    [language, SERVICE_LANGUAGE].map(|language| format!(" xml:lang=\"{}\"", xml_text(language)))
}

fn entry(view: &DatasetView<'_>, snapshot: &SnapshotSummary) -> String {
    let credit = &view.snapshot().credit;
    let page = xml_text(&view.page_url());
    let date = snapshot.created_at.date();
    let title = xml_text(&format!("{} ({date})", view.title()));
    let mut summary = counted(snapshot.rows, "row", "rows");
    if let Some(changes) = changes_sentence(snapshot) {
        summary.push_str(&format!("; since the version before: {changes}"));
    }
    let summary = xml_text(&summary);
    let [language, own_language] = language_attributes(view.language);
    let categories: String = view
        .snapshot()
        .keywords
        .iter()
        .map(|keyword| format!("<category term=\"{}\"/>\n", xml_text(keyword)))
        .collect();
    format!(
        "<entry{language}>\n<id>{}</id>\n<title>{title}</title>\n<updated>{}</updated>\n\
         <author><name>{}</name></author>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{page}\"/>\n\
         {categories}<rights>{}</rights>\n<summary{own_language}>{summary}.</summary>\n</entry>\n",
        entry_id(view.dataset.name.as_str(), snapshot.id.as_str(), snapshot.version),
        snapshot.created_at.to_rfc3339(),
        xml_text(&credit.source),
        xml_text(&credit.attribution),
    )
}

/// Returns the id of an entry: two datasets may share the id of a snapshot, and a dataset that goes
/// back to what it was has it in two versions.
fn entry_id(dataset: &str, snapshot: &str, version: u64) -> String {
    format!("urn:uuid:{}", uuid_of_name(&format!("{dataset}\0{snapshot}\0{version}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_named_by_dataset_snapshot_and_version() {
        let id = entry_id("cpi", "0123456789abcdef0123456789abcdef", 0);
        assert_eq!(id.len(), "urn:uuid:".len() + 36);
        assert_eq!(&id[23..24], "8", "{id}");
        assert_ne!(id, entry_id("ppi", "0123456789abcdef0123456789abcdef", 0));
        assert_ne!(id, entry_id("cpi", "0123456789abcdef0123456789abcdef", 2), "it went back");
    }
}
