//! The index: built whole, then asked. A query is tried in three steps, each only where the one
//! before found nothing: every word as written, every word with a letter forgiven, any word.

mod collector;
mod corrections;
mod fields;
mod frequent_words;
mod join;
mod matching;

use sha2::{Digest, Sha256};
use tantivy::directory::RamDirectory;
use tantivy::{Index, ReloadPolicy, Searcher, TantivyDocument};
use yearbook_domain::hex::encode_hex;

use crate::analysis::{Word, analyzers, words};
use crate::facet::table::{FacetTable, FacetedHits};
use crate::{
    Facet, FacetValue, MatchKind, PAGE_SIZE, SearchDocument, SearchError, SearchHit, SearchPage,
    SearchQuery,
};
use collector::ScoredDocument;
use fields::Fields;
use frequent_words::FrequentWords;
use matching::WordMatcher;

/// Words of a query that are looked at; more are ignored.
const MAX_WORDS: usize = 12;

/// Memory for postings while an index is built, bytes. The library takes it in steps of a megabyte
/// and never flushes before the end.
const BUILD_BYTES: usize = 256 << 20;

/// Bytes of the version that are kept.
const VERSION_BYTES: usize = 8;

/// An index in memory. It never changes, but for what it remembers of frequent words.
pub struct SearchIndex {
    searcher: Searcher,
    fields: Fields,
    /// Names in byte order, which is that of document numbers.
    names: Vec<String>,
    facets: FacetTable,
    frequent_words: FrequentWords,
    version: String,
    topics: Vec<FacetValue>,
    agencies: Vec<FacetValue>,
}

impl SearchIndex {
    /// Builds the index of `documents`, on this thread. It takes some 0.1 ms a document.
    ///
    /// # Errors
    /// [`SearchError`] of the library, for want of memory.
    pub fn build(mut documents: Vec<SearchDocument>) -> Result<Self, SearchError> {
        documents.sort_by(|left, right| left.name.cmp(&right.name));
        let fields = Fields::new();
        let mut writer = Index::builder()
            .schema(fields.schema())
            .tokenizers(analyzers())
            .single_segment_index_writer::<TantivyDocument>(RamDirectory::create(), BUILD_BYTES)
            .map_err(SearchError::new("start"))?;
        for document in &documents {
            writer
                .add_document(fields.document(document))
                .map_err(SearchError::new("add a document"))?;
        }
        let index = writer.finalize().map_err(SearchError::new("finish"))?;
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()
            .map_err(SearchError::new("open"))?;
        let facets = FacetTable::new(&documents);
        Ok(Self {
            searcher: reader.searcher(),
            fields,
            version: digest(&documents),
            topics: facets.all_values(Facet::Topic),
            agencies: facets.all_values(Facet::Agency),
            facets,
            frequent_words: FrequentWords::new(),
            names: documents.into_iter().map(|document| document.name).collect(),
        })
    }

    /// Finds the datasets of `query`. The same index and query give the same page on every host.
    ///
    /// # Errors
    /// [`SearchError`] of the library: no query causes one.
    pub fn search(&self, query: &SearchQuery) -> Result<SearchPage, SearchError> {
        let (found, match_kind) = self.find(&query.text)?;
        let FacetedHits { mut hits, facets } =
            self.facets.narrow(found, &query.choices, |hit| hit.number);
        let (total, pages) = (hits.len(), hits.len().div_ceil(PAGE_SIZE));
        let page = query.page.clamp(1, pages.max(1));
        let (start, end) = ((page - 1) * PAGE_SIZE, total.min(page * PAGE_SIZE));
        if match_kind != MatchKind::Everything {
            if end < total {
                hits.select_nth_unstable_by(end, ScoredDocument::compare_ranks);
            }
            hits[..end].sort_unstable_by(ScoredDocument::compare_ranks);
        }
        let hits = hits[start..end]
            .iter()
            .filter_map(|hit| self.names.get(hit.number as usize))
            .map(|name| SearchHit { name: name.clone() })
            .collect();
        Ok(SearchPage { total, page, pages, hits, facets, match_kind })
    }

