//! The encoding that a client gets, by `f`, else by `Accept`, and the language of text. Pages are
//! those of the catalogue.

use yearbook_sdk::adapter::{Asked, Dataset, Document, Format, Host, Refusal, Request, Step};

use crate::links::{GEOJSON, HTML, JSON};
use crate::problem::bad_request;
use crate::tile_format;

/// Encoding of items.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Encoding {
    /// GeoJSON, this API's own.
    GeoJson,
    /// The catalogue's page.
    Page,
    /// A format of the host.
    Format(Format),
}

/// Ends the call with a redirection to a page of the catalogue, where the client wants HTML and not
/// this type.
pub(crate) fn page(request: &Request, media_type: &str, path: &str) -> Step<()> {
    let is_page = match request.parameter("f") {
        Some("json") => false,
        Some("geojson") if media_type == GEOJSON => false,
        Some("html") => true,
        Some(_) => return Err(bad_request("f is `json` or `html` here")),
        None => match request.preferred(&[media_type, JSON, HTML]) {
            Some(preferred) => preferred == HTML,
            None => return Err(not_acceptable(media_type)),
        },
    };
    if is_page { Err(Document::see_other(path).into()) } else { Ok(()) }
}

/// The language that a client would have most.
pub(crate) fn language(request: &Request) -> Option<String> {
    request.languages().first().map(|&language| language.to_owned())
}

/// The language of a dataset that a range means: itself, or its longest beginning (RFC 4647, 3.4).
fn lookup<'a>(range: &str, there: &'a [String]) -> Option<&'a String> {
    let is_beginning = |language: &&String| {
        range.split_at_checked(language.len()).is_some_and(|(start, rest)| {
            start.eq_ignore_ascii_case(language) && (rest.is_empty() || rest.starts_with('-'))
        })
    };
    there.iter().filter(is_beginning).max_by_key(|language| language.len())
}

/// The dataset in the first of a client's languages that it has. A question names one language, and
/// which there are is known from its answer: so the host is asked again where this one is another.
pub(crate) fn in_language(request: &Request, host: &mut Host, dataset: Dataset) -> Step<Dataset> {
    let (wanted, there) = (request.languages(), &dataset.languages);
    let first = wanted.first().and_then(|range| lookup(range, there));
    let best = wanted.iter().find_map(|range| lookup(range, there));
    // The main one stands for those that are not there.
    match best.filter(|best| Some(*best) != first.or(there.first())) {
        None => Ok(dataset),
        Some(best) => host.ask(Asked::dataset_in(&dataset.name, best)),
    }
}

/// The question about a dataset, its text in the language that a client would have most.
pub(crate) fn dataset(request: &Request, name: &str) -> Asked<Dataset> {
    language(request)
        .map_or_else(|| Asked::dataset(name), |language| Asked::dataset_in(name, &language))
}

impl Encoding {
    /// The encoding of items that a request wants, out of the loaded formats.
    pub(crate) fn wanted(request: &Request, formats: &[Format]) -> Step<Self> {
        if let Some(name) = request.parameter("f") {
            return match name {
                "json" | "geojson" => Ok(Self::GeoJson),
                "html" => Ok(Self::Page),
                name => others(formats)
                    .find(|format| format.name == name)
                    .map(|format| Self::Format(format.clone()))
                    .ok_or_else(|| unknown(formats)),
            };
        }
        let mut offered = vec![GEOJSON, JSON];
        offered.extend(others(formats).map(|format| format.media_type.as_str()));
        offered.push(HTML);
        match request.preferred(&offered) {
            Some(GEOJSON | JSON) => Ok(Self::GeoJson),
            Some(HTML) => Ok(Self::Page),
            Some(media_type) => others(formats)
                .find(|format| format.media_type == media_type)
                .map(|format| Self::Format(format.clone()))
                .ok_or_else(|| unknown(formats)),
            None => Err(not_acceptable(&offered.join(", "))),
        }
    }

    /// Name in `f`, and media type.
    pub(crate) fn named(&self) -> (&str, &str) {
        match self {
            Self::GeoJson => ("json", GEOJSON),
            Self::Page => ("html", HTML),
            Self::Format(format) => (&format.name, &format.media_type),
        }
    }

    /// All encodings of items.
    pub(crate) fn all(formats: &[Format]) -> impl Iterator<Item = Self> {
        let formats = others(formats).cloned().map(Self::Format);
        [Self::GeoJson, Self::Page].into_iter().chain(formats)
    }
}

/// Formats besides those that GeoJSON stands for here, and tiles, which have addresses of their
/// own.
fn others(formats: &[Format]) -> impl Iterator<Item = &Format> {
    let none = ["json", "geojson", "html", tile_format::FORMAT];
    formats.iter().filter(move |format| !none.contains(&format.name.as_str()))
}

fn unknown(formats: &[Format]) -> yearbook_sdk::adapter::Stop {
    let names: Vec<&str> = others(formats).map(|format| format.name.as_str()).collect();
    bad_request(format!("f is one of json, html, {} here", names.join(", ")))
}

fn not_acceptable(offered: &str) -> yearbook_sdk::adapter::Stop {
    Refusal::new(406, format!("there is {offered} here; change `Accept`, or name one in `f`"))
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_means_the_longest_beginning_that_is_there_rfc_4647() {
        let there = ["pt", "pt-BR", "mi"].map(str::to_owned);
        for (range, meant) in [
            ("pt-br-x-y", Some("pt-BR")),
            ("pt-PT", Some("pt")),
            ("MI-NZ", Some("mi")),
            ("mil", None),
            ("m", None),
            ("xē", None),
        ] {
            assert_eq!(lookup(range, &there).map(String::as_str), meant, "{range}");
        }
    }
}
