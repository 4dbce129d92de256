//! Pages of lists (contract-12-lists). A token names the last item that was sent, not a position:
//! whatever is published meanwhile, nothing comes twice and nothing that stays is left out.

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use serde::Serialize;
use yearbook_domain::query::{last_value, parse_pairs};

use super::ShareRefusal;

/// Items of a page where the client names no number.
const DEFAULT_ITEMS: usize = 500;

/// Items of a page at most: 200 kB.
const MAX_ITEMS: usize = 1_000;

/// First byte of a token.
const TOKEN_VERSION: u8 = b'1';

/// A page that a client asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageRequest {
    /// Items at most.
    items: usize,
    /// Key of the last item of the page before; none: the first page.
    after: Option<String>,
}

/// A page as it is sent.
#[derive(Serialize)]
pub(super) struct ListPage<T> {
    items: Vec<T>,
    #[serde(rename = "nextPageToken", skip_serializing_if = "Option::is_none")]
    next_page_token: Option<String>,
}

impl PageRequest {
    /// Parses `maxResults` and `pageToken` of a query; an empty token is that of the first page.
    /// `list` is the list's own name, so that a
    /// token of one is not taken for that of another.
    ///
    /// # Errors
    /// 400 for a number that is none, and for a token that did not come from this list.
    pub(super) fn parse(query: Option<&str>, list: &str) -> Result<Self, ShareRefusal> {
        let pairs = parse_pairs(query.unwrap_or_default());
        let items = match last_value(&pairs, "maxResults") {
            None => DEFAULT_ITEMS,
            Some(text) => {
                text.parse::<usize>().map(|items| items.min(MAX_ITEMS)).map_err(|_| {
                    ShareRefusal::InvalidParameter(
                        "maxResults is not a number from 0 on; leave it out for pages of 500."
                            .to_owned(),
                    )
                })?
            }
        };
        let after = match last_value(&pairs, "pageToken").filter(|text| !text.is_empty()) {
            None => None,
            Some(text) => Some(open_token(text, list).ok_or_else(|| {
                ShareRefusal::InvalidParameter(
                    "pageToken is not one of this list; send the nextPageToken of its page before, or none."
                        .to_owned(),
                )
            })?),
        };
        Ok(Self { items, after })
    }

    /// Cuts the page out of `all`, which is sorted by the keys that `key` gives; no two are equal.
    pub(super) fn cut<T, U>(
        &self,
        list: &str,
        all: &[T],
        key: impl Fn(&T) -> String,
        item: impl Fn(&T) -> U,
    ) -> ListPage<U> {
        let start = self.after.as_ref().map_or(0, |after| {
            all.partition_point(|candidate| key(candidate).as_str() <= after.as_str())
        });
        let rest = all.get(start..).unwrap_or_default();
        let page = &rest[..rest.len().min(self.items)];
        let next_page_token = (page.len() < rest.len()).then(|| {
            let last = page.last().map(&key).or_else(|| self.after.clone());
            seal_token(list, &last.unwrap_or_default())
        });
        ListPage { items: page.iter().map(item).collect(), next_page_token }
    }
}

fn seal_token(list: &str, key: &str) -> String {
    let mut bytes = vec![TOKEN_VERSION];
    bytes.extend_from_slice(format!("{list}\0{key}").as_bytes());
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

fn open_token(text: &str, list: &str) -> Option<String> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
    let (&TOKEN_VERSION, rest) = bytes.split_first()? else { return None };
    let (of, key) = std::str::from_utf8(rest).ok()?.split_once('\0')?;
    (of == list).then(|| key.to_owned())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use serde_json::{Value, json};

    use super::*;

    fn page(query: &str, all: &[&str]) -> Value {
        let request = PageRequest::parse(Some(query), "tables").unwrap();
        json!(request.cut("tables", all, |item| (*item).to_owned(), |item| (*item).to_owned()))
    }

    #[test]
    fn a_list_that_changes_is_paged_without_gaps_and_repeats_contract_12() {
        let first = page("maxResults=2", &["b", "d", "f", "h"]);
        assert_eq!(first["items"], json!(["b", "d"]));
        let token = first["nextPageToken"].as_str().unwrap();
        // What was sent went away, and others came before and behind.
        let second = page(&format!("maxResults=2&pageToken={token}"), &["a", "b", "e", "f", "h"]);
        assert_eq!(second["items"], json!(["e", "f"]));
        let token = second["nextPageToken"].as_str().unwrap();
        let last = page(&format!("maxResults=2&pageToken={token}"), &["a", "b", "e", "f", "h"]);
        assert_eq!(last, json!({"items": ["h"]}));
    }

    #[test]
    fn a_page_of_nothing_leads_to_the_rest() {
        let none = page("maxResults=0", &["a"]);
        let token = none["nextPageToken"].as_str().unwrap();
        assert_eq!(page(&format!("pageToken={token}"), &["a"]), json!({"items": ["a"]}));
        assert_eq!(page("", &[]), json!({"items": []}));
    }

    #[test]
    fn foreign_tokens_and_numbers_are_refused() {
        let token = seal_token("schemas", "a");
        for query in
            [&format!("pageToken={token}"), "pageToken=%21", "maxResults=-1", "maxResults=x"]
        {
            assert!(PageRequest::parse(Some(query), "tables").is_err(), "{query}");
        }
    }
}
