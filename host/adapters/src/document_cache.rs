//! Answers from free facts in memory (contract-17-kept), documents and selections of rows: by
//! adapter, request and the answers to its questions. At another revision the questions are asked
//! again, and equal answers keep the answer without a call of its adapter. Where room is wanted,
//! whoever has most of it gives some: no client can push out what others have asked for.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use sha2::{Digest as _, Sha256};
use yearbook_catalog::CatalogCache;
use yearbook_counters::{Counter, Metric as _};
use yearbook_http::metrics::RoomCache;
use yearbook_http::{EntityTag, Error};
use yearbook_sandbox::adapter::{Rows, Wrapping};
use yearbook_sandbox::catalogue::{Fact, Question};
use yearbook_sandbox::{PluginAdapter, PluginRegistry, PluginSet, adapter};

use crate::document::PreparedDocument;

/// Bytes that an entry takes besides document and questions: keys, counters, allocations.
const ENTRY_BYTES: usize = 1_024;
/// The part of the memory that one document may take.
const LARGEST: usize = 8;

/// Everything that decides what answers a request, as a hash.
pub(crate) type DocumentKey = [u8; 32];

/// State of the service that answers to questions are true for.
#[derive(Clone)]
pub(crate) struct Revision {
    catalogue: i64,
    plugins: Weak<PluginSet>,
}

/// An answer, and what it is true for.
pub(crate) struct KeptAnswer {
    /// The answer.
    pub(crate) answer: CachedAnswer,
    /// All that its adapter asked.
    pub(crate) questions: Vec<Question>,
    /// Digest of the answers.
    pub(crate) facts: [u8; 32],
}

/// Answer of an adapter that can be given again.
pub(crate) enum CachedAnswer {
    /// A document.
    Document(Box<PreparedDocument>),
    /// Rows that the host sends.
    Rows(Box<KeptRows>),
}

/// A selection of rows, and the bytes around the last rows that were sent for it.
pub(crate) struct KeptRows {
    /// The selection.
    pub(crate) rows: Rows,
    /// All that the adapter was told.
    pub(crate) facts: Arc<Vec<Fact>>,
    /// Bytes of `facts`, as they are weighed.
    pub(crate) fact_bytes: usize,
    /// Bytes around the rows.
    pub(crate) frame: KeptFrame,
}

/// Bytes around the rows of one response. Its tag decides them.
#[derive(Clone)]
pub(crate) struct KeptFrame {
    /// Tag of the response.
    pub(crate) tag: EntityTag,
    /// The bytes.
    pub(crate) wrapping: Wrapping,
}

/// The answers.
pub(crate) struct AdapterDocumentCache {
    entries: Mutex<Entries>,
    bytes: usize,
    hits: Counter,
    misses: Counter,
}

#[derive(Default)]
struct Entries {
    all: HashMap<DocumentKey, Entry>,
    owners: HashMap<Arc<str>, Owner>,
    bytes: usize,
}

struct Entry {
    kept: Arc<KeptAnswer>,
    revision: Revision,
    owner: Arc<str>,
    bytes: usize,
    /// Set where it was asked for since room was last wanted.
    was_used: bool,
}

/// Documents that one client had made: a key, or an address without one.
#[derive(Default)]
struct Owner {
    bytes: usize,
    /// Oldest first.
    keys: VecDeque<DocumentKey>,
}

impl Revision {
    /// The present one.
    pub(crate) fn current(catalogue: &CatalogCache, plugins: &PluginRegistry) -> Self {
        let plugins = Arc::downgrade(&plugins.current());
        Self { catalogue: catalogue.revision(), plugins }
    }

    fn is(&self, other: &Self) -> bool {
        self.catalogue == other.catalogue && self.plugins.ptr_eq(&other.plugins)
    }
}

/// Returns the key of `request` to `plugin`.
///
/// # Errors
/// 500 where the request is no JSON, which is a bug.
pub(crate) fn key(
    plugin: &PluginAdapter,
    request: &adapter::Request,
) -> Result<DocumentKey, Error> {
    let adapter::Request { base, path, query, headers, .. } = request;
    let parts = (plugin.digest(), base, path, query, headers);
    let text = serde_json::to_vec(&parts)
        .map_err(|failure| Error::internal("name a document", &failure))?;
    Ok(Sha256::digest(&text).into())
}

