//! Languages that a request wants (contract-21-languages): `lang`, else `Accept-Language`
//! (RFC 9110, 12.5.4). Which of them a dataset has is the dataset's to say.

use http::header::{ACCEPT_LANGUAGE, CONTENT_LANGUAGE, VARY};
use http::{HeaderMap, HeaderValue};
use yearbook_domain::meaning::Language;
use yearbook_domain::query::{last_value, parse_pairs};
use yearbook_domain::{Snapshot, ValidationError};

use super::accept::weight;
use super::headers::insert_text;

/// Name of the parameter.
pub const LANG: &str = "lang";

/// Ranges of `Accept-Language` that are looked at.
const MAX_RANGES: usize = 16;

/// Ranges of languages (RFC 4647), the most wanted first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WantedLanguages(Vec<String>);

impl WantedLanguages {
    /// Reads what a request wants.
    ///
    /// # Errors
    /// A `lang` that is no tag of a language.
    pub fn read(query: &str, headers: &HeaderMap) -> Result<Self, ValidationError> {
        match last_value(&parse_pairs(query), LANG) {
            Some(tag) if Language::parse(tag).is_some() => Ok(Self(vec![tag.to_owned()])),
            Some(text) => {
                let sentence = "must be a tag of a language (BCP 47), for example en or pt-BR";
                Err(ValidationError::value_error(LANG, sentence, text))
            }
            None => Ok(Self::accepted(headers)),
        }
    }

    /// Reads one range, or none.
    pub fn range(range: Option<&str>) -> Self {
        Self(range.into_iter().map(str::to_owned).collect())
    }

    fn accepted(headers: &HeaderMap) -> Self {
        let texts = headers.get_all(ACCEPT_LANGUAGE).iter().filter_map(|value| value.to_str().ok());
        let mut ranges: Vec<(u16, &str)> = texts
            .flat_map(|text| text.split(','))
            .take(MAX_RANGES)
            .map(|item| {
                let mut parts = item.split(';').map(str::trim);
                let range = parts.next().unwrap_or_default();
                (weight(parts), range)
            })
            .filter(|(weight, range)| *weight > 0 && Language::parse(range).is_some())
            .collect();
        // Of equal weights the first one counts.
        ranges.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
        Self(ranges.into_iter().map(|(_, range)| range.to_owned()).collect())
    }

    /// Returns the language in which a dataset answers; `None` where it names none.
    pub fn choose<'s>(&self, snapshot: &'s Snapshot) -> Option<&'s Language> {
        snapshot.language(self.0.iter().map(String::as_str))
    }
}

/// Says that an answer is in a language, and that others may be had.
pub fn insert_language(headers: &mut HeaderMap, language: &Language) {
    headers.append(VARY, HeaderValue::from_static("Accept-Language"));
    insert_text(headers, CONTENT_LANGUAGE, language.as_str());
}

#[cfg(test)]
mod tests {
    //! Ranges by their weight.

    #![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use super::*;

    #[test]
    fn the_parameter_goes_before_the_header_contract_21() {
        let header = HeaderValue::from_static("de;q=0.5, mi, en;q=0.5, *;q=0.1, x;q=0");
        let headers = HeaderMap::from_iter([(ACCEPT_LANGUAGE, header)]);
        let wanted = |query: &str| WantedLanguages::read(query, &headers).map(|wanted| wanted.0);
        assert_eq!(wanted("").unwrap(), ["mi", "de", "en"]);
        assert_eq!(wanted("lang=en&lang=pt-BR").unwrap(), ["pt-BR"]);
        for wrong in ["lang=", "lang=en_GB", "lang=*"] {
            assert_eq!(wanted(wrong).unwrap_err().loc[1], "lang", "{wrong}");
        }
    }
}
