//! Outcomes of an encoder's `open` in memory.

use std::sync::Arc;

use quick_cache::sync::{Cache, DefaultLifecycle, PlaceholderGuard};
use quick_cache::{DefaultHashBuilder, UnitWeighter};

/// Outcomes in memory: an accepted one takes some 100 bytes, a sentence at most a few hundred more.
const ENTRIES: usize = 8192;

/// Outcomes by digest, schema and options.
pub(crate) struct OpenCheckCache(pub(super) Cache<[u8; 32], OpenOutcome>);

/// The answer of an encoder to a schema with options.
#[derive(Clone)]
pub(super) enum OpenOutcome {
    /// It takes both.
    Accepted,
    /// With its sentence, for a 422.
    Declined(Arc<str>),
}

/// The cache's own hold on a key: other requests for the same outcome wait while it lives.
pub(super) type OpenCheckSlot<'a> = PlaceholderGuard<
    'a,
    [u8; 32],
    OpenOutcome,
    UnitWeighter,
    DefaultHashBuilder,
    DefaultLifecycle<[u8; 32], OpenOutcome>,
>;

impl Default for OpenCheckCache {
    fn default() -> Self {
        Self(Cache::new(ENTRIES))
    }
}
