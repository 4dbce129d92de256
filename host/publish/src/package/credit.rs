//! The credit that travels with the data, from `sources[0]`, `licenses[0]` and `"yearbook"`.

use yearbook_domain::credit::SourceUrlPrecision;
use yearbook_domain::{Credit, SourceEntry};

use super::extension::YearbookExtension;
use super::node::{DescriptorNode, DescriptorProblems};
use super::text_rules;

/// Entries of `sources` at most: they travel with every description of the dataset and in the
/// metadata of every file.
const MAX_SOURCES: usize = 100;

/// Composes the credit. `title` is the dataset's.
pub(super) fn compose(
    root: &DescriptorNode<'_>,
    title: Option<&str>,
    extension: &YearbookExtension,
    problems: &mut DescriptorProblems,
) -> Option<Credit> {
    let licence = parse_licence(root, problems)?;
    let sources = parse_sources(root, problems);
    let (agency, url) =
        sources.first().map_or((None, None), |first| (first.title.clone(), first.path.clone()));
    let Some(source) = extension.source.clone().or(agency) else {
        problems.add(
            "yearbook.source",
            "is missing and there is no sources[0].title; give the publishing agency",
        );
        return None;
    };
    let source_url_precision = match (&url, extension.source_url_precision) {
        (None, None) => None,
        (None, Some(_)) => {
            problems.add(
                "yearbook.source_url_precision",
                "is given but no address is; give sources[0].path or leave it out",
            );
            return None;
        }
        (Some(_), Some(stated)) => Some(stated),
        (Some(url), None) => Some(guess_precision(url)),
    };
    let attribution = extension.attribution.clone().unwrap_or_else(|| {
        let title = title.map(|title| format!(", {title}")).unwrap_or_default();
        let address = url.as_ref().map(|url| format!(", {url}")).unwrap_or_default();
        format!(
            "{source}{title}{address}. Licence: {}.",
            licence.title.as_ref().unwrap_or(&licence.name)
        )
    });
    if let Some(fault) = text_rules::find_header_fault(&attribution) {
        problems.add(
            "yearbook.attribution_text",
            format!("is composed from source, title and licence; the result {fault}"),
        );
        return None;
    }
    Some(Credit {
        source,
        attribution,
        licence: licence.name,
        licence_title: licence.title,
        licence_url: licence.url,
        source_url: url,
        source_url_precision,
        sources,
    })
}

/// `licenses[0]`: the name, which the header carries, and what lets people read it.
struct Licence {
    name: String,
    title: Option<String>,
    url: Option<String>,
}

fn parse_licence(root: &DescriptorNode<'_>, problems: &mut DescriptorProblems) -> Option<Licence> {
    let first = root
        .require("licenses", "the licence, for example [{\"name\": \"CC-BY-4.0\"}]", problems)?
        .first(problems)?;
    first.object(problems)?;
    let title = first.get("title").and_then(|n| text_rules::line(&n, problems));
    let url = first.get("path").and_then(|n| parse_licence_address(&n, problems));
    let name =
        first.require("name", "the licence's identifier, for example \"CC-BY-4.0\"", problems)?;
    Some(Licence { name: text_rules::line(&name, problems)?, title, url })
}

/// The address of the licence's text. A path within the package (Data Package, "licenses") is no
/// address, since that file is not served.
fn parse_licence_address(
    path: &DescriptorNode<'_>,
    problems: &mut DescriptorProblems,
) -> Option<String> {
    match path.text(problems)? {
        text if text.contains(':') => parse_address(path, problems),
        _ => text_rules::line(path, problems).and(None),
    }
}

/// Every entry of `sources` that says something, in its order.
fn parse_sources(root: &DescriptorNode<'_>, problems: &mut DescriptorProblems) -> Vec<SourceEntry> {
    let Some(list) = root.get("sources") else { return Vec::new() };
    let nodes = list.list(problems).unwrap_or_default();
    if nodes.len() > MAX_SOURCES {
        problems
            .add(list.at, format!("has {} entries; at most {MAX_SOURCES} are kept", nodes.len()));
        return Vec::new();
    }
    let entry = |node: &DescriptorNode<'_>, problems: &mut DescriptorProblems| {
        node.object(problems)?;
        let title = node.get("title").and_then(|n| text_rules::line(&n, problems));
        let path = node.get("path").and_then(|n| parse_address(&n, problems));
        (title.is_some() || path.is_some()).then_some(SourceEntry { title, path })
    };
    nodes.iter().filter_map(|node| entry(node, problems)).collect()
}

/// An address that a reader can follow.
fn parse_address(node: &DescriptorNode<'_>, problems: &mut DescriptorProblems) -> Option<String> {
    let url = text_rules::line(node, problems)?;
    if !(url.starts_with("https://") || url.starts_with("http://"))
        || url.contains(char::is_whitespace)
    {
        problems.add(node.at.clone(), format!("{url:?} is not an address that a reader can follow; write http(s)://… or leave it out"));
        return None;
    }
    Some(url)
}

/// An address without a path is an agency's landing page; anything more is taken for the dataset's
/// own.
fn guess_precision(url: &str) -> SourceUrlPrecision {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    match rest.split_once('/') {
        Some((_, path)) if !path.is_empty() => SourceUrlPrecision::Dataset,
        _ => SourceUrlPrecision::Source,
    }
}
