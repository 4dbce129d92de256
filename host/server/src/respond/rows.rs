//! Rows on their way to a body: read, encoded and compressed up to the first chunk in one job of a worker, so that a small
//! response costs two hand-overs between threads. Whatever has to wait meanwhile (a remote store, a full sandbox) holds
//! no worker.

use std::sync::Arc;

use futures::StreamExt;
use tracing::Instrument;
use yearbook_domain::Problem;
use yearbook_domain::problem::Place;
use yearbook_sandbox::{BoxError, EncodeError, OptionValue};
use yearbook_snapshot::{Failure, Scan};

use super::body::{self, Content, Cut};
use crate::error::Error;
use crate::extract::Asked;
use crate::extract::coding::Coding;
use crate::state::AppState;

/// What a response is made of besides its head.
pub(crate) struct Made {
    /// The body, in its coding.
    pub(crate) content: Content,
    /// Row of the snapshot at which the next page begins, when rows remain.
    pub(crate) next: Option<u64>,
}

/// Makes the body of `scan`. What fails up to its first chunk is still an honest status.
///
/// # Errors
/// 422 for what only the guest can judge (contract 1, step 4), 503 when the sandbox is full, 500 for the rest.
pub(crate) async fn make(
    state: &AppState,
    asked: &Asked,
    options: Vec<OptionValue>,
    coding: Option<Coding>,
    scan: impl Future<Output = Result<Scan, Failure>> + Send + 'static,
) -> Result<Made, Error> {
    let (workers, encoder) = (Arc::clone(&state.workers), Arc::clone(&asked.encoder));
    let work = async move {
        let scan = scan.await.map_err(Unmade::Read)?;
        let batches = scan.batches.map(|batch| batch.map_err(|failure| Box::new(failure) as BoxError)).boxed();
        let encoded = encoder.encode(scan.schema, &options, batches).await.map_err(Unmade::Encode)?;
        let content = body::of(&workers, coding, encoded).await.map_err(Unmade::Compress)?;
        Ok(Made { content, next: scan.next })
    };
    // The request's span goes along, so that what is logged on a worker has the request's id.
    match state.workers.drive(work.in_current_span()).await {
        Ok(made) => made.map_err(|unmade: Unmade| unmade.into_error(asked)),
        Err(panicked) => Err(Error::broken("make a response", &panicked)),
    }
}

/// Which step failed.
enum Unmade {
    Read(Failure),
    Encode(EncodeError),
    Compress(Cut),
}

impl Unmade {
    fn into_error(self, asked: &Asked) -> Error {
        match self {
            Self::Read(failure) => failure.into(),
            Self::Encode(EncodeError::UnsupportedSchema(sentence) | EncodeError::InvalidOption(sentence)) => {
                let format = &asked.encoder.description().format;
                let raw = asked.query.format.as_deref();
                let problem = Problem::new(Place::Query, "format", "value_error", format!("Value error, {format}: {sentence}"), raw);
                Error::invalid(problem.with_ctx(serde_json::json!({"error": {}})))
            }
            Self::Encode(EncodeError::Busy { retry_after }) => Error::Busy { retry_after },
            Self::Encode(failure) => Error::broken("encode a response", &failure),
            Self::Compress(cut) => Error::broken("compress a response", &cut),
        }
    }
}
