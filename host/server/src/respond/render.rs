//! Rows on their way to a body: read, encoded and compressed up to the first chunk in one job of a
//! worker, so that a small response costs two hand-overs between threads. Whatever has to wait
//! meanwhile (a remote store, a full sandbox) holds no worker.

use std::sync::Arc;

use axum::response::Response;
use futures::StreamExt;
use tracing::Instrument;
use yearbook_domain::ValidationError;
use yearbook_domain::validation::ParameterLocation;
use yearbook_releases::{ReleaseMonitor, RequestFingerprint};
use yearbook_sandbox::{BoxError, EncodeError, EncodedBody, OptionValue, PluginEncoder};
use yearbook_scan::{RowCounts, Scan};
use yearbook_shares::CallerShare;
use yearbook_storage::StorageFailure;

use super::body::{self, BodyContent, BodyError};
use super::{EntityTag, too_large};
use crate::bodies;
use crate::error::Error;
use crate::extract::DataRequest;
use crate::extract::content_coding::ContentCoding;
use crate::middleware::authentication::Authenticated;
use crate::state::AppState;

/// What a response is made of besides its head.
pub(crate) struct RenderedBody {
    /// The body, in its coding.
    pub(crate) content: BodyContent,
    /// How many rows it has, and where the next page begins when rows remain.
    pub(crate) counts: RowCounts,
}

/// Makes the body of `scan` on the account of `holder`. What fails up to its first chunk is still
/// an honest status.
///
/// # Errors
/// 422 for what only the guest can judge (contract-1-order), 413 for more than it can make, 503
/// when the sandbox is full or the object store away, 500 for the rest. What is the plugin's fault
/// is counted against it.
pub(crate) async fn render(
    state: &AppState,
    asked: &DataRequest,
    asker: RequestFingerprint,
    holder: CallerShare,
    options: Vec<OptionValue>,
    coding: Option<ContentCoding>,
    scan: impl Future<Output = Result<Scan, StorageFailure>> + Send + 'static,
) -> Result<RenderedBody, Error> {
    // A plugin is pure: what failed a moment ago would fail again.
    if let Some(failure) = state.own().failed_inputs.get(&asker.request) {
        return Err(record_failure(state, asked, &asker, &options, failure));
    }
    let (workers, encoder, guard) =
        (Arc::clone(&state.workers), Arc::clone(&asked.encoder), Arc::clone(&state.guard));
    let (for_body, chosen) = (asker.clone(), options.clone());
    let work = async move {
        let scan = scan.await.map_err(RenderError::Read)?;
        let batches = scan
            .batches
            .map(|batch| batch.map_err(|failure| Box::new(failure) as BoxError))
            .boxed();
        let batches = guard.tee_canary(&encoder, &scan.schema, &options, batches);
        let encoded = encoder
            .encode_for(&holder, scan.schema, &options, batches)
            .await
            .map_err(RenderError::Encode)?;
        let encoded = attribute_failure(encoded, guard, encoder, for_body);
        let content =
            body::apply_coding(&workers, coding, encoded).await.map_err(RenderError::Compress)?;
        Ok(RenderedBody { content, counts: scan.counts })
    };
    // The request's span goes along, so that what is logged on a worker has the request's id.
    match state.workers.drive(work.in_current_span()).await {
        Ok(made) => made.map_err(|unmade: RenderError| match unmade {
            RenderError::Read(failure) => failure.into(),
            RenderError::Encode(failure) => {
                state.own().failed_inputs.insert(&asker.request, &failure);
                record_failure(state, asked, &asker, &chosen, failure)
            }
            RenderError::Compress(cut) => Error::internal("compress a response", &cut),
        }),
        Err(panicked) => Err(Error::internal("make a response", &panicked)),
    }
}

