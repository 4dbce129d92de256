//! FAIR Signposting: the `Link` headers of a dataset's page, level 1 of the profile.

use http::HeaderValue;

use super::view::DatasetView;
use yearbook_domain::bulk::FILE_MEDIA_TYPE;

/// Returns the values of the `Link` headers, one a link.
pub(crate) fn links(view: &DatasetView<'_>) -> Vec<HeaderValue> {
    let page = view.page_url();
    let mut links = vec![
        format!("<{}>; rel=\"cite-as\"", view.cite_url()),
        "<https://schema.org/Dataset>; rel=\"type\"".to_owned(),
        "<https://schema.org/AboutPage>; rel=\"type\"".to_owned(),
        format!("<{page}.jsonld>; rel=\"describedby\"; type=\"application/ld+json\""),
        format!(
            "<{page}/croissant.json>; rel=\"describedby\"; type=\"application/ld+json\"; profile=\"http://mlcommons.org/croissant/1.1\""
        ),
    ];
    if let Some(url) = view.licence_url() {
        links.push(format!("<{url}>; rel=\"license\""));
    }
    for (format, url) in view.formats() {
        links.push(format!("<{url}>; rel=\"item\"; type=\"{}\"", format.essence()));
    }
    if let Some(url) = view.bulk_url() {
        links.push(format!("<{url}>; rel=\"item\"; type=\"{FILE_MEDIA_TYPE}\""));
    }
    // All parts were checked before: names, media types and addresses have no other characters.
    links.into_iter().filter_map(|link| HeaderValue::try_from(link).ok()).collect()
}
