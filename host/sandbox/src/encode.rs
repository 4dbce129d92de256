//! Step 10 of a request: batches in, bytes out, through fresh instances. The first chunk is
//! awaited, so that what fails before any byte is still an honest status; afterwards the client's
//! reading pace drives the scan, and a client that goes away ends both.

mod body_channel;
mod coalesce;
mod codelists;
pub(crate) mod description;
mod first_bytes;
pub(crate) mod instance;
mod instance_pool;
mod linked;
mod notes;
mod part;
mod response_driver;
mod split_retry;

use std::ops::Deref;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use bytes::Bytes;
use futures::stream::BoxStream;
use tokio::runtime::Handle;
use tracing::Instrument;
use yearbook_engine::BoxError;
use yearbook_shares::CallerShare;

use crate::admission::InstancePlaces;
use crate::guest_error::GuestError;
use crate::observe::ResponseMetrics;
use crate::options::OptionValue;
use crate::plugin_head::PluginHead;

pub use self::body_channel::{EncodedChunk, EncodedChunks, TruncatedBody};
pub(crate) use self::coalesce::concat;
pub(crate) use self::codelists::{CODES, is_measured, lend};
pub use self::codelists::{with_codes, with_labelled_codes};
pub use self::description::EncoderDescription;
use self::first_bytes::FirstBytes;
pub(crate) use self::instance::EncoderInstance;
pub(crate) use self::linked::{LinkedEncoder, ResponseSize};
pub(crate) use self::notes::Notes;
pub(crate) use self::part::EncodedPart;

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
    pub(crate) head: PluginHead,
    pub(crate) linked: LinkedEncoder,
    pub(crate) description: EncoderDescription,
}

impl Deref for PluginEncoder {
    type Target = PluginHead;

    fn deref(&self) -> &PluginHead {
        &self.head
    }
}

impl PluginEncoder {
    /// The plugin's description, checked.
    #[must_use]
    pub fn description(&self) -> &EncoderDescription {
        &self.description
    }

    /// Encodes `batches` of `schema` on the account of `holder`, in whose shares its instances and
    /// the bytes that wait for its client count. `chosen` are the options that the client named;
    /// the rest are defaults. Waits for a place among the instances, a short while at most, and
    /// returns once the first bytes are made. Where it is polled on a worker's own thread, all of a
    /// response that fits in one part is made there and then, without another thread.
    ///
    /// # Errors
    /// [`GuestError`], before any byte is sent: [`GuestError::Busy`] when no place comes free,
    /// [`GuestError::ShareUsedUp`] when some are and the share is used up. Dropping the future, or
    /// the stream that it returns, stops the scan and gives the instances back.
    pub async fn encode(
        self: &Arc<Self>,
        holder: &CallerShare,
        schema: SchemaRef,
        chosen: &[OptionValue],
        batches: Batches,
    ) -> Result<EncodedBody, GuestError> {
        let places = self.admit(holder, 0).await?;
        self.encode_admitted(places, holder, schema, chosen, batches).await
    }

    /// Waits for a place among the instances, a short while at most, and for `others` more for the
    /// transforms before this encoder ([`crate::TransformChain::places`]): all of them or none.
    ///
    /// # Errors
    /// [`GuestError::Busy`] when they do not come free, [`GuestError::ShareUsedUp`] when they are
    /// and the share of `holder` is used up.
    pub async fn admit(
        &self,
        holder: &CallerShare,
        others: usize,
    ) -> Result<InstancePlaces, GuestError> {
        self.admit_places(holder, others.saturating_add(1)).await
    }

    /// As [`PluginEncoder::encode`], in a place of [`PluginEncoder::admit`].
    ///
    /// # Errors
    /// As [`PluginEncoder::encode`].
    pub async fn encode_admitted(
        self: &Arc<Self>,
        mut places: InstancePlaces,
        holder: &CallerShare,
        schema: SchemaRef,
        chosen: &[OptionValue],
        batches: Batches,
    ) -> Result<EncodedBody, GuestError> {
        // For the rest of a response that does not fit in one chunk.
        let runtime = Handle::try_current().map_err(|error| GuestError::Host(error.to_string()))?;
        let permit = places.take()?;
        drop(places);
        let account = ResponseMetrics::begin(&self.metrics, &self.host.dump_target);
        match self
            .first_bytes(permit, holder, &account.work(), schema, chosen, batches)
            .instrument(account.own_span())
            .await
        {
            Ok(FirstBytes::Whole(bytes)) => {
                account.first_bytes();
                account.complete();
                Ok(EncodedBody::Whole(bytes))
            }
            Ok(FirstBytes::Streaming { response, chunk, chunks }) => {
                account.first_bytes();
                // The span goes along, so that a cut is logged with the request's id.
                let span = account.span();
                response.spawn(&runtime, chunk, account, span);
                Ok(EncodedBody::Stream(chunks))
            }
            Err(error) => {
                account.finish_failed(&error);
                Err(error)
            }
        }
    }

    /// The first step of [`PluginEncoder::encode`] alone: opens a response in an instance of the
    /// share of `holder` and drops it. A refusal by `open` must be known where no body is made
    /// (contract-3-head-declined).
    ///
    /// # Errors
    /// As for [`PluginEncoder::encode`], as far as `open` decides it.
    pub async fn check_open(
        self: &Arc<Self>,
        holder: &CallerShare,
        schema: SchemaRef,
        chosen: &[OptionValue],
    ) -> Result<(), GuestError> {
        let permit = self.admit(holder, 0).await?.take()?;
        let options = self.description.parameters.complete(chosen);
        let work = self.call_metrics(self.host.dump_target.clone());
        let encoder = Arc::clone(self);
        self.run_on_worker(holder, move || {
            EncoderInstance::open(&encoder, ResponseSize::Small, permit, work, &schema, &options)
                .map(drop)
        })
        .await
    }
}
