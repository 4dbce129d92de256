//! The credit that travels with the data, from `sources[0]`, `licenses[0]` and `"yearbook"`.

use yearbook_domain::Credit;
use yearbook_domain::credit::SourceUrlPrecision;

use super::extension::Extension;
use super::node::{Node, Problems};
use super::text;

/// Composes the credit. `title` is the dataset's.
pub(super) fn compose(root: &Node<'_>, title: Option<&str>, extension: &Extension, problems: &mut Problems) -> Option<Credit> {
    let (licence, licence_title) = licence(root, problems)?;
    let (agency, url) = origin(root, problems);
    let Some(source) = extension.source.clone().or(agency) else {
        problems.add("yearbook.source", "is missing and there is no sources[0].title; give the publishing agency");
        return None;
    };
    let source_url_precision = match (&url, extension.source_url_precision) {
        (None, None) => None,
        (None, Some(_)) => {
            problems.add("yearbook.source_url_precision", "is given but no address is; give sources[0].path or leave it out");
            return None;
        }
        (Some(_), Some(stated)) => Some(stated),
        (Some(url), None) => Some(guess(url)),
    };
    let attribution = extension.attribution.clone().unwrap_or_else(|| {
        let title = title.map(|title| format!(", {title}")).unwrap_or_default();
        let address = url.as_ref().map(|url| format!(", {url}")).unwrap_or_default();
        format!("{source}{title}{address}. Licence: {}.", licence_title.as_ref().unwrap_or(&licence))
    });
    if let Some(fault) = text::line_fault(&attribution) {
        problems.add("yearbook.attribution_text", format!("is composed from source, title and licence; the result {fault}"));
        return None;
    }
    Some(Credit { source, attribution, licence, source_url: url, source_url_precision })
}

/// `licenses[0]`: name, which the header carries, and title, which reads better in a sentence.
fn licence(root: &Node<'_>, problems: &mut Problems) -> Option<(String, Option<String>)> {
    let first = root.need("licenses", "the licence, for example [{\"name\": \"CC-BY-4.0\"}]", problems)?.first(problems)?;
    first.object(problems)?;
    let title = first.get("title").and_then(|n| text::line(&n, problems));
    let name = first.need("name", "the licence's identifier, for example \"CC-BY-4.0\"", problems)?;
    Some((text::line(&name, problems)?, title))
}

/// `sources[0]`: title and address, each where given.
fn origin(root: &Node<'_>, problems: &mut Problems) -> (Option<String>, Option<String>) {
    let Some(first) = root.get("sources").and_then(|sources| sources.first(problems)) else { return (None, None) };
    if first.object(problems).is_none() {
        return (None, None);
    }
    let title = first.get("title").and_then(|n| text::line(&n, problems));
    let Some(path) = first.get("path") else { return (title, None) };
    let url = text::line(&path, problems);
    if let Some(url) = &url
        && (!(url.starts_with("https://") || url.starts_with("http://")) || url.contains(char::is_whitespace))
    {
        problems.add(path.at, format!("{url:?} is not an address that a reader can follow; write http(s)://… or leave it out"));
        return (title, None);
    }
    (title, url)
}

/// An address without a path is an agency's landing page; anything more is taken for the dataset's own.
fn guess(url: &str) -> SourceUrlPrecision {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    match rest.split_once('/') {
        Some((_, path)) if !path.is_empty() => SourceUrlPrecision::Dataset,
        _ => SourceUrlPrecision::Source,
    }
}
