//! Sitemaps (sitemaps.org 0.9): every page that a crawler should read, with the time at which its
//! data changed. Searches are not among them.

use std::sync::Arc;

use yearbook_domain::Dataset;

use super::escape::xml_text;

/// Addresses in one file at most (sitemaps.org).
const MAX_ADDRESSES: usize = 50_000;

/// Pages besides those of datasets.
const PAGES: [&str; 5] = ["/", "/datasets", "/calendar", "/formats", "/integrations"];

const NAMESPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// Returns the sitemap; beyond 50,000 addresses an index of `?part=1`, `?part=2`, and so on, or the
/// part that was asked for. None: there is no such part.
pub(super) fn sitemap(
    base_url: &str,
    datasets: &[Arc<Dataset>],
    part: Option<usize>,
) -> Option<String> {
    sitemap_of(base_url, datasets, part, MAX_ADDRESSES)
}

fn sitemap_of(
    base_url: &str,
    datasets: &[Arc<Dataset>],
    part: Option<usize>,
    most: usize,
) -> Option<String> {
    let base = xml_text(base_url);
    let total = PAGES.len() + datasets.len();
    let parts = total.div_ceil(most);
    let line = |index: usize| match PAGES.get(index) {
        Some(page) => Some(format!("<url><loc>{base}{page}</loc></url>\n")),
        None => datasets.get(index - PAGES.len()).map(|dataset| {
            let changed = dataset.current.created_at.to_rfc3339();
            let name = &dataset.name;
            format!("<url><loc>{base}/datasets/{name}</loc><lastmod>{changed}</lastmod></url>\n")
        }),
    };
    let lines = |range: std::ops::Range<usize>| -> String { range.filter_map(line).collect() };
    match part {
        None if parts > 1 => {
            let entries: String = (1..=parts)
                .map(|part| {
                    format!("<sitemap><loc>{base}/sitemap.xml?part={part}</loc></sitemap>\n")
                })
                .collect();
            Some(document("sitemapindex", &entries))
        }
        None => Some(document("urlset", &lines(0..total))),
        Some(part) if (1..=parts).contains(&part) => {
            let start = (part - 1) * most;
            Some(document("urlset", &lines(start..total.min(start + most))))
        }
        Some(_) => None,
    }
}

fn document(root: &str, content: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{root} xmlns=\"{NAMESPACE}\">\n{content}</{root}>\n"
    )
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn beyond_the_bound_the_sitemap_is_an_index_contract_9() {
        let whole = sitemap_of("https://e.org", &[], None, 5).unwrap();
        assert_eq!(whole.matches("<loc>").count(), 5);
        assert!(whole.contains("<urlset") && whole.contains("<loc>https://e.org/</loc>"));
        let index = sitemap_of("https://e.org", &[], None, 3).unwrap();
        assert!(index.contains("<sitemapindex"));
        assert!(index.contains("<loc>https://e.org/sitemap.xml?part=2</loc>"));
        let parts: Vec<String> =
            (1..=2).filter_map(|part| sitemap_of("", &[], Some(part), 3)).collect();
        let addresses: usize = parts.iter().map(|part| part.matches("<loc>").count()).sum();
        assert_eq!((parts.len(), addresses), (2, 5));
        assert_eq!(sitemap_of("", &[], Some(3), 3), None);
        assert_eq!(sitemap_of("", &[], Some(0), 3), None);
    }
}
