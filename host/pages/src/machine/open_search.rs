//! The OpenSearch 1.1 description, by which browsers search from their address line.

use super::escape::xml_text;
use super::view::CatalogView;
use yearbook_domain::preview_facts::cut_text;

/// Characters of `ShortName` at most.
const NAME_CHARACTERS: usize = 16;

/// Characters of `Description` at most.
const DESCRIPTION_CHARACTERS: usize = 1_024;

/// Returns the OpenSearch description, by which browsers search from their address line.
pub(super) fn open_search(catalog: &CatalogView<'_>) -> String {
    let base = xml_text(catalog.base_url);
    let settings = catalog.settings;
    let summary = settings.summary.split_whitespace().collect::<Vec<_>>().join(" ");
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <OpenSearchDescription xmlns=\"http://a9.com/-/spec/opensearch/1.1/\">\n\
         <ShortName>{}</ShortName>\n<Description>{}</Description>\n\
         <Url type=\"text/html\" method=\"get\" template=\"{base}/datasets?q={{searchTerms}}\"/>\n\
         <Url type=\"application/opensearchdescription+xml\" rel=\"self\" template=\"{base}/opensearch.xml\"/>\n\
         <InputEncoding>UTF-8</InputEncoding>\n<OutputEncoding>UTF-8</OutputEncoding>\n\
         </OpenSearchDescription>\n",
        xml_text(cut_text(&settings.title, NAME_CHARACTERS).trim()),
        xml_text(cut_text(&summary, DESCRIPTION_CHARACTERS)),
    )
}
