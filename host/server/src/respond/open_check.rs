//! Answers of encoders to `open`, kept for HEAD and 304: their status is the one that GET would
//! have (contract-3-head-declined), and no body is made that would tell. A plugin is pure, so an
//! answer holds for its digest, the schema and the options.

use std::sync::Arc;

use arrow::datatypes::Schema;
use http::HeaderMap;
use http::header::IF_NONE_MATCH;
use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};
use yearbook_releases::RequestFingerprint;
use yearbook_sandbox::{EncodeError, OptionValue};
use yearbook_shares::CallerShare;

use super::EntityTag;
use super::etag::TagComparison;
use super::render::{declined_by_encoder, record_failure};
use crate::error::Error;
use crate::extract::DataRequest;
use crate::state::AppState;

/// Answers in memory: an accepted one takes some 100 bytes, a sentence at most a few hundred more.
const ENTRIES: usize = 8192;

/// Kept answers.
pub(crate) struct OpenCheckCache(Cache<[u8; 32], OpenOutcome>);

/// What an encoder says to a schema with options.
#[derive(Clone)]
enum OpenOutcome {
    Accepted,
    /// With its sentence, for a 422.
    Declined(Arc<str>),
}

impl Default for OpenCheckCache {
    fn default() -> Self {
        Self(Cache::new(ENTRIES))
    }
}

/// Judges whether the encoder of `asked` takes `schema` and `options`: from memory, or by asking
/// it.
///
/// # Errors
/// Those that a GET would end with: 422 where it declines, 503 where the sandbox is full, 500 where
/// it fails, which is counted against it and never kept.
pub(crate) async fn check(
    state: &AppState,
    asked: &DataRequest,
    asker: &RequestFingerprint,
    holder: &CallerShare,
    schema: Arc<Schema>,
    options: &[OptionValue],
) -> Result<(), Error> {
    let complete = asked.encoder.description().complete(options);
    let key = cache_key(asked.encoder.digest(), &schema, &complete);
    let ask = async {
        match asked.encoder.check_open(holder, schema, options).await {
            Ok(()) => Ok(OpenOutcome::Accepted),
            Err(
                EncodeError::UnsupportedSchema(sentence) | EncodeError::InvalidOption(sentence),
            ) => Ok(OpenOutcome::Declined(sentence.into())),
            Err(failure) => Err(failure),
        }
    };
    if let Some(failure) = state.own().failed_inputs.get(&asker.request) {
        return Err(record_failure(state, asked, asker, options, failure));
    }
    // On the heap: most requests find an answer.
    match state.own().openings.0.get_or_insert_async(&key, Box::pin(ask)).await {
        Ok(OpenOutcome::Accepted) => Ok(()),
        Ok(OpenOutcome::Declined(sentence)) => Err(declined_by_encoder(asked, &sentence)),
        Err(failure) => {
            state.own().failed_inputs.insert(&asker.request, &failure);
            Err(record_failure(state, asked, asker, options, failure))
        }
    }
}

/// Whether `If-None-Match` names `tag` itself rather than anything there is. A tag holds digest,
/// schema and options, and is only sent with what the encoder accepted, so whoever has it need not
/// ask again.
pub(crate) fn is_named_by_client(headers: &HeaderMap, tag: &EntityTag) -> bool {
    let lists = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    lists
        .flat_map(|list| list.split(','))
        .any(|item| item.trim() != "*" && tag.matches_list(item, TagComparison::Weak))
}

/// Names an answer: everything that `open` is given, and to whom.
fn cache_key(digest: &str, schema: &Schema, options: &[OptionValue]) -> [u8; 32] {
    let mut metadata: Vec<_> = schema.metadata().iter().collect();
    metadata.sort_unstable();
    // `Debug` quotes texts, so no two lists read the same.
    let text = format!("{digest} {:?} {metadata:?} {options:?}", schema.fields());
    Sha256::digest(text.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::collections::HashMap;

    use arrow::datatypes::{DataType, Field};
    use yearbook_sandbox::OptionScalar;

    use super::*;

    #[test]
    fn an_answer_is_kept_by_digest_schema_and_options_contract_3() {
        let schema = |name: &str, data_type, credit: &str| {
            let metadata = HashMap::from([
                ("a".to_owned(), credit.to_owned()),
                ("b".to_owned(), "c".to_owned()),
            ]);
            Schema::new(vec![Field::new(name, data_type, true)]).with_metadata(metadata)
        };
        let option = |text: &str| {
            vec![OptionValue { name: "o".to_owned(), value: OptionScalar::Text(text.to_owned()) }]
        };
        let base = cache_key("d", &schema("x", DataType::Utf8, "credit"), &option("1"));
        assert_eq!(base, cache_key("d", &schema("x", DataType::Utf8, "credit"), &option("1")));
        for other in [
            cache_key("e", &schema("x", DataType::Utf8, "credit"), &option("1")),
            cache_key("d", &schema("y", DataType::Utf8, "credit"), &option("1")),
            cache_key("d", &schema("x", DataType::Int64, "credit"), &option("1")),
            cache_key("d", &schema("x", DataType::Utf8, "other"), &option("1")),
            cache_key("d", &schema("x", DataType::Utf8, "credit"), &option("2")),
            cache_key("d", &schema("x", DataType::Utf8, "credit"), &[]),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn only_the_tag_itself_proves_that_it_was_accepted() {
        let tag = EntityTag::from_bytes(b"x");
        let own = tag.header(None);
        let own = own.to_str().unwrap();
        for (list, proven) in
            [(own, true), ("*", false), (" * ", false), ("\"other\"", false), ("", false)]
        {
            let headers = HeaderMap::from_iter([(IF_NONE_MATCH, list.parse().unwrap())]);
            assert_eq!(is_named_by_client(&headers, &tag), proven, "{list}");
        }
        let both =
            HeaderMap::from_iter([(IF_NONE_MATCH, format!("\"other\", W/{own}").parse().unwrap())]);
        assert!(is_named_by_client(&both, &tag) && !is_named_by_client(&HeaderMap::new(), &tag));
    }
}
