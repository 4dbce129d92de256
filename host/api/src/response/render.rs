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
    BoxError, EncodedBody, GuestError, InstancePlaces, OptionValue, PluginEncoder, ReleasePolicy,
    RequestFingerprint,
};
use yearbook_scan::schema::PICTURE_TITLE;
use yearbook_scan::{ComputedRows, Reader, RowCounts, Scan};
use yearbook_shares::CallerShare;
use yearbook_storage::StorageFailure;
use yearbook_workers::Workers;

use super::plan::{ResponsePlan, RowSource, TransformedRows};
use super::response_cache::RenderedBody;
use super::{too_large, transform_failure};
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
    let asked = &plan.fingerprint.request;
    if let Some(failure) = app.bodies.failures.get(asked) {
        return Err(encoder_failure(app, request, plan, failure));
    }
    let transforms = plan.source.transforms();
    if let Some(failure) = transform_failure::known(&app.bodies.failures, asked, transforms) {
        return Err(transform_failure::refuse(request, failure));
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
            RenderError::Encode(GuestError::Input(cause)) | RenderError::Transform(cause) => {
                transform_failure::remember(&app.bodies.failures, asked, &cause);
                transform_failure::refuse_rows(request, cause)
            }
            RenderError::Encode(failure) => {
                app.bodies.failures.insert(asked, &failure);
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
    Transform(BoxError),
    Encode(GuestError),
    Compress(BodyError),
}

/// Rows for an encoder.
struct RowsToEncode {
    schema: SchemaRef,
    counts: RowCounts,
    batches: ComputedRows,
}

impl RowsToEncode {
    fn from_scan(scan: Result<Scan, StorageFailure>) -> Result<Self, RenderError> {
        let Scan { schema, counts, batches } = scan.map_err(RenderError::Read)?;
        let batches = batches.map(|batch| batch.map_err(BoxError::from)).boxed();
        Ok(Self { schema, counts, batches })
    }
}

impl RenderJob {
    /// Reads, transforms, encodes and compresses.
    async fn run(self) -> Result<RenderedBody, RenderError> {
        // On the heap: what finds the rows is over when the encoder begins.
        let (places, rows) = match &self.source {
            RowSource::Snapshot(plan) => {
                (None, RowsToEncode::from_scan(Box::pin(self.reader.scan(plan)).await))
            }
            RowSource::Changes(selection) => (
                None,
                RowsToEncode::from_scan(Box::pin(self.reader.changes(&selection.plan)).await),
            ),
            RowSource::Transformed(rows) => {
                // The encoder's place too: nobody who holds some waits for more.
                let places = self.encoder.admit(&self.holder, rows.chain.places()).await;
                let mut places = places.map_err(RenderError::Encode)?;
                let made = Box::pin(self.transform(rows, &mut places)).await;
                (Some(places), made.map_err(RenderError::Transform))
            }
        };
        let mut rows = rows?;
        let Self { source, encoder, options, coding, holder, .. } = self;
        if encoder.description().is_picture() {
            rows.schema = with_title(&rows.schema, source.title());
        }
        let batches = self.releases.tee_canary(&encoder, &rows.schema, &options, rows.batches);
        let encoded = match places {
            None => encoder.encode(&holder, rows.schema, &options, batches).await,
            Some(places) => {
                encoder.encode_admitted(places, &holder, rows.schema, &options, batches).await
            }
        };
        let encoded = encoded.map_err(RenderError::Encode)?;
        let encoded = attribute_failure(encoded, self.releases, encoder, self.fingerprint);
        let content = body::apply_coding(&self.workers, &holder, coding, encoded)
            .await
            .map_err(RenderError::Compress)?;
        Ok(RenderedBody { content, counts: rows.counts })
    }

    /// Has rows made in some of `places`, and gives them their shape.
    async fn transform(
        &self,
        rows: &TransformedRows,
        places: &mut InstancePlaces,
    ) -> Result<RowsToEncode, BoxError> {
        let stored = rows.plan.stored_rows();
        let mut shape = rows.shape.clone();
        if rows.chain.is_row_for_row() && shape.series.is_none() && shape.sort.is_empty() {
            shape.known_rows = self.reader.row_counts(stored).await?.total;
        }
        let made = rows.chain.start(&self.holder, places, stored.start);
        let mut transforms = rows.plan.applied.iter().flat_map(|applied| &applied.transforms);
        // Those of the transforms, not of the encoder.
        let default_options = transforms.all(|transform| transform.options.is_empty());
        let fingerprint = RequestFingerprint { default_options, ..self.fingerprint.clone() };
        let made = transform_failure::record_all(made, Arc::clone(&self.releases), fingerprint);
        let shaped = self.reader.shape(rows.chain.schema(), made, &shape).await?;
        let schema = Arc::clone(&rows.schema);
        Ok(RowsToEncode { schema, counts: shaped.counts, batches: shaped.batches })
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
