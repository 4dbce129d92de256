//! The face that is spoken to, and the media type of an answer, by `Accept`.

use yearbook_sdk::adapter::{Refusal, Request, Step};

/// A version of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Face {
    /// REST 1.5, of SDMX 2.1.
    V21,
    /// REST 2, of SDMX 3.0.
    V30,
}

/// An encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Ml21,
    Ml30,
    Json,
    Csv1,
    Csv2,
}

/// A media type that is offered: what clients name, and what it is.
#[derive(Clone, Copy)]
struct Offer {
    essence: &'static str,
    version: &'static str,
    encoding: Encoding,
}

const fn offer(essence: &'static str, version: &'static str, encoding: Encoding) -> Offer {
    Offer { essence, version, encoding }
}

const STRUCTURE_XML: &str = "application/vnd.sdmx.structure+xml";
const STRUCTURE_JSON: &str = "application/vnd.sdmx.structure+json";
const DATA_CSV: &str = "application/vnd.sdmx.data+csv";
const SPECIFIC: &str = "application/vnd.sdmx.structurespecificdata+xml";

const STRUCTURES_21: &[Offer] = &[
    offer(STRUCTURE_XML, "2.1", Encoding::Ml21),
    offer("application/xml", "", Encoding::Ml21),
    offer("text/xml", "", Encoding::Ml21),
];
const STRUCTURES_30: &[Offer] = &[
    offer(STRUCTURE_XML, "3.0.0", Encoding::Ml30),
    offer(STRUCTURE_JSON, "2.0.0", Encoding::Json),
    offer("application/json", "", Encoding::Json),
    offer("application/xml", "", Encoding::Ml30),
    offer("text/xml", "", Encoding::Ml30),
];
const DATA_21: &[Offer] = &[
    offer(SPECIFIC, "2.1", Encoding::Ml21),
    offer(DATA_CSV, "1.0.0", Encoding::Csv1),
    offer(DATA_CSV, "2.0.0", Encoding::Csv2),
    offer("text/csv", "", Encoding::Csv1),
    offer("application/xml", "", Encoding::Ml21),
    offer("text/xml", "", Encoding::Ml21),
];
const DATA_30: &[Offer] = &[
    offer("application/vnd.sdmx.data+xml", "3.0.0", Encoding::Ml30),
    offer(DATA_CSV, "2.0.0", Encoding::Csv2),
    offer(DATA_CSV, "1.0.0", Encoding::Csv1),
    offer("text/csv", "", Encoding::Csv2),
    offer("application/xml", "", Encoding::Ml30),
    offer("text/xml", "", Encoding::Ml30),
];

impl Face {
    /// The encoding of structures that a request wants.
    pub(crate) fn structures(self, request: &Request) -> Step<Encoding> {
        self.wanted(request, if self == Self::V21 { STRUCTURES_21 } else { STRUCTURES_30 })
    }

    /// The encoding of data that a request wants. Without the format that writes SDMX-ML there is
    /// SDMX-CSV alone.
    pub(crate) fn data(self, request: &Request, has_ml: bool) -> Step<Encoding> {
        let offers = if self == Self::V21 { DATA_21 } else { DATA_30 };
        let is_ml = |offer: &Offer| matches!(offer.encoding, Encoding::Ml21 | Encoding::Ml30);
        let had: Vec<Offer> =
            offers.iter().filter(|offer| has_ml || !is_ml(offer)).copied().collect();
        self.wanted(request, &had)
    }

    fn wanted(self, request: &Request, offers: &[Offer]) -> Step<Encoding> {
        chosen(request.header("accept").unwrap_or("*/*"), offers).ok_or_else(|| {
            let types: Vec<String> = offers.iter().map(Offer::written).collect();
            let sentence = format!("there is {} here; change `Accept`", types.join(", "));
            Refusal::new(406, sentence).into()
        })
    }
}

impl Offer {
    fn written(&self) -> String {
        match self.version {
            "" => self.essence.to_owned(),
            version => format!("{};version={version}", self.essence),
        }
    }

