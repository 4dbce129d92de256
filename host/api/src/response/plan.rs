//! The plan of a response with rows: the rows to read, the encoder that writes them, and the tag of
//! the bytes that follow from both. A plan is made before anything is read or charged, and every
//! later step takes it.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use yearbook_domain::metadata_key::AXIS;
use yearbook_domain::{Millis, ReadPlan, Snapshot};
use yearbook_http::content_coding::ContentCoding;
use yearbook_http::{AuthenticatedCaller, EntityTag};
use yearbook_sandbox::{
    OptionValue, PluginEncoder, ReleasePolicy, RequestFingerprint, TransformChain, TransformStep,
};
use yearbook_scan::{ChangesPlan, Reader, RowCounts, RowShape};
use yearbook_storage::StorageFailure;

use super::row_tag;
use crate::request::DataRequest;

/// Rows of one response. Cloning it is cheap.
#[derive(Clone)]
pub(crate) enum RowSource {
    /// Rows of one snapshot.
    Snapshot(Arc<ReadPlan>),
    /// Rows that transforms make of those of one snapshot.
    Transformed(Arc<TransformedRows>),
    /// Rows that changed since a watermark.
    Changes(Arc<ChangesSelection>),
}

/// Rows that transforms make.
pub(crate) struct TransformedRows {
    /// The snapshot whose rows go in.
    pub(crate) input: Arc<Snapshot>,
    /// The request, resolved against the columns that the last transform gives.
    pub(crate) plan: Arc<ReadPlan>,
    /// The transforms with their options.
    pub(crate) steps: Vec<TransformStep>,
    /// The same, planned; with the columns that the shape needs.
    pub(crate) chain: TransformChain,
    /// Shape of what the chain gives.
    pub(crate) shape: RowShape,
    /// Schema of the rows in their shape.
    pub(crate) schema: SchemaRef,
}

/// The changes of one response, and the watermark that a client has reached with them.
pub(crate) struct ChangesSelection {
    /// Rows to read.
    pub(crate) plan: ChangesPlan,
    /// Watermark after the last of these rows.
    pub(crate) watermark: String,
    /// Set where changes remain after the watermark.
    pub(crate) has_more: bool,
    /// The plan's row cap, where it held changes back.
    pub(crate) capped_at: Option<u64>,
}

/// A response that no rule of the host refuses.
pub(crate) struct ResponsePlan {
    /// Rows to read.
    pub(crate) source: RowSource,
    /// Release that writes the rows.
    pub(crate) encoder: Arc<PluginEncoder>,
    /// Options that the client named.
    pub(crate) options: Vec<OptionValue>,
    /// Compression of the body: a function of the request and the encoder alone, never of the
    /// body's size, so that tags hold.
    pub(crate) coding: Option<ContentCoding>,
    /// Entity tag, without the coding.
    pub(crate) tag: EntityTag,
    /// The request, in case the release fails at it.
    pub(crate) fingerprint: RequestFingerprint,
}

impl ResponsePlan {
    /// Plans the response of the release that `request` negotiated.
    pub(crate) fn new(
        request: &DataRequest,
        auth: &AuthenticatedCaller,
        source: RowSource,
        options: Vec<OptionValue>,
    ) -> Self {
        let encoder = Arc::clone(&request.encoder);
        let description = encoder.description();
        let tag = source.entity_tag(&encoder, &options);
        let fingerprint = RequestFingerprint {
            key_id: auth.caller.id().clone(),
            request: tag.as_str().to_owned(),
            datasets: vec![request.name.to_string()],
            default_options: description.parameters.are_default(&options),
        };
        let coding =
            ContentCoding::choose(&request.parts.headers).filter(|_| description.compressible);
        Self { source, encoder, options, coding, tag, fingerprint }
    }

    /// Plans the same response of the fallback release; none where there is no such release. The
    /// plan has a tag of its own, so preconditions are evaluated again.
    pub(crate) fn with_fallback_release(&self, releases: &dyn ReleasePolicy) -> Option<Self> {
        let encoder = releases.fallback_release(&self.encoder)?;
        tracing::warn!(
            format = encoder.description().format,
            digest = encoder.digest().as_str(),
            "the release before tries"
        );
        let tag = self.source.entity_tag(&encoder, &self.options);
        let fingerprint =
            RequestFingerprint { request: tag.as_str().to_owned(), ..self.fingerprint.clone() };
        Some(Self {
            source: self.source.clone(),
            encoder,
            options: self.options.clone(),
            // Both releases have the same description.
            coding: self.coding,
            tag,
            fingerprint,
        })
    }
}

impl RowSource {
    /// The plan of rows of one snapshot, as they are or transformed.
    pub(crate) fn read_plan(&self) -> Option<&ReadPlan> {
        match self {
            Self::Snapshot(plan) => Some(plan),
            Self::Transformed(rows) => Some(&rows.plan),
            Self::Changes(_) => None,
        }
    }

    /// Transforms that make the rows.
    pub(crate) fn transforms(&self) -> &[TransformStep] {
        if let Self::Transformed(rows) = self { &rows.steps } else { &[] }
    }

    /// Schema of the batches. No I/O.
    ///
    /// # Errors
    /// [`StorageFailure`] where the plan and its snapshot do not fit, which is a bug.
    pub(crate) fn schema(&self) -> Result<SchemaRef, StorageFailure> {
        match self {
            Self::Snapshot(plan) => Reader::schema(plan),
            Self::Transformed(rows) => Ok(Arc::clone(&rows.schema)),
            Self::Changes(selection) => Ok(selection.plan.schema()),
        }
    }

    /// Title of the dataset, where its publisher gave one.
    pub(crate) fn title(&self) -> Option<&str> {
        self.read_plan()?.snapshot.title.as_deref()
    }

    /// Time that conditions on dates compare with; none: such conditions are ignored.
    pub(crate) fn modified(&self) -> Option<Millis> {
        Some(self.read_plan()?.snapshot.created_at)
    }

    /// Returns whether the response cache holds bodies of these rows. Each client reads changes
    /// once.
    pub(crate) fn is_cacheable(&self) -> bool {
        self.read_plan().is_some()
    }

    /// Entity tag of these rows as `encoder` writes them.
    fn entity_tag(&self, encoder: &PluginEncoder, options: &[OptionValue]) -> EntityTag {
        let (description, digest) = (encoder.description(), encoder.digest());
        match self {
            Self::Snapshot(plan) => row_tag::of_rows(plan, &[], None, description, digest, options),
            Self::Transformed(rows) => {
                let told = rows.chain.input_schema().map(|schema| schema.metadata());
                let axis = told.and_then(|told| told.get(AXIS)).map(String::as_str);
                row_tag::of_rows(&rows.plan, &rows.steps, axis, description, digest, options)
            }
            Self::Changes(selection) => {
                row_tag::of_changes(&selection.plan, description, digest, options)
            }
        }
    }

    /// Row counts for an answer to HEAD, as far as they are known without reading rows.
    ///
    /// # Errors
    /// [`StorageFailure`] that names the stored file.
    pub(crate) async fn row_counts(&self, reader: &Reader) -> Result<RowCounts, StorageFailure> {
        match self {
            Self::Snapshot(plan) => reader.row_counts(plan).await,
            // Only making all rows tells.
            Self::Transformed(_) | Self::Changes(_) => Ok(RowCounts::default()),
        }
    }
}
