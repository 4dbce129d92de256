//! A query as an address holds it: text, choices and a page (contract-9-state). Reading one never
//! fails, and takes no more than its bounds.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use yearbook_domain::query::{last_value, parse_pairs};

use crate::{Facet, FacetChoices};

/// Longest text that is searched for, bytes; the rest is cut off.
pub const MAX_TEXT_BYTES: usize = 256;

/// Longest value of a choice, bytes; the rest is cut off. Publishers' texts have no such bound: a
/// longer one cannot be chosen.
pub const MAX_CHOICE_BYTES: usize = 1024;

/// Characters that are escaped in an address: all but RFC 3986's unreserved ones.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SearchQuery {
    /// Words to find; empty: everything.
    pub text: String,
    /// Chosen facet values.
    pub choices: FacetChoices,
    /// Page, from 1; 0 counts as 1.
    pub page: usize,
}

impl SearchQuery {
    /// Reads the query string of an address: `q`, `page` and the facets. The last of a repeated
    /// parameter counts, an empty one is absent, an unknown one ignored; a page that is no number
    /// is the first.
    #[must_use]
    pub fn parse(query_string: Option<&str>) -> Self {
        let pairs = parse_pairs(query_string.unwrap_or_default());
        let value = |name: &str| last_value(&pairs, name).unwrap_or_default().trim();
        let mut choices = FacetChoices::default();
        for facet in Facet::ALL {
            let value = value(facet.as_str());
            if !value.is_empty() {
                choices = choices.with(facet, cut(value, MAX_CHOICE_BYTES));
            }
        }
        Self {
            text: cut(value("q"), MAX_TEXT_BYTES).trim_end().to_owned(),
            choices,
            page: value("page").parse().unwrap_or(1).max(1),
        }
    }

    /// Returns the query string with its `?`, defaults left out, parameters in a fixed order; empty
    /// where everything is the default.
    #[must_use]
    pub fn to_query_string(&self) -> String {
        let page = (self.page > 1).then(|| self.page.to_string());
        let pairs = [("q", self.text.as_str())]
            .into_iter()
            .filter(|(_, text)| !text.is_empty())
            .chain(self.choices.iter().map(|(facet, value)| (facet.as_str(), value)))
            .chain(page.as_deref().map(|page| ("page", page)));
        let mut string = String::new();
        for (name, value) in pairs {
            string.push(if string.is_empty() { '?' } else { '&' });
            string.push_str(name);
            string.push('=');
            string.extend(utf8_percent_encode(value, ESCAPED));
        }
        string
    }

    /// Returns the first page of the query with `value` for `facet`.
    #[must_use]
    pub fn with_choice(&self, facet: Facet, value: &str) -> Self {
        let choices = self.choices.clone().with(facet, value);
        Self { text: self.text.clone(), choices, page: 1 }
    }

    /// Returns the first page of the query without a choice for `facet`.
    #[must_use]
    pub fn without_choice(&self, facet: Facet) -> Self {
        Self { text: self.text.clone(), choices: self.choices.clone().without(facet), page: 1 }
    }

    /// Returns another page of the same query.
    #[must_use]
    pub fn with_page(&self, page: usize) -> Self {
        Self { page, ..self.clone() }
    }
}

/// Returns the longest beginning of `text` that has `most` bytes.
fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, printed: &str) {
        let query = SearchQuery::parse(Some(raw));
        assert_eq!(query.to_query_string(), printed, "{raw}");
        let again = SearchQuery::parse(Some(printed.trim_start_matches('?')));
        assert_eq!(again.to_query_string(), printed, "{raw}");
    }

    #[test]
    fn every_state_is_an_address_contract_9() {
        check("", "");
        check("q=&topic=&page=1&utm_source=x", "");
        check("page=3&q=M%C4%81ori+land", "?q=M%C4%81ori%20land&page=3");
        check("cadence=weekly&topic=prices&q=rent", "?q=rent&topic=prices&cadence=weekly");
        check("q=a&q=b&page=x", "?q=b");
        check("page=-1&shape=series&page=0", "?shape=series");
        check("agency=A%26B%3D%3C", "?agency=A%26B%3D%3C");
        check("page=99999999999999999999999", "");
    }

    #[test]
    fn choices_and_pages_make_the_links_of_a_page() {
        let query = SearchQuery::parse(Some("q=rent&topic=prices&page=4"));
        let with = query.with_choice(Facet::Agency, "Stats NZ");
        assert_eq!(with.to_query_string(), "?q=rent&topic=prices&agency=Stats%20NZ");
        assert_eq!(
            with.without_choice(Facet::Topic).to_query_string(),
            "?q=rent&agency=Stats%20NZ"
        );
        assert_eq!(query.with_page(2).to_query_string(), "?q=rent&topic=prices&page=2");
    }

    #[test]
    fn hostile_addresses_are_cut() {
        let query = SearchQuery::parse(Some(&format!("q={}", "%C4%81".repeat(10_000))));
        assert_eq!(query.text.len(), MAX_TEXT_BYTES);
        assert_eq!(SearchQuery::parse(Some("q=%ff%00+%F0%9F%92%A9")).text, "\u{fffd}\0 💩");
        let long = SearchQuery::parse(Some(&format!("topic={}", "x".repeat(10_000))));
        assert_eq!(long.choices.get(Facet::Topic).map(str::len), Some(MAX_CHOICE_BYTES));
    }
}
