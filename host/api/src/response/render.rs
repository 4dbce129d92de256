//! Rendering: rows are read, encoded and compressed up to the first chunk in one job of a worker,
//! so that a small response costs two hand-overs between threads. A wait (for a remote store, for a
//! full sandbox) holds no worker. Never touches caches of bodies, quotas or headers.

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use futures::StreamExt;
use tracing::Instrument;
use yearbook_domain::ValidationError;
use yearbook_domain::validation::ParameterLocation;
use yearbook_http::body::{self, BodyError};
use yearbook_http::content_coding::ContentCoding;
use yearbook_http::{Error, open_responses};
use yearbook_sandbox::{
    BoxError, EncodedBody, GuestError, OptionValue, PluginEncoder, ReleasePolicy,
    RequestFingerprint,
};
use yearbook_scan::Reader;
use yearbook_scan::schema::PICTURE_TITLE;
use yearbook_shares::CallerShare;
use yearbook_storage::StorageFailure;
use yearbook_workers::Workers;

use super::plan::{ResponsePlan, RowSource};
use super::response_cache::RenderedBody;
use super::too_large;
use crate::ApiState;
use crate::request::DataRequest;

/// Renders the body of `plan` on the account of `holder`. A failure up to the first chunk is still
/// an honest status.
///
/// # Errors
/// 422 for what only the guest can judge (contract-1-order), 413 for more than it can make, 503
/// when the sandbox is full or the object store away, 500 for the rest. A failure of the plugin is
/// recorded against its release.
pub(crate) async fn render(
    app: &ApiState,
    request: &DataRequest,
    plan: &ResponsePlan,
    holder: &CallerShare,
) -> Result<RenderedBody, Error> {
    // A plugin is pure: an input that failed a moment ago would fail again.
    if let Some(failure) = app.bodies.failures.get(&plan.fingerprint.request) {
        return Err(encoder_failure(app, request, plan, failure));
    }
    let job = RenderJob {
        source: plan.source.clone(),
        reader: app.core.reader.for_caller(holder),
        encoder: Arc::clone(&plan.encoder),
        options: plan.options.clone(),
        coding: plan.coding,
        holder: holder.clone(),
        fingerprint: plan.fingerprint.clone(),
        releases: Arc::clone(&app.core.releases),
        workers: Arc::clone(&app.core.workers),
    };
    // The request's span goes along, so that the log lines of a worker have the request's id.
    match app.core.workers.drive(holder.clone(), job.run().in_current_span()).await {
        Ok(rendered) => rendered.map_err(|failure| match failure {
            RenderError::Read(failure) => failure.into(),
            RenderError::Encode(failure) => {
                app.bodies.failures.insert(&plan.fingerprint.request, &failure);
                encoder_failure(app, request, plan, failure)
            }
            RenderError::Compress(cut) => Error::internal("compress a response", &cut),
        }),
        Err(panicked) => Err(Error::internal("make a response", &panicked)),
    }
}

/// The input of one job on a worker, which owns all of it.
struct RenderJob {
    source: RowSource,
    reader: Reader,
    encoder: Arc<PluginEncoder>,
    options: Vec<OptionValue>,
    coding: Option<ContentCoding>,
    holder: CallerShare,
    fingerprint: RequestFingerprint,
    releases: Arc<dyn ReleasePolicy>,
    workers: Arc<Workers>,
}

/// The step that failed.
enum RenderError {
    Read(StorageFailure),
    Encode(GuestError),
    Compress(BodyError),
}

impl RenderJob {
    /// Scans, encodes and compresses.
    async fn run(self) -> Result<RenderedBody, RenderError> {
        let Self { source, reader, encoder, options, coding, holder, .. } = self;
        // On the heap: the scan is over when the encoder begins.
        let mut scan = Box::pin(source.scan(&reader)).await.map_err(RenderError::Read)?;
        if encoder.description().is_picture() {
            scan.schema = with_title(&scan.schema, source.title());
        }
        let batches = scan
            .batches
            .map(|batch| batch.map_err(|failure| Box::new(failure) as BoxError))
            .boxed();
        let batches = self.releases.tee_canary(&encoder, &scan.schema, &options, batches);
        let encoded = encoder
            .encode(&holder, scan.schema, &options, batches)
            .await
            .map_err(RenderError::Encode)?;
        let encoded = attribute_failure(encoded, self.releases, encoder, self.fingerprint);
        let content = body::apply_coding(&self.workers, &holder, coding, encoded)
            .await
            .map_err(RenderError::Compress)?;
        Ok(RenderedBody { content, counts: scan.counts })
    }
}

/// The schema with the title of the dataset, which a picture shows above the rows.
fn with_title(schema: &SchemaRef, title: Option<&str>) -> SchemaRef {
    let Some(title) = title else { return Arc::clone(schema) };
    let mut metadata = schema.metadata().clone();
    metadata.insert(PICTURE_TITLE.to_owned(), title.to_owned());
    Arc::new(Schema::clone(schema).with_metadata(metadata))
}

/// Returns the same body. A chunk that the plugin fails to make is recorded against its release.
fn attribute_failure(
    encoded: EncodedBody,
    releases: Arc<dyn ReleasePolicy>,
    encoder: Arc<PluginEncoder>,
    fingerprint: RequestFingerprint,
) -> EncodedBody {
    match encoded {
        EncodedBody::Whole(bytes) => EncodedBody::Whole(bytes),
        EncodedBody::Stream(chunks) => EncodedBody::Stream(
            chunks
                .inspect(move |chunk| {
                    if chunk.as_ref().is_err_and(|cut| cut.by_plugin) {
                        releases.record_failure(
                            encoder.digest(),
                            &fingerprint,
                            "it failed after the first byte of a response",
                        );
                    }
                })
                .boxed(),
        ),
    }
}

/// Returns the error for an encoder's failure before the first byte. A failure of the plugin is
/// recorded against its release.
pub(super) fn encoder_failure(
    app: &ApiState,
    request: &DataRequest,
    plan: &ResponsePlan,
    failure: GuestError,
) -> Error {
    if failure.is_failure_of_the_plugin() {
        app.core.releases.record_failure(
            plan.encoder.digest(),
            &plan.fingerprint,
            &failure.to_string(),
        );
    }
    match failure {
        GuestError::TooLarge { .. } => {
            tracing::info!(%failure, "an answer is larger than its plugin can make");
            too_large::rows_too_large(request, &plan.options)
        }
        GuestError::Declined(sentence) | GuestError::InvalidOption(sentence) => {
            declined_by_encoder(request, &sentence)
        }
        GuestError::Busy { retry_after } => Error::Busy { retry_after },
        GuestError::ShareUsedUp => open_responses::share_used_up(),
        GuestError::Input(cause) => match cause.downcast::<StorageFailure>() {
            Ok(failure) => (*failure).into(),
            Err(cause) => Error::internal("encode a response", &cause),
        },
        failure => match Error::internal("encode a response", &failure) {
            Error::Internal if failure.is_failure_of_the_plugin() => Error::PluginFailed,
            error => error,
        },
    }
}

/// Returns 422 with the guest's own `sentence`.
pub(super) fn declined_by_encoder(request: &DataRequest, sentence: &str) -> Error {
    let format = &request.encoder.description().format;
    let raw = request.output.format.as_deref();
    let problem = ValidationError::new(
        ParameterLocation::Query,
        "format",
        "value_error",
        format!("Value error, {format}: {sentence}"),
        raw,
    );
    Error::invalid_parameter(problem.with_context(serde_json::json!({"error": {}})))
}
