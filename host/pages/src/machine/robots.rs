//! `robots.txt` (RFC 9309): crawlers read pages of datasets, and are kept from the endless
//! addresses of search, from series of a chart, from the API, and from links that stand for keys.

use yearbook_search::Facet;

/// Returns `robots.txt` for a service under the path `root`. Each parameter of a search has a line
/// of its own: readers that take `?` alone for an empty query would leave out every dataset.
pub(super) fn robots(base_url: &str, root: &str) -> String {
    let facets = Facet::ALL.iter().map(|facet| facet.as_str());
    let searches: String = ["q", "page"]
        .into_iter()
        .chain(facets)
        .map(|parameter| format!("Disallow: {root}/datasets?{parameter}=\n"))
        .collect();
    format!(
        "User-agent: *\n\
         {searches}\
         Disallow: {root}/datasets/*?\n\
         Disallow: {root}/cite/*?\n\
         Disallow: {root}/v1/\n\
         Disallow: {root}/l/\n\
         Disallow: {root}/signup\n\
         Disallow: {root}/account\n\
         \n\
         Sitemap: {base_url}/sitemap.xml\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crawlers_are_kept_from_searches_contract_9() {
        let text = robots("https://e.org/statistics", "/statistics");
        assert!(text.contains("\nDisallow: /statistics/datasets?topic=\n"), "{text}");
        assert!(!text.contains("Disallow: /statistics/datasets\n"), "{text}");
        assert!(text.ends_with("\nSitemap: https://e.org/statistics/sitemap.xml\n"), "{text}");
    }
}