    /// Returns the names of all datasets that have words of `text`, best first, equals by name; of
    /// all datasets where it has none.
    ///
    /// # Errors
    /// [`SearchError`] of the library: no text causes one.
    pub fn rank(&self, text: &str) -> Result<Vec<&str>, SearchError> {
        let (mut found, match_kind) = self.find(text)?;
        if match_kind != MatchKind::Everything {
            found.sort_unstable_by(ScoredDocument::compare_ranks);
        }
        let names = found.iter().filter_map(|hit| self.names.get(hit.number as usize));
        Ok(names.map(String::as_str).collect())
    }

    /// Returns a digest of everything that is indexed, 16 hexadecimal digits: two indexes of one
    /// version give the same pages.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the number of datasets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns true when there is no dataset.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns every topic with its number of datasets, most first, equals by name.
    #[must_use]
    pub fn topics(&self) -> &[FacetValue] {
        &self.topics
    }

    /// Returns every agency with its number of datasets, most first, equals by name.
    #[must_use]
    pub fn agencies(&self) -> &[FacetValue] {
        &self.agencies
    }

    fn find(&self, text: &str) -> Result<(Vec<ScoredDocument>, MatchKind), SearchError> {
        if text.trim().is_empty() {
            let all = (0..self.names.len()).filter_map(|number| u32::try_from(number).ok());
            let all = all.map(|number| ScoredDocument { number, score: 0.0 }).collect();
            return Ok((all, MatchKind::Everything));
        }
        let words = words(text, MAX_WORDS);
        if words.is_empty() || self.is_empty() {
            // Only signs, which no dataset has; or no dataset, which the library cannot search.
            return Ok((Vec::new(), MatchKind::AllWords));
        }
        let matcher = WordMatcher::new(&self.searcher, &self.fields, &self.frequent_words);
        let (mut found, corrected) = matcher.all_words(&words, false)?;
        if !found.is_empty() {
            self.put_namesake_first(&words, &mut found);
            let kind = if corrected { MatchKind::Corrected } else { MatchKind::AllWords };
            return Ok((found, kind));
        }
        let (found, _) = matcher.all_words(&words, true)?;
        if !found.is_empty() {
            return Ok((found, MatchKind::Corrected));
        }
        Ok((matcher.any_word(&words)?, MatchKind::SomeWords))
    }

    /// A dataset's whole name, with spaces or without, finds it first.
    fn put_namesake_first(&self, words: &[Word], found: &mut [ScoredDocument]) {
        let spelled: Vec<&str> = words.iter().map(|word| word.spelled.as_str()).collect();
        let name = spelled.join("_");
        let Ok(number) = self.names.binary_search(&name) else { return };
        let namesake = found.iter_mut().find(|hit| hit.number as usize == number);
        if let Some(hit) = namesake {
            hit.score = f32::MAX;
        }
    }
}

/// Returns a digest over every text of `documents`, each with its length.
fn digest(documents: &[SearchDocument]) -> String {
    let mut hash = Sha256::new();
    let mut text = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    for document in documents {
        let SearchDocument {
            name,
            title,
            other_titles,
            description,
            other_prose,
            columns,
            agency,
            keywords,
            licence,
            shapes,
            cadence,
        } = document;
        for one in [name, agency, licence] {
            text(one);
        }
        for optional in [title, description, cadence] {
            text(if optional.is_some() { "1" } else { "0" });
            text(optional.as_deref().unwrap_or_default());
        }
        let texts = [other_titles, other_prose, keywords];
        for length in [columns.len(), shapes.len()].into_iter().chain(texts.map(Vec::len)) {
            text(&length.to_string());
        }
        for column in columns {
            text(&column.name);
            text(column.description.as_deref().unwrap_or_default());
        }
        texts.into_iter().flatten().for_each(|one| text(one));
        shapes.iter().for_each(|shape| text(shape.as_str()));
    }
    let hash = hash.finalize();
    encode_hex(hash.get(..VERSION_BYTES).unwrap_or(&hash))
}

#[cfg(test)]
mod tests;
