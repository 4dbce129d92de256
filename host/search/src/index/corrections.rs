//! Indexed words that are one letter away from a word of a query: a letter more, less, another one,
//! or two that changed places.

use std::collections::HashMap;
use std::io;

use tantivy::query::FuzzyTermQuery;
use tantivy::schema::Field;
use tantivy::{Searcher, Term};

use super::fields::Fields;
use crate::SearchError;
use crate::analysis::Word;

/// Shortest word with a slip, letters: two letters are one slip away from a thousand words.
const MIN_LETTERS: usize = 3;

/// Corrections of one word in one field at most; the most frequent ones stay.
const MAX_CORRECTIONS: usize = 12;

/// Corrections of one word.
#[derive(Default)]
pub(crate) struct Corrections(HashMap<Field, Vec<String>>);

impl Corrections {
    /// Finds the corrections of `word` in every field.
    pub(crate) fn find(
        searcher: &Searcher,
        fields: &Fields,
        word: &Word,
    ) -> Result<Self, SearchError> {
        let mut found = HashMap::new();
        if word.spelled.chars().count() >= MIN_LETTERS {
            for fields in fields.iter() {
                for (field, text) in [(fields.spelled, &word.spelled), (fields.stemmed, &word.stem)]
                {
                    let near = near(searcher, field, text)
                        .map_err(SearchError::new("look for corrections"))?;
                    found.insert(field, near);
                }
            }
        }
        Ok(Self(found))
    }

    /// Returns the corrections in `field`.
    pub(crate) fn in_field(&self, field: Field) -> &[String] {
        self.0.get(&field).map_or(&[], Vec::as_slice)
    }
}

/// Returns true when a document has `word`, its stem, or a word that begins with it.
pub(crate) fn is_known(
    searcher: &Searcher,
    fields: &Fields,
    word: &Word,
) -> Result<bool, SearchError> {
    for reader in searcher.segment_readers() {
        for fields in fields.iter() {
            let known = || -> tantivy::Result<bool> {
                let spelled = reader.inverted_index(fields.spelled)?;
                let mut following = spelled.terms().range().ge(&word.spelled).into_stream()?;
                let is_prefix =
                    following.advance() && following.key().starts_with(word.spelled.as_bytes());
                let stems = reader.inverted_index(fields.stemmed)?;
                Ok(is_prefix || stems.terms().get(&word.stem)?.is_some())
            };
            if known().map_err(SearchError::new("look a word up"))? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns the indexed words of `field` one letter away from `text`, itself left out.
fn near(searcher: &Searcher, field: Field, text: &str) -> tantivy::Result<Vec<String>> {
    let automaton = FuzzyTermQuery::new(Term::from_field_text(field, text), 1, true).automaton()?;
    let mut found: Vec<(u32, String)> = Vec::new();
    for reader in searcher.segment_readers() {
        let index = reader.inverted_index(field)?;
        let mut stream = index.terms().search(&automaton).into_stream()?;
        while stream.advance() {
            if stream.key() != text.as_bytes() {
                let word = std::str::from_utf8(stream.key()).map_err(io::Error::other)?;
                found.push((stream.value().doc_freq, word.to_owned()));
            }
        }
    }
    found.sort_by(|left, right| right.0.cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
    found.truncate(MAX_CORRECTIONS);
    Ok(found.into_iter().map(|(_, word)| word).collect())
}
