//! Refusals and failures of transforms: 422 at `apply` or at the option that is wrong, 413 for more
//! than a transform takes (contract-16-refusals). A failure is recorded against the release of the
//! transform, never against the encoder's.

use std::sync::Arc;

use futures::StreamExt;
use yearbook_domain::query::last_value;
use yearbook_domain::read_plan::MAX_SERIES;
use yearbook_domain::validation::ParameterLocation;
use yearbook_domain::{Refusal, ValidationError};
use yearbook_http::{Error, open_responses};
use yearbook_sandbox::{
    BoxError, GuestError, PluginTransform, ReleasePolicy, RequestFingerprint, TransformFailure,
    TransformStep,
};
use yearbook_scan::{ComputedRows, HELD_ROWS, ShapeFailure};
use yearbook_storage::StorageFailure;

use super::failure_cache::FailureCache;

/// Records `failure` against the release of the transform where that is at fault.
pub(crate) fn record(
    releases: &dyn ReleasePolicy,
    request: &RequestFingerprint,
    failure: &TransformFailure,
) {
    if failure.error.is_failure_of_the_plugin() {
        releases.record_failure(failure.transform.digest(), request, &failure.error.to_string());
    }
}

/// Returns `rows` whose failures are recorded as they come, before and after the first byte.
pub(crate) fn record_all(
    rows: ComputedRows,
    releases: Arc<dyn ReleasePolicy>,
    request: RequestFingerprint,
) -> ComputedRows {
    let check = move |batch: &Result<_, BoxError>| {
        let failed = batch.as_ref().err().and_then(|cause| cause.downcast_ref());
        if let Some(failure) = failed {
            record(&*releases, &request, failure);
        }
    };
    rows.inspect(check).boxed()
}

/// Returns the failure of one of `steps` at what `request` names a moment ago, for which it would
/// fail again.
pub(crate) fn known(
    failures: &FailureCache,
    request: &str,
    steps: &[TransformStep],
) -> Option<TransformFailure> {
    steps.iter().find_map(|step| {
        let error = failures.get(&key(request, &step.transform))?;
        Some(TransformFailure { transform: Arc::clone(&step.transform), error })
    })
}

/// Remembers a failure that would come again, where `cause` is one of a transform.
pub(crate) fn remember(failures: &FailureCache, request: &str, cause: &BoxError) {
    if let Some(TransformFailure { transform, error }) = cause.downcast_ref() {
        failures.insert(&key(request, transform), error);
    }
}

/// An encoder's failures are kept under the request alone.
fn key(request: &str, transform: &PluginTransform) -> String {
    format!("{request} {}", transform.name())
}

/// Returns the answer where rows did not come, for whatever reason. `pairs` are the parameters as
/// sent.
pub(crate) fn refuse_rows(pairs: &[(String, String)], cause: BoxError) -> Error {
    let cause = match cause.downcast::<TransformFailure>() {
        Ok(failure) => return refuse(pairs, *failure),
        Err(cause) => cause,
    };
    let cause = match cause.downcast::<StorageFailure>() {
        Ok(failure) => return (*failure).into(),
        Err(cause) => cause,
    };
    match cause.downcast_ref() {
        Some(ShapeFailure::TooManySeries) => Refusal::TooManySeries { limit: MAX_SERIES }.into(),
        Some(ShapeFailure::TooManyRows) => {
            Refusal::TransformedRowsTooLarge { limit: HELD_ROWS }.into()
        }
        Some(ShapeFailure::Rows(_)) | None => Error::internal("make rows", &cause),
    }
}

/// Returns the answer where a transform declined or failed.
pub(crate) fn refuse(pairs: &[(String, String)], failure: TransformFailure) -> Error {
    let TransformFailure { transform, error } = failure;
    let name = transform.name();
    match error {
        GuestError::Declined(sentence)
        | GuestError::InvalidOption(sentence)
        | GuestError::UnsupportedRows(sentence) => {
            let raw = last_value(pairs, "apply").unwrap_or_default();
            let sentence = format!("{name}: {sentence}");
            Error::invalid_parameter(ValidationError::value_error("apply", &sentence, raw))
        }
        GuestError::InvalidTransformOption { option, sentence } => {
            let option = format!("{name}.{option}");
            let problem = match last_value(pairs, &option) {
                Some(raw) => ValidationError::value_error(&option, &sentence, raw),
                None => {
                    let place = ParameterLocation::Query;
                    ValidationError::new(place, &option, "missing", sentence, None)
                }
            };
            Error::invalid_parameter(problem)
        }
        GuestError::TooManyRows(sentence) => {
            Refusal::TransformTooLarge { transform: name.to_owned(), sentence }.into()
        }
        GuestError::TooManyGroups { groups, .. } => {
            let limit = groups as u64;
            Refusal::TooManyGroups { transform: name.to_owned(), limit }.into()
        }
        GuestError::TooLarge { .. } => {
            tracing::info!(failure = %error, "rows are more than a transform can hold");
            let ways = vec!["choose fewer rows with start, end or conditions".to_owned()];
            Refusal::ResponseTooLarge { plugin: name.to_owned(), ways }.into()
        }
        GuestError::Busy { retry_after } => Error::Busy { retry_after },
        GuestError::ShareUsedUp => open_responses::share_used_up(),
        GuestError::Input(cause) => refuse_rows(pairs, cause),
        failure => Error::internal("run a transform", &failure),
    }
}