/// What came first; where its plugin failed before any byte was sent, what the release that would
/// serve in its place makes `again`. That has a tag of its own.
pub(crate) async fn with_fallback_release(
    state: &AppState,
    asked: &DataRequest,
    first: Result<Response, Error>,
    again: impl AsyncFnOnce(DataRequest) -> Result<Response, Error>,
) -> Result<Response, Error> {
    let before = if matches!(first, Err(Error::PluginFailed)) {
        asked.with_fallback_release(&state.guard)
    } else {
        None
    };
    match before {
        Some(asked) => {
            tracing::warn!(
                format = asked.encoder.description().format,
                digest = asked.encoder.digest(),
                "the release before tries"
            );
            again(asked).await
        }
        None => first,
    }
}

/// What a client is told of an encoder's failure before the first byte, which is counted against
/// the plugin where it is the plugin's. `chosen`: the options that the client named.
pub(crate) fn record_failure(
    state: &AppState,
    asked: &DataRequest,
    asker: &RequestFingerprint,
    chosen: &[OptionValue],
    failure: EncodeError,
) -> Error {
    if failure.is_failure_of_the_plugin() {
        state.guard.failed(asked.encoder.digest(), asker, &failure.to_string());
    }
    encode_error(asked, chosen, failure)
}

/// 422 for what only the guest can judge: its `sentence`.
pub(crate) fn declined_by_encoder(asked: &DataRequest, sentence: &str) -> Error {
    let format = &asked.encoder.description().format;
    let raw = asked.query.format.as_deref();
    let problem = ValidationError::new(
        ParameterLocation::Query,
        "format",
        "value_error",
        format!("Value error, {format}: {sentence}"),
        raw,
    );
    Error::invalid_parameter(problem.with_context(serde_json::json!({"error": {}})))
}

fn encode_error(asked: &DataRequest, chosen: &[OptionValue], failure: EncodeError) -> Error {
    match failure {
        EncodeError::TooLarge { .. } => {
            tracing::info!(%failure, "an answer is larger than its plugin can make");
            too_large::rows_too_large(asked, chosen)
        }
        EncodeError::UnsupportedSchema(sentence) | EncodeError::InvalidOption(sentence) => {
            declined_by_encoder(asked, &sentence)
        }
        EncodeError::Busy { retry_after } => Error::Busy { retry_after },
        EncodeError::ShareUsedUp => bodies::share_used_up(),
        EncodeError::Input(cause) => match cause.downcast::<StorageFailure>() {
            Ok(failure) => (*failure).into(),
            Err(cause) => Error::internal("encode a response", &cause),
        },
        failure => match Error::internal("encode a response", &failure) {
            Error::Internal if failure.is_failure_of_the_plugin() => Error::PluginFailed,
            error => error,
        },
    }
}

/// Who `keyed` is to the guard, and what for.
pub(crate) fn request_fingerprint(
    keyed: &Authenticated,
    asked: &DataRequest,
    tag: &EntityTag,
    options: &[OptionValue],
) -> RequestFingerprint {
    RequestFingerprint {
        client: keyed.caller.id().to_owned(),
        request: tag.as_str().to_owned(),
        datasets: vec![asked.name.to_string()],
        plain: asked.encoder.description().non_default(options).next().is_none(),
    }
}

/// The same body; when the plugin cuts it off, that is counted against it.
fn attribute_failure(
    encoded: EncodedBody,
    guard: Arc<ReleaseMonitor>,
    encoder: Arc<PluginEncoder>,
    asker: RequestFingerprint,
) -> EncodedBody {
    match encoded {
        EncodedBody::Whole(bytes) => EncodedBody::Whole(bytes),
        EncodedBody::Stream(chunks) => EncodedBody::Stream(
            chunks
                .inspect(move |chunk| {
                    if chunk.as_ref().is_err_and(|cut| cut.by_plugin) {
                        guard.failed(
                            encoder.digest(),
                            &asker,
                            "it failed after the first byte of a response",
                        );
                    }
                })
                .boxed(),
        ),
    }
}

/// Which step failed.
enum RenderError {
    Read(StorageFailure),
    Encode(EncodeError),
    Compress(BodyError),
}
