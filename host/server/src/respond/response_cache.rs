//! The response cache: bodies of small data responses by entity tag and coding. A tag is made of
//! everything that decides the bytes (contract-3-etag), and plugins are pure, so an entry is never
//! wrong: what changes has another tag. Headers are no part of it; keys, quotas and limits come
//! before it.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use yearbook_scan::RowCounts;

use super::EntityTag;
use super::body::BodyContent;
use super::render::RenderedBody;
use crate::error::Error;
use crate::extract::content_coding::ContentCoding;
use crate::settings::ServerSettings;

/// Bytes that an entry takes besides its body: key, counters, allocation.
const ENTRY_BYTES: u64 = 256;

/// Kept bodies.
pub(crate) struct ResponseCache {
    /// None when `server.response_cache_bytes` is 0.
    on: Option<EnabledCache>,
}

/// What the response cache did since the start. Counts are of data requests that were neither
/// refused nor 304.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResponseCacheStats {
    /// Answered from memory, those included that waited for another request to make the same bytes.
    pub hits: u64,
    /// Made anew, or tried to.
    pub misses: u64,
    /// Memory that entries take now, bytes.
    pub bytes: u64,
    /// Entries now.
    pub entries: usize,
}

struct EnabledCache {
    cache: Cache<Key, CachedBody, BodyWeighter>,
    entry_bytes: usize,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// What decides a body's bytes.
type Key = (EntityTag, Option<ContentCoding>);

#[derive(Clone)]
enum CachedBody {
    Whole {
        bytes: Bytes,
        counts: RowCounts,
    },
    /// Longer than an entry may be: whoever asks makes it, and need not wait for others who do.
    TooLong,
    /// It could not be made just now; never stays.
    Failed,
}

#[derive(Clone)]
struct BodyWeighter;

impl Weighter<Key, CachedBody> for BodyWeighter {
    fn weight(&self, _: &Key, kept: &CachedBody) -> u64 {
        ENTRY_BYTES
            + if let CachedBody::Whole { bytes, .. } = kept { bytes.len() as u64 } else { 0 }
    }
}

impl ResponseCache {
    /// As large as the settings say.
    pub(crate) fn new(settings: &ServerSettings) -> Self {
        let (bytes, entry_bytes) =
            (settings.response_cache_bytes, settings.response_cache_entry_bytes);
        // So that each of the cache's parts has room for several of the largest entries.
        let entries = usize::try_from(bytes / (entry_bytes as u64).max(1))
            .unwrap_or(usize::MAX)
            .clamp(1, 1 << 16);
        let on = (bytes > 0).then(|| EnabledCache {
            cache: Cache::with_weighter(entries, bytes, BodyWeighter),
            entry_bytes,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        });
        Self { on }
    }

    /// The body called `tag` in `coding`: from memory, or as `make` makes it. Requests for the same
    /// bytes at the same time wait for one of them to make it.
    ///
    /// # Errors
    /// Those of `make`; one request's error is no other's.
    pub(crate) async fn get<F>(
        &self,
        tag: &EntityTag,
        coding: Option<ContentCoding>,
        make: impl FnOnce() -> F,
    ) -> Result<RenderedBody, Error>
    where
        F: Future<Output = Result<RenderedBody, Error>>,
    {
        // On the heap, and only where there is something to make: a scan and an encoder in the
        // making are large.
        let Some(on) = &self.on else { return Box::pin(make()).await };
        let key = (tag.clone(), coding);
        let found = on.cache.get_value_or_guard_async(&key).await;
        if let Ok(CachedBody::Whole { bytes, counts }) = found {
            on.hits.fetch_add(1, Ordering::Relaxed);
            return Ok(RenderedBody { content: BodyContent::Whole(bytes), counts });
        }
        on.misses.fetch_add(1, Ordering::Relaxed);
        let made = Box::pin(make()).await;
        // When this future is dropped or panics instead, the next who waits takes its place.
        if let Err(place) = found {
            // Whoever was pushed out by others meanwhile is asked for again some day.
            let _ = place.insert(on.to_cached(&made));
            on.cache.remove_if(&key, |kept| matches!(kept, CachedBody::Failed));
        }
        made
    }

    /// What it did so far.
    pub(crate) fn stats(&self) -> ResponseCacheStats {
        self.on.as_ref().map_or_else(ResponseCacheStats::default, |on| ResponseCacheStats {
            hits: on.hits.load(Ordering::Relaxed),
            misses: on.misses.load(Ordering::Relaxed),
            bytes: on.cache.weight(),
            entries: on.cache.len(),
        })
    }
}

impl EnabledCache {
    fn to_cached(&self, made: &Result<RenderedBody, Error>) -> CachedBody {
        match made {
            // Copied: a buffer may have room to spare that nobody counts.
            Ok(RenderedBody { content: BodyContent::Whole(bytes), counts })
                if bytes.len() <= self.entry_bytes =>
            {
                CachedBody::Whole { bytes: Bytes::copy_from_slice(bytes), counts: *counts }
            }
            Ok(_) => CachedBody::TooLong,
            Err(_) => CachedBody::Failed,
        }
    }
}

#[cfg(test)]
mod tests;
