//! The response cache: bodies of small data responses by entity tag and coding. A tag is made of
//! everything that decides the bytes (contract-3-etag), and plugins are pure, so an entry is never
//! wrong: other bytes have another tag. Headers are no part of it. Keys, quotas and limits come
//! before it.

use bytes::Bytes;
use quick_cache::sync::{Cache, DefaultLifecycle, PlaceholderGuard};
use quick_cache::{DefaultHashBuilder, Weighter};
use yearbook_counters::{Counter, Metric as _, ReadingSlot, counters};
use yearbook_http::body::BodyContent;
use yearbook_http::content_coding::ContentCoding;
use yearbook_http::settings::ServerSettings;
use yearbook_http::{EntityTag, Error};
use yearbook_scan::RowCounts;

/// Bytes that an entry takes besides its body: key, counters, allocation.
const ENTRY_BYTES: u64 = 256;

/// A body, and the counts that only the scan knows.
pub(crate) struct RenderedBody {
    /// The body, in its coding.
    pub(crate) content: BodyContent,
    /// Number of its rows, and the row that begins the next page when rows remain.
    pub(crate) counts: RowCounts,
}

/// Bodies in memory.
pub(crate) struct ResponseCache {
    /// None when `server.response_cache_bytes` is 0.
    enabled: Option<EnabledCache>,
}

/// The answer of the cache.
pub(crate) enum CacheLookup<'a> {
    /// The body.
    Hit(RenderedBody),
    /// No body. The slot takes the outcome of rendering it.
    Miss(CacheSlot<'a>),
}

/// The place of a body that is being rendered. While it lives, other requests for the same bytes
/// wait; when it is dropped unfilled, the next of them takes its place. None where nobody waits:
/// the cache is off, or the body is longer than an entry may be.
pub(crate) struct CacheSlot<'a>(Option<(&'a EnabledCache, Key, Guard<'a>)>);

/// The cache's own hold on a key.
type Guard<'a> = PlaceholderGuard<
    'a,
    Key,
    CachedBody,
    BodyWeighter,
    DefaultHashBuilder,
    DefaultLifecycle<Key, CachedBody>,
>;

counters! {
    /// Counters of looks into the response cache.
    #[derive(Debug, Default)]
    struct ResponseCacheMetrics;

    /// Counts of the response cache since the start. They are of data requests that were neither
    /// refused nor 304.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ResponseCacheStats {
        /// Answered from memory, those included that waited for another request to make the same
        /// bytes.
        hits: Counter,
        /// Made anew, or tried to.
        misses: Counter,
        /// Memory that entries take now, bytes.
        bytes: ReadingSlot<u64>,
        /// Entries now.
        entries: ReadingSlot<usize>,
    }
}

/// A cache with room for bodies.
pub(crate) struct EnabledCache {
    bodies: Cache<Key, CachedBody, BodyWeighter>,
    entry_bytes: usize,
    metrics: ResponseCacheMetrics,
}

/// Everything that decides a body's bytes.
type Key = (EntityTag, Option<ContentCoding>);

#[derive(Clone)]
enum CachedBody {
    Whole {
        bytes: Bytes,
        counts: RowCounts,
    },
    /// Longer than an entry may be: each request renders it, without waiting for others.
    TooLong,
    /// A failure, which never stays.
    Failed,
}

#[derive(Clone)]
struct BodyWeighter;

impl Weighter<Key, CachedBody> for BodyWeighter {
    fn weight(&self, _: &Key, cached: &CachedBody) -> u64 {
        ENTRY_BYTES
            + if let CachedBody::Whole { bytes, .. } = cached { bytes.len() as u64 } else { 0 }
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
        let enabled = (bytes > 0).then(|| EnabledCache {
            bodies: Cache::with_weighter(entries, bytes, BodyWeighter),
            entry_bytes,
            metrics: ResponseCacheMetrics::default(),
        });
        Self { enabled }
    }

    /// Looks up the body called `tag` in `coding`. Requests for the same bytes at the same time
    /// wait here for one of them, which gets the slot to fill.
    pub(crate) async fn lookup(
        &self,
        tag: &EntityTag,
        coding: Option<ContentCoding>,
    ) -> CacheLookup<'_> {
        let Some(cache) = &self.enabled else { return CacheLookup::Miss(CacheSlot(None)) };
        let key = (tag.clone(), coding);
        match cache.bodies.get_value_or_guard_async(&key).await {
            Ok(CachedBody::Whole { bytes, counts }) => {
                cache.metrics.hits.increment();
                CacheLookup::Hit(RenderedBody { content: BodyContent::Whole(bytes), counts })
            }
            Ok(CachedBody::TooLong | CachedBody::Failed) => {
                cache.metrics.misses.increment();
                CacheLookup::Miss(CacheSlot(None))
            }
            Err(guard) => {
                cache.metrics.misses.increment();
                CacheLookup::Miss(CacheSlot(Some((cache, key, guard))))
            }
        }
    }

    /// Counts since the start.
    pub(crate) fn stats(&self) -> ResponseCacheStats {
        self.enabled.as_ref().map_or_else(ResponseCacheStats::default, |cache| ResponseCacheStats {
            bytes: cache.bodies.weight(),
            entries: cache.bodies.len(),
            ..cache.metrics.read()
        })
    }
}

impl CacheSlot<'_> {
    /// Ends the miss with its `outcome`. One request's error is no other's: the next that waits
    /// renders again. Dropping the slot instead does the same.
    pub(crate) fn fill(self, outcome: &Result<RenderedBody, Error>) {
        let Some((cache, key, guard)) = self.0 else { return };
        // An entry that others pushed out meanwhile is rendered again some day.
        let _ = guard.insert(cache.to_cached(outcome));
        cache.bodies.remove_if(&key, |cached| matches!(cached, CachedBody::Failed));
    }
}

impl EnabledCache {
    fn to_cached(&self, outcome: &Result<RenderedBody, Error>) -> CachedBody {
        match outcome {
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