impl AdapterDocumentCache {
    /// With this much memory; 0 keeps nothing.
    pub(crate) fn new(bytes: usize) -> Self {
        let (hits, misses) = (Counter::default(), Counter::default());
        Self { entries: Mutex::default(), bytes, hits, misses }
    }

    /// The answer called `key`, and whether it is known to be true for `revision`.
    pub(crate) fn get(
        &self,
        key: &DocumentKey,
        revision: &Revision,
    ) -> Option<(Arc<KeptAnswer>, bool)> {
        let mut entries = self.lock();
        entries.all.get_mut(key).map(|entry| {
            entry.was_used = true;
            (Arc::clone(&entry.kept), entry.revision.is(revision))
        })
    }

    /// Counts a request that was answered from memory, or was not.
    pub(crate) fn count(&self, was_kept: bool) {
        let counter = if was_kept { &self.hits } else { &self.misses };
        counter.increment();
    }

    /// Notes that the answer called `key` is true for `revision` too.
    pub(crate) fn renew(&self, key: &DocumentKey, kept: &Arc<KeptAnswer>, revision: Revision) {
        if let Some(entry) = self.lock().all.get_mut(key)
            && Arc::ptr_eq(&entry.kept, kept)
        {
            entry.revision = revision;
        }
    }

    /// Keeps an answer that a request of `owner` had made.
    pub(crate) fn insert(
        &self,
        key: DocumentKey,
        owner: &str,
        kept: Arc<KeptAnswer>,
        revision: Revision,
    ) {
        let bytes = kept.bytes();
        if bytes > self.bytes / LARGEST {
            return;
        }
        let mut entries = self.lock();
        entries.remove(&key);
        let owner: Arc<str> = owner.into();
        let of = entries.owners.entry(Arc::clone(&owner)).or_default();
        of.bytes += bytes;
        of.keys.push_back(key);
        entries.bytes += bytes;
        entries.all.insert(key, Entry { kept, revision, owner, bytes, was_used: false });
        while entries.bytes > self.bytes && entries.make_room() {}
    }

    /// Counts of looks since the start, for metrics.
    pub(crate) fn stats(&self) -> RoomCache {
        let bytes = self.lock().bytes as u64;
        let (hits, misses) = (self.hits.read(), self.misses.read());
        RoomCache { name: "documents", hits, misses, bytes }
    }

    /// Nothing under the lock can fail half-way.
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// Has the owner of most bytes give up its oldest document that was not asked for since the
    /// last time. False where there is nothing to give.
    fn make_room(&mut self) -> bool {
        let most = self.owners.values_mut().max_by_key(|owner| owner.bytes);
        let Some(key) = most.and_then(|owner| owner.keys.front().copied()) else { return false };
        match self.all.get_mut(&key) {
            Some(entry) if entry.was_used => {
                entry.was_used = false;
                if let Some(owner) = self.owners.get_mut(&entry.owner) {
                    owner.keys.rotate_left(1);
                }
            }
            _ => self.remove(&key),
        }
        true
    }

    fn remove(&mut self, key: &DocumentKey) {
        let Some(entry) = self.all.remove(key) else { return };
        self.bytes -= entry.bytes;
        if let Some(owner) = self.owners.get_mut(&entry.owner) {
            owner.bytes -= entry.bytes;
            // The oldest as a rule.
            let position = owner.keys.iter().position(|other| other == key);
            position.and_then(|position| owner.keys.remove(position));
            if owner.keys.is_empty() {
                self.owners.remove(&entry.owner);
            }
        }
    }
}

impl KeptAnswer {
    fn bytes(&self) -> usize {
        let (held, text) = match &self.answer {
            CachedAnswer::Document(document) => {
                (document.bytes(), serde_json::to_vec(&self.questions))
            }
            CachedAnswer::Rows(kept) => {
                let spelled = (&self.questions, &kept.rows, &kept.frame.wrapping);
                (kept.fact_bytes, serde_json::to_vec(&spelled))
            }
        };
        ENTRY_BYTES + held + text.map_or(0, |text| text.len())
    }
}

#[cfg(test)]
mod tests;
