//! Rendering: rows are read, encoded and compressed up to the first chunk in one job of a worker,
//! so that a small response costs two hand-overs between threads. A wait (for a remote store, for a
//! full sandbox) holds no worker. Never touches caches of bodies, quotas or headers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::RecordBatch;
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
    drive(app, request, plan, holder, RenderJob::run).await
}

/// The same without compression, for a body that others write a part of.
///
/// # Errors
/// Those of [`render`].
pub(crate) async fn encode(
    app: &ApiState,
    request: &DataRequest,
    plan: &ResponsePlan,
    holder: &CallerShare,
) -> Result<EncodedRows, Error> {
    drive(app, request, plan, holder, RenderJob::encode).await
}

/// Reads the rows of `plan`, and no encoder, on the account of `holder`.
///
/// # Errors
/// Those of [`render`] that are not the encoder's; those of `use_rows`.
pub(crate) async fn read<T, F>(
    app: &ApiState,
    request: &DataRequest,
    plan: &ResponsePlan,
    holder: &CallerShare,
    use_rows: impl FnOnce(RowsToEncode) -> F + Send + 'static,
) -> Result<T, Error>
where
    T: Send + 'static,
    F: Future<Output = Result<T, BoxError>> + Send + 'static,
{
    let job = |job: RenderJob| async move {
        let (_places, rows) = job.rows().await?;
        use_rows(rows).await.map_err(RenderError::Transform)
    };
    drive(app, request, plan, holder, job).await
}

async fn drive<T, F>(
    app: &ApiState,
    request: &DataRequest,
    plan: &ResponsePlan,
    holder: &CallerShare,
    make: impl FnOnce(RenderJob) -> F,
) -> Result<T, Error>
where
    T: Send + 'static,
    F: Future<Output = Result<T, RenderError>> + Send + 'static,
{
    // A plugin is pure: an input that failed a moment ago would fail again.
    let asked = &plan.fingerprint.request;
    if let Some(failure) = app.bodies.failures.get(asked) {
        return Err(encoder_failure(app, request, plan, failure));
    }
    let transforms = plan.source.transforms();
    if let Some(failure) = transform_failure::known(&app.bodies.failures, asked, transforms) {
        return Err(transform_failure::refuse(&request.pairs, failure));
    }
    let job = RenderJob {
        source: plan.source.clone(),
        reader: app.core.reader.for_caller(holder),
        encoder: Arc::clone(&plan.encoder),
        options: plan.options.clone(),
        coding: plan.coding,
        holder: holder.clone(),
        // Failures are counted by requests, and the same rows are one, whoever asks for them.
        fingerprint: RequestFingerprint {
            request: plan.tag.as_str().to_owned(),
            ..plan.fingerprint.clone()
        },
        releases: Arc::clone(&app.core.releases),
        workers: Arc::clone(&app.core.workers),
    };
    // The request's span goes along, so that the log lines of a worker have the request's id.
    match app.core.workers.drive(holder.clone(), make(job).in_current_span()).await {
        Ok(rendered) => rendered.map_err(|failure| match failure {
            RenderError::Read(failure) => failure.into(),
            RenderError::Encode(GuestError::Input(cause)) | RenderError::Transform(cause) => {
                transform_failure::remember(&app.bodies.failures, asked, &cause);
                transform_failure::refuse_rows(&request.pairs, cause)
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
pub(crate) struct RowsToEncode {
    pub(crate) schema: SchemaRef,
    pub(crate) counts: RowCounts,
    pub(crate) batches: ComputedRows,
}

/// Rows that an encoder wrote.
pub(crate) struct EncodedRows {
    pub(crate) body: EncodedBody,
    /// As far as they are known before the first byte.
    pub(crate) counts: RowCounts,
    /// Number of rows that the encoder was given so far.
    pub(crate) sent_rows: Arc<AtomicU64>,
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
        let (workers, holder, coding) =
            (Arc::clone(&self.workers), self.holder.clone(), self.coding);
        let EncodedRows { body, counts, .. } = self.encode().await?;
        let content = body::apply_coding(&workers, &holder, coding, body)
            .await
            .map_err(RenderError::Compress)?;
        Ok(RenderedBody { content, counts })
    }

    /// Finds the rows, and the places of the instances that make them.
    async fn rows(&self) -> Result<(Option<InstancePlaces>, RowsToEncode), RenderError> {
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
        Ok((places, rows?))
    }

    /// Reads, transforms and encodes.
    async fn encode(self) -> Result<EncodedRows, RenderError> {
        let (places, mut rows) = self.rows().await?;
        let Self { source, encoder, options, holder, .. } = self;
        if encoder.description().codes {
            let schema = Box::pin(source.schema_for(&encoder, &self.reader)).await;
            rows.schema = schema.map_err(RenderError::Read)?;
        }
        let sent_rows = Arc::new(AtomicU64::new(0));
        let sent = Arc::clone(&sent_rows);
        let count = move |batch: &Result<RecordBatch, BoxError>| {
            let rows = batch.as_ref().map_or(0, RecordBatch::num_rows);
            sent.fetch_add(rows as u64, Ordering::Release);
        };
        rows.batches = rows.batches.inspect(count).boxed();
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
        let body = attribute_failure(encoded, self.releases, encoder, self.fingerprint);
        Ok(EncodedRows { body, counts: rows.counts, sent_rows })
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
        let made = rows.chain.start(&self.holder, places, stored.start, shape.enough_rows());
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
