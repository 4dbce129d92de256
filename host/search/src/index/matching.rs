//! Queries of the library for the words of a reader. Nothing that a reader types is syntax.

use std::ops::Bound;

use tantivy::query::{
    BooleanQuery, BoostQuery, DisjunctionMaxQuery, Occur, Query, RangeQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Searcher, Term};

use super::corrections::{Corrections, is_known};
use super::fields::Fields;
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

/// Builder of queries for one index.
pub(crate) struct QueryBuilder<'a> {
    searcher: &'a Searcher,
    fields: &'a Fields,
}

impl<'a> QueryBuilder<'a> {
    pub(crate) fn new(searcher: &'a Searcher, fields: &'a Fields) -> Self {
        Self { searcher, fields }
    }

    /// Returns the query for documents that have all `words`, and whether letters were forgiven:
    /// for all words where `forgiving`, else for those that no document has.
    pub(crate) fn all_words(
        &self,
        words: &[Word],
        forgiving: bool,
    ) -> Result<(Box<dyn Query>, bool), SearchError> {
        let only_weak = words.iter().all(Word::is_weak);
        let mut corrected = false;
        let mut clauses = Vec::with_capacity(words.len());
        for word in words {
            let known = is_known(self.searcher, self.fields, word)?;
            let correct = forgiving || !known;
            corrected |= correct;
            let occur = if word.is_weak() && !only_weak { Occur::Should } else { Occur::Must };
            clauses.push((occur, self.word(word, known, correct)?));
        }
        Ok((Box::new(BooleanQuery::new(clauses)), corrected))
    }

    /// Returns the query for documents that have any of `words`, letters forgiven. Weak words
    /// decide only where there are no others.
    pub(crate) fn any_word(&self, words: &[Word]) -> Result<Box<dyn Query>, SearchError> {
        let only_weak = words.iter().all(Word::is_weak);
        let clauses = words
            .iter()
            .filter(|word| only_weak || !word.is_weak())
            .map(|word| Ok((Occur::Should, self.word(word, false, true)?)))
            .collect::<Result<_, SearchError>>()?;
        Ok(Box::new(BooleanQuery::new(clauses)))
    }

    /// Returns the query for documents that have `word` in any field; the best field decides.
    fn word(&self, word: &Word, known: bool, correct: bool) -> Result<Box<dyn Query>, SearchError> {
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
