//! Documents for the words of a reader: a query of the library finds those of a word, and a score
//! is the sum over words. Nothing that a reader types is syntax.

use std::ops::Bound;
use std::sync::Arc;

use tantivy::query::{BoostQuery, DisjunctionMaxQuery, Query, RangeQuery, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Searcher, Term};

use super::collector::{ScoredDocument, ScoredDocuments};
use super::corrections::{Corrections, is_known};
use super::fields::Fields;
use super::frequent_words::{FrequentWords, WordKey};
use super::join::Join;
use crate::SearchError;
use crate::analysis::Word;

/// Factor for a word that stands in the text exactly as it was typed.
const AS_SPELLED: f32 = 1.2;

/// Score of a word that begins with what was typed, before the field's weight: that of a word which
/// a quarter of all datasets has, so that whole words stay ahead.
const AS_PREFIX: f32 = 1.4;

/// Factor for a word that is another letter away.
const AS_CORRECTED: f32 = 0.5;

/// Share of the scores of further fields that is added to the best field's.
const OTHER_FIELDS: f32 = 0.15;

/// Shortest word that is always taken for a prefix too, letters. A shorter one is where it is no
/// word itself.
const PREFIX_LETTERS: usize = 3;

/// Finder of documents for the words of a reader.
pub(crate) struct WordMatcher<'a> {
    searcher: &'a Searcher,
    fields: &'a Fields,
    frequent: &'a FrequentWords,
}

impl<'a> WordMatcher<'a> {
    pub(crate) fn new(
        searcher: &'a Searcher,
        fields: &'a Fields,
        frequent: &'a FrequentWords,
    ) -> Self {
        Self { searcher, fields, frequent }
    }

    /// Returns documents that have all `words`, and whether letters were forgiven: for all words
    /// where `forgiving`, else for those that no document has. Weak words are not required where
    /// there are others, and left out where no document has them.
    pub(crate) fn all_words(
        &self,
        words: &[Word],
        forgiving: bool,
    ) -> Result<(Vec<ScoredDocument>, bool), SearchError> {
        let only_weak = words.iter().all(Word::is_weak);
        let (weak, required): (Vec<&Word>, Vec<&Word>) =
            words.iter().partition(|word| word.is_weak() && !only_weak);
        let (mut found, mut corrected) = (None, false);
        for (word, join) in required
            .into_iter()
            .map(|word| (word, Join::Both))
            .chain(weak.into_iter().map(|word| (word, Join::Left)))
        {
            let known = is_known(self.searcher, self.fields, word)?;
            if !known && join == Join::Left {
                continue;
            }
            let correct = forgiving || !known;
            corrected |= correct;
            let matches = self.word(word, known, correct)?;
            let joined =
                found.map_or_else(|| matches.to_vec(), |found| join.apply(found, &matches));
            if joined.is_empty() {
                return Ok((joined, corrected));
            }
            found = Some(joined);
        }
        Ok((found.unwrap_or_default(), corrected))
    }

    /// Returns documents that have any of `words`, letters forgiven. Weak words decide only where
    /// there are no others.
    pub(crate) fn any_word(&self, words: &[Word]) -> Result<Vec<ScoredDocument>, SearchError> {
        let only_weak = words.iter().all(Word::is_weak);
        let mut found = Vec::new();
        for word in words.iter().filter(|word| only_weak || !word.is_weak()) {
            found = Join::Either.apply(found, &self.word(word, false, true)?);
        }
        Ok(found)
    }

    /// Returns documents that have `word`, from memory where it is a frequent one.
    fn word(
        &self,
        word: &Word,
        known: bool,
        correct: bool,
    ) -> Result<Arc<[ScoredDocument]>, SearchError> {
        let key = WordKey { spelled: word.spelled.clone(), known, correct };
        self.frequent.get_or_find(key, || {
            let query = self.query(word, known, correct)?;
            self.searcher.search(&*query, &ScoredDocuments).map_err(SearchError::new("search"))
        })
    }

    /// Returns the query for documents that have `word` in any field; the best field decides.
    fn query(
        &self,
        word: &Word,
        known: bool,
        correct: bool,
    ) -> Result<Box<dyn Query>, SearchError> {
        let corrections = if correct {
            Corrections::find(self.searcher, self.fields, word)?
        } else {
            Corrections::default()
        };
        let takes_prefix = !known || word.spelled.chars().count() >= PREFIX_LETTERS;
        let mut alternatives: Vec<Box<dyn Query>> = Vec::new();
        for fields in self.fields.iter() {
            alternatives.push(term(fields.stemmed, &word.stem, fields.weight));
            alternatives.push(term(fields.spelled, &word.spelled, fields.weight * AS_SPELLED));
            if takes_prefix {
                let prefix = Box::new(prefix(fields.spelled, &word.spelled));
                alternatives.push(Box::new(BoostQuery::new(prefix, fields.weight * AS_PREFIX)));
            }
            for field in [fields.spelled, fields.stemmed] {
                for correction in corrections.in_field(field) {
                    alternatives.push(term(field, correction, fields.weight * AS_CORRECTED));
                }
            }
        }
        Ok(Box::new(DisjunctionMaxQuery::with_tie_breaker(alternatives, OTHER_FIELDS)))
    }
}

/// All words that begin with `text`: a range of the sorted words, which costs no automaton.
fn prefix(field: Field, text: &str) -> RangeQuery {
    let bound = |text: &str| Bound::Included(Term::from_field_text(field, text));
    RangeQuery::new(bound(text), bound(&format!("{text}{}", char::MAX)))
}

fn term(field: Field, text: &str, boost: f32) -> Box<dyn Query> {
    let term = Term::from_field_text(field, text);
    let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
    Box::new(BoostQuery::new(Box::new(query), boost))
}
