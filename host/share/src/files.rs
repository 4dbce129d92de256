//! `/share/files/{digest}`: stored files by signed address (contract-12-urls). The signature stands
//! in place of a key; the key that it names must still work (contract-12-403).

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use http::Uri;
use yearbook_cache::Cache;
use yearbook_catalog::Caller;
use yearbook_domain::{Digest, Plan, StoredFile};
use yearbook_http::bulk_headers::BulkHead;
use yearbook_http::byte_range::{ByteRange, requested_range};
use yearbook_http::client_address::{ClientAddress, address_block_of};
use yearbook_http::reservation::Patience;
use yearbook_http::{Error, body};

use super::ShareRefusal;
use super::file_address::SignedAddress;
use super::metrics::ShareOperation;
use crate::ShareState;

/// Sizes of files that are remembered: a client reads one file in some ten ranges, and the store
/// need not be asked for its size each time. A megabyte.
const MAX_SIZES: u64 = 8_192;

/// Sizes of files by digest, which never change. Those of damaged files are not remembered: each
/// was found to be the published one.
pub(super) struct FileSizes(Cache<Digest, u64>);

impl Default for FileSizes {
    fn default() -> Self {
        Self(Cache::new(MAX_SIZES))
    }
}

impl FileSizes {
    /// Returns the stored file with this digest; none where there is none.
    async fn find(&self, app: &ShareState, sha256: Digest) -> Result<Option<StoredFile>, Error> {
        if let Some(bytes) = self.0.get(&sha256).await {
            return Ok(Some(StoredFile { sha256, bytes }));
        }
        let found = app.core.storage.find(sha256).await?;
        if let Some(file) = &found {
            self.0.insert(sha256, file.bytes).await;
        }
        Ok(found)
    }
}

/// `GET /share/files/{digest}`.
pub(super) async fn download(State(app): State<Arc<ShareState>>, request: Request) -> Response {
    app.metrics.count(ShareOperation::File);
    let client = ClientAddress::from_request(&request);
    match authorize(&app, request.uri().clone()).await {
        Ok((address, caller)) => match send(&app, request, address, &caller).await {
            Ok(response) => response,
            Err(error) => error.into_response(),
        },
        // Whoever tries addresses is bounded like whoever tries keys.
        Err(error @ Error::Room(_)) => {
            let refused = app.core.burst_limiter.take_for_client(client);
            refused.unwrap_or_else(|| error.into_response())
        }
        Err(error) => error.into_response(),
    }
}

/// Returns the address and the holder of its key.
///
/// # Errors
/// 403 for an address that is not ours, that has ended, or whose key does not work any more.
async fn authorize(app: &ShareState, uri: Uri) -> Result<(SignedAddress, Caller), Error> {
    let forbidden = || Error::from(ShareRefusal::AddressForbidden);
    let address = app.signer.verify(uri.path(), uri.query().unwrap_or_default());
    let address = address.ok_or_else(forbidden)?;
    if address.expires.saturating_mul(1000) <= yearbook_catalog::clock::now().0 {
        return Err(forbidden());
    }
    let caller = app.core.keys.caller_of_signed_id(&address.key).await?;
    let caller = caller.filter(|caller| caller.plan() == Plan::Enterprise).ok_or_else(forbidden)?;
    app.core.keys.note_use(&caller);
    Ok((address, caller))
}

async fn send(
    app: &Arc<ShareState>,
    request: Request,
    address: SignedAddress,
    caller: &Caller,
) -> Result<Response, Error> {
    let holder =
        app.core.open_responses.holder(Some(caller.id().as_str()), address_block_of(&request));
    let (parts, _) = request.into_parts();
    // Gone only where an operator removed it by hand: `gc` waits for the last address.
    let found = app.sizes.find(app, address.digest).await?;
    let file = found.ok_or_else(|| Error::from(ShareRefusal::AddressForbidden))?;
    let head = BulkHead::for_share(&file);
    if let Some(response) = head.without_body(&parts)? {
        return Ok(response);
    }
    let range = requested_range(&parts.headers, &head, None)?;
    let open = app.core.open_responses.open(&holder, app.core.patience(Patience::Queue)).await?;
    let bytes = range.as_ref().map_or(0..file.bytes, |ByteRange(range)| range.clone());
    let holder = open.holder().clone();
    // An eighth, so that many downloads at once get smaller chunks long before there is no room.
    let room = move || (holder.room() / 8) as u64;
    let mut chunks = app.core.storage.stream(&file, bytes, room);
    // Awaited, so that a missing or damaged file is still an honest status.
    let first = chunks.next().await.transpose()?;
    let rest = chunks.map(|chunk| chunk.map_err(body::BodyError::new)).boxed();
    let counted = Arc::clone(app);
    let chunks = futures::stream::iter(first.map(Ok)).chain(rest).inspect(move |chunk| {
        if let Ok(chunk) = chunk {
            counted.metrics.add_file_bytes(chunk.len() as u64);
        }
    });
    let body = Body::from_stream(body::log_errors(chunks.boxed()));
    let mut response = match range {
        Some(range) => head.partial(&range, body),
        None => head.whole(body),
    };
    response.extensions_mut().insert(open);
    Ok(response)
}
