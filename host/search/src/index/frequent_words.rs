//! Words that many datasets have, with the score of each: to score fifteen thousand documents takes
//! a millisecond, and the words that do it are few. An index never changes, so neither do they.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::collector::ScoredDocument;
use crate::SearchError;

/// Documents of a word from which on it is kept. Fewer are found in microseconds.
const KEPT_FROM: usize = 256;

/// Memory for words, bytes: some sixty that fifteen thousand documents have.
const MAX_BYTES: u64 = 8 << 20;

/// Number of words for which the cache makes room at first.
const USUAL_WORDS: usize = 64;

/// A word, and all else that decides which documents are found for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct WordKey {
    pub(crate) spelled: String,
    /// A document has it.
    pub(crate) known: bool,
    /// Letters are forgiven.
    pub(crate) correct: bool,
}

/// The words that were asked for recently.
pub(crate) struct FrequentWords(Cache<WordKey, Arc<[ScoredDocument]>, WordBytes>);

#[derive(Clone)]
struct WordBytes;

impl Weighter<WordKey, Arc<[ScoredDocument]>> for WordBytes {
    fn weight(&self, key: &WordKey, found: &Arc<[ScoredDocument]>) -> u64 {
        (key.spelled.len() + size_of_val::<[ScoredDocument]>(found)) as u64
    }
}

impl FrequentWords {
    /// Creates an empty cache, for one index.
    pub(crate) fn new() -> Self {
        Self(Cache::with_weighter(USUAL_WORDS, MAX_BYTES, WordBytes))
    }

    /// Returns the documents of a word: from memory, or as `find` finds them.
    pub(crate) fn get_or_find(
        &self,
        key: WordKey,
        find: impl FnOnce() -> Result<Vec<ScoredDocument>, SearchError>,
    ) -> Result<Arc<[ScoredDocument]>, SearchError> {
        if let Some(found) = self.0.get(&key) {
            return Ok(found);
        }
        let found: Arc<[ScoredDocument]> = find()?.into();
        if found.len() >= KEPT_FROM {
            self.0.insert(key, Arc::clone(&found));
        }
        Ok(found)
    }
}
