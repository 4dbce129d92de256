//! Step 10 of a request: batches in, bytes out, through fresh instances. The first chunk is
//! awaited, so that what fails before any byte is still an honest status; afterwards the client's
//! reading pace drives the scan, and a client that goes away ends both.

mod body_channel;
mod coalesce;
pub(crate) mod description;
mod error;
mod first_bytes;
pub(crate) mod instance;
mod instance_pool;
mod notes;
mod piece;
mod response_driver;
mod split_retry;

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use bytes::Bytes;
use futures::stream::BoxStream;
use tokio::runtime::Handle;
use tracing::Instrument;
use yearbook_domain::Digest;
use yearbook_shares::{AcquireError, CallerShare, SlotPermit};

use crate::admission::SlowPluginLimiter;
use crate::error::BoxError;
use crate::guest::{EncoderPre, GuestHost};
use crate::observe::{CallMetrics, PluginMetrics, ResponseMetrics};
use crate::options::OptionValue;

pub use self::body_channel::{EncodedChunk, EncodedChunks};
pub(crate) use self::coalesce::concat;
pub use self::description::EncoderDescription;
pub use self::error::{EncodeError, TruncatedBody};
use self::first_bytes::FirstBytes;
pub(crate) use self::instance::EncoderInstance;
pub(crate) use self::notes::Notes;
pub(crate) use self::piece::EncodedPiece;

/// Rows of a response: batches of one schema.
pub type Batches = BoxStream<'static, Result<RecordBatch, BoxError>>;

/// A response body.
pub enum EncodedBody {
    /// All of it, where it fitted in one part.
    Whole(Bytes),
    /// Its chunks, where there are more.
    Stream(EncodedChunks),
}

/// A loaded output format.
pub struct PluginEncoder {
    pub(crate) host: Arc<GuestHost>,
    pub(crate) pre: EncoderPre,
    pub(crate) description: EncoderDescription,
    pub(crate) digest: Digest,
    pub(crate) bytes: u64,
    pub(crate) metrics: Arc<PluginMetrics>,
    pub(crate) limiter: Arc<SlowPluginLimiter>,
}

/// A place among the sandbox's instances, kept for one response. Dropping it gives the place back.
pub struct InstanceAdmission {
    permit: SlotPermit,
    /// On whose account the response holds what it holds.
    holder: CallerShare,
    /// Runtime for the rest of a response that does not fit in one chunk.
    runtime: Handle,
}

impl PluginEncoder {
    /// The plugin's description, checked.
    #[must_use]
    pub fn description(&self) -> &EncoderDescription {
        &self.description
    }

    /// SHA-256 of the component.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Counters of this release.
    #[must_use]
    pub fn metrics(&self) -> &PluginMetrics {
        &self.metrics
    }

