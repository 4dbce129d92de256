//! Open checks: outcomes of an encoder's `open`, cached for HEAD and 304. Their status is the one
//! that GET would have (contract-3-head-declined), and no body is made that would tell. A plugin is
//! pure, so an outcome holds for its digest, the schema and the options.

use arrow::datatypes::Schema;
use http::HeaderMap;
use http::header::IF_NONE_MATCH;
use sha2::{Digest as _, Sha256};
use yearbook_domain::Digest;
use yearbook_http::etag::TagComparison;
use yearbook_http::{EntityTag, Error};
use yearbook_sandbox::{GuestError, OptionValue};
use yearbook_shares::CallerShare;

use super::open_outcomes::{OpenCheckSlot, OpenOutcome};
use super::plan::{ResponsePlan, RowSource};
use super::render::{declined_by_encoder, encoder_failure};
use super::row_tag;
use crate::ApiState;
use crate::request::DataRequest;

/// Checks that the encoder of `plan` takes its schema and options: from memory, or by a call to the
/// encoder on the account of `holder`.
///
/// # Errors
/// Those that a GET would end with: 422 where the encoder declines, 503 where the sandbox is full,
/// 500 where the encoder fails, which is recorded against its release and never cached.
pub(super) async fn check(
    app: &ApiState,
    request: &DataRequest,
    plan: &ResponsePlan,
    holder: &CallerShare,
) -> Result<(), Error> {
    let encoder = &plan.encoder;
    let input = &plan.fingerprint.request;
    let complete = encoder.description().parameters.complete(&plan.options);
    let (key, told) = match &plan.source {
        // Every request of a counted month asks, and the schema takes longer to write than a hash.
        RowSource::Snapshot(read) if !encoder.description().codes => {
            (row_tag::of_open(read, encoder.digest(), &complete), None)
        }
        source => {
            let schema = source.schema_for(encoder, &app.core.reader).await?;
            (cache_key(encoder.digest(), &schema, &complete), Some(schema))
        }
    };
    if let Some(failure) = app.bodies.failures.get(input) {
        return Err(encoder_failure(app, request, plan, failure));
    }
    let outcome = match app.bodies.open_checks.0.get_value_or_guard_async(&key).await {
        Ok(outcome) => outcome,
        Err(slot) => {
            let schema = match told {
                Some(schema) => schema,
                None => plan.source.schema()?,
            };
            // On the heap: most requests find an outcome in memory.
            match Box::pin(encoder.check_open(holder, schema, &plan.options)).await {
                Ok(()) => store(slot, OpenOutcome::Accepted),
                Err(GuestError::Declined(sentence) | GuestError::InvalidOption(sentence)) => {
                    store(slot, OpenOutcome::Declined(sentence.into()))
                }
                Err(failure) => {
                    // The next request that waits for the slot asks again.
                    drop(slot);
                    app.bodies.failures.insert(input, &failure);
                    return Err(encoder_failure(app, request, plan, failure));
                }
            }
        }
    };
    match outcome {
        OpenOutcome::Accepted => Ok(()),
        OpenOutcome::Declined(sentence) => Err(declined_by_encoder(request, &sentence)),
    }
}

/// Stores `outcome`, and returns it.
fn store(slot: OpenCheckSlot<'_>, outcome: OpenOutcome) -> OpenOutcome {
    // An entry that others pushed out meanwhile is checked again some day.
    let _ = slot.insert(outcome.clone());
    outcome
}

/// Returns whether `If-None-Match` names `tag` itself rather than `*`. A tag holds digest, schema
/// and options, and is sent only with what the encoder accepted, so no check is needed again.
pub(crate) fn is_named_by_client(headers: &HeaderMap, tag: &EntityTag) -> bool {
    let lists = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    lists
        .flat_map(|list| list.split(','))
        .any(|item| item.trim() != "*" && tag.matches_list(item, TagComparison::Weak))
}

/// Key of an outcome: everything that `open` is given, and the release that gets it.
fn cache_key(digest: &Digest, schema: &Schema, options: &[OptionValue]) -> [u8; 32] {
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
        let base =
            cache_key(&Digest::compute(b"d"), &schema("x", DataType::Utf8, "credit"), &option("1"));
        assert_eq!(
            base,
            cache_key(&Digest::compute(b"d"), &schema("x", DataType::Utf8, "credit"), &option("1"))
        );
        for other in [
            cache_key(&Digest::compute(b"e"), &schema("x", DataType::Utf8, "credit"), &option("1")),
            cache_key(&Digest::compute(b"d"), &schema("y", DataType::Utf8, "credit"), &option("1")),
            cache_key(
                &Digest::compute(b"d"),
                &schema("x", DataType::Int64, "credit"),
                &option("1"),
            ),
            cache_key(&Digest::compute(b"d"), &schema("x", DataType::Utf8, "other"), &option("1")),
            cache_key(&Digest::compute(b"d"), &schema("x", DataType::Utf8, "credit"), &option("2")),
            cache_key(&Digest::compute(b"d"), &schema("x", DataType::Utf8, "credit"), &[]),
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