    /// Returns how closely a range of `Accept` names it; `None` if it does not.
    fn matches(&self, range: &str, version: Option<&str>) -> Option<u8> {
        let kind = self.essence.split('/').next().unwrap_or_default();
        if range.eq_ignore_ascii_case(self.essence) {
            // `2.0` names `2.0.0` too.
            let is_version = |version: &str| {
                let rest = self.version.strip_prefix(version);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            version
                .is_none_or(|version| self.version.is_empty() || is_version(version))
                .then_some(2)
        } else if range.strip_suffix("/*").is_some_and(|range| range.eq_ignore_ascii_case(kind)) {
            Some(1)
        } else {
            (range == "*/*").then_some(0)
        }
    }
}

/// The first of the offers that weigh most.
fn chosen(accept: &str, offers: &[Offer]) -> Option<Encoding> {
    let ranges: Vec<(&str, Option<&str>, f64)> = accept.split(',').map(range).collect();
    let weight = |offer: &Offer| {
        let named = ranges.iter().filter_map(|&(range, version, quality)| {
            Some((offer.matches(range, version)?, quality))
        });
        named.max_by_key(|(precision, _)| *precision).map_or(0.0, |(_, quality)| quality)
    };
    let weighed = offers.iter().map(|offer| (weight(offer), offer.encoding));
    let best = weighed.rev().max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (best.0 > 0.0).then_some(best.1)
}

/// Media range, version and quality.
fn range(text: &str) -> (&str, Option<&str>, f64) {
    let mut parts = text.split(';').map(str::trim);
    let range = parts.next().unwrap_or_default();
    let (mut version, mut quality) = (None, 1.0);
    for part in parts {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let value = value.trim().trim_matches('"');
        match name.trim() {
            "version" => version = Some(value),
            "q" => quality = value.parse().unwrap_or(0.0),
            _ => {}
        }
    }
    (range, version, quality)
}

/// Media type of an answer.
pub(crate) fn structures_type(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Json => "application/vnd.sdmx.structure+json; version=2.0.0; charset=utf-8",
        Encoding::Ml30 => "application/vnd.sdmx.structure+xml; version=3.0.0; charset=utf-8",
        _ => "application/vnd.sdmx.structure+xml; version=2.1; charset=utf-8",
    }
}

/// The same of data.
pub(crate) fn data_type(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Csv1 => "application/vnd.sdmx.data+csv; version=1.0.0; charset=utf-8",
        Encoding::Csv2 | Encoding::Json => {
            "application/vnd.sdmx.data+csv; version=2.0.0; charset=utf-8"
        }
        Encoding::Ml30 => "application/vnd.sdmx.data+xml; version=3.0.0; charset=utf-8",
        Encoding::Ml21 => {
            "application/vnd.sdmx.structurespecificdata+xml; version=2.1; charset=utf-8"
        }
    }
}

/// The language that a client would have most.
pub(crate) fn language(request: &Request) -> Option<String> {
    request.languages().first().map(|&language| language.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_and_everything_is_ml_and_json_of_data_is_nothing_contract_19() {
        assert_eq!(chosen("*/*", DATA_21), Some(Encoding::Ml21));
        assert_eq!(chosen("*/*", DATA_30), Some(Encoding::Ml30));
        assert_eq!(chosen("*/*", STRUCTURES_30), Some(Encoding::Ml30));
        for json in ["application/vnd.sdmx.data+json;version=1.0.0", "application/json"] {
            assert_eq!(chosen(json, DATA_21), None, "{json}");
            assert_eq!(chosen(json, DATA_30), None, "{json}");
        }
    }

    #[test]
    fn a_version_is_what_it_names_contract_19() {
        let csv = |version: &str| chosen(&format!("{DATA_CSV};version={version}"), DATA_30);
        assert_eq!(csv("1.0.0"), Some(Encoding::Csv1));
        assert_eq!(csv("2.0"), Some(Encoding::Csv2));
        assert_eq!(csv("2.1.0"), None);
        assert_eq!(chosen("text/csv;q=0.5, application/xml;q=0.9", DATA_21), Some(Encoding::Ml21));
        assert_eq!(
            chosen("application/vnd.sdmx.structure+json;version=2.0.0", STRUCTURES_30),
            Some(Encoding::Json)
        );
    }
}