    /// Returns whether half of the sandbox's instances are free: room for work that no client waits
    /// for.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.host.admission.has_spare_capacity()
    }

    /// Number of the sandbox's instances that are free now, for all plugins together.
    #[must_use]
    pub fn free_instances(&self) -> usize {
        self.host.admission.instances.free()
    }

    /// Waits for a place among the instances, a short while at most. Call it on a tokio runtime;
    /// what is done with the place afterwards may run anywhere.
    ///
    /// # Errors
    /// [`EncodeError::Busy`] when none comes free.
    pub async fn admit(&self) -> Result<InstanceAdmission, EncodeError> {
        self.admit_for(&CallerShare::default()).await
    }

    /// As [`PluginEncoder::admit`], with a place of the share of `holder`.
    ///
    /// # Errors
    /// [`EncodeError::Busy`] when none comes free, [`EncodeError::ShareUsedUp`] when some are and
    /// the share is used up.
    pub async fn admit_for(&self, holder: &CallerShare) -> Result<InstanceAdmission, EncodeError> {
        let runtime =
            Handle::try_current().map_err(|error| EncodeError::Host(error.to_string()))?;
        match self.host.admission.admit(&self.metrics, holder).await {
            Ok(permit) => Ok(InstanceAdmission { permit, holder: holder.clone(), runtime }),
            Err(denied) => {
                self.metrics.record_refusal();
                Err(match denied {
                    AcquireError::AllTaken => EncodeError::Busy { retry_after: 1 },
                    AcquireError::ShareExhausted => EncodeError::ShareUsedUp,
                })
            }
        }
    }

    /// Waits for a place and encodes: [`PluginEncoder::admit`], then
    /// [`PluginEncoder::encode_admitted`].
    ///
    /// # Errors
    /// As for both.
    pub async fn encode(
        self: &Arc<Self>,
        schema: SchemaRef,
        chosen: &[OptionValue],
        batches: Batches,
    ) -> Result<EncodedBody, EncodeError> {
        self.encode_for(&CallerShare::default(), schema, chosen, batches).await
    }

    /// As [`PluginEncoder::encode`], on the account of `holder`: its instances and the bytes that
    /// wait for its client count in its shares.
    ///
    /// # Errors
    /// As for [`PluginEncoder::admit_for`] and [`PluginEncoder::encode_admitted`].
    pub async fn encode_for(
        self: &Arc<Self>,
        holder: &CallerShare,
        schema: SchemaRef,
        chosen: &[OptionValue],
        batches: Batches,
    ) -> Result<EncodedBody, EncodeError> {
        let admission = self.admit_for(holder).await?;
        self.encode_admitted(admission, schema, chosen, batches).await
    }

    /// Encodes `batches` of `schema`. `chosen` are the options that the client named; the rest are
    /// defaults. Returns once the first bytes are made. Where it is polled on a worker's own
    /// thread, all of a response that fits in one part is made there and then, without another
    /// thread.
    ///
    /// # Errors
    /// [`EncodeError`], before any byte is sent. Dropping the future, or the stream that it
    /// returns, stops the scan and gives the instances back.
    pub async fn encode_admitted(
        self: &Arc<Self>,
        admission: InstanceAdmission,
        schema: SchemaRef,
        chosen: &[OptionValue],
        batches: Batches,
    ) -> Result<EncodedBody, EncodeError> {
        let account = ResponseMetrics::begin(&self.metrics, &self.host.dump_target);
        let span = account.span();
        match self
            .first_bytes(admission, &account.work(), schema, chosen, batches)
            .instrument(span.clone())
            .await
        {
            Ok(FirstBytes::Whole(bytes)) => {
                account.first_bytes();
                account.complete();
                Ok(EncodedBody::Whole(bytes))
            }
            Ok(FirstBytes::Streaming { response, chunk, chunks, runtime }) => {
                account.first_bytes();
                // The span goes along, so that a cut is logged with the request's id.
                response.spawn(&runtime, chunk, account, span);
                Ok(EncodedBody::Stream(chunks))
            }
            Err(error) => {
                account.finish_failed(&error);
                Err(error)
            }
        }
    }

    /// Opens a response in an instance of the share of `holder` and drops it: a refusal by `open`
    /// must be known where no body is made (contract-3-head-declined). `chosen` are the options
    /// that the client named.
    ///
    /// # Errors
    /// The error of [`PluginEncoder::encode`] before its first byte, as far as `open` decides it.
    pub async fn check_open(
        self: &Arc<Self>,
        holder: &CallerShare,
        schema: SchemaRef,
        chosen: &[OptionValue],
    ) -> Result<(), EncodeError> {
        let InstanceAdmission { permit, .. } = self.admit_for(holder).await?;
        let options = self.description.complete(chosen);
        let work = CallMetrics::new(Arc::clone(&self.metrics), self.host.dump_target.clone());
        let encoder = Arc::clone(self);
        self.run_on_worker(holder, move || {
            EncoderInstance::open(&encoder, permit, work, &schema, &options).map(drop)
        })
        .await
    }

    async fn run_on_worker<T: Send + 'static>(
        &self,
        holder: &CallerShare,
        job: impl FnOnce() -> Result<T, EncodeError> + Send + 'static,
    ) -> Result<T, EncodeError> {
        let turn = self.limiter.acquire().await;
        let (busy, limiter) = (self.host.admission.start_job(), Arc::clone(&self.limiter));
        let job = move || {
            let (_turn, _busy) = (turn, busy);
            let made = job();
            if let Err(EncodeError::Trapped { trap, .. }) = &made {
                limiter.stopped(trap);
            }
            made
        };
        self.host
            .admission
            .workers
            .run_for(holder, job)
            .await
            .map_err(|panicked| EncodeError::Host(panicked.to_string()))
            .flatten()
    }
}
