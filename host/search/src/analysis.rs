//! Words of a text: case and diacritics are folded, English is stemmed (contract-9-search-words).
//! The same steps read documents and queries.

use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, LowerCaser, RemoveLongFilter, SimpleTokenizer, Stemmer,
    TextAnalyzer, TokenizerManager,
};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Analyzer of words as they are written.
pub(crate) const SPELLED: &str = "spelled";

/// Analyzer of stems.
pub(crate) const STEMMED: &str = "stemmed";

/// Longest word that is indexed, bytes: longer ones are identifiers or noise.
const MAX_WORD_BYTES: usize = 64;

/// Words that say nothing about a dataset. They count where they occur and are never required.
const WEAK_WORDS: [&str; 34] = [
    "a",
    "about",
    "all",
    "an",
    "and",
    "are",
    "as",
    "at",
    "by",
    "data",
    "dataset",
    "datasets",
    "do",
    "for",
    "from",
    "how",
    "in",
    "is",
    "it",
    "many",
    "much",
    "of",
    "on",
    "or",
    "per",
    "s",
    "statistics",
    "stats",
    "that",
    "the",
    "to",
    "what",
    "which",
    "with",
];

/// A word of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// As it is written, folded.
    pub(crate) spelled: String,
    /// Its stem.
    pub(crate) stem: String,
}

impl Word {
    /// Returns true for words that are never required.
    pub(crate) fn is_weak(&self) -> bool {
        WEAK_WORDS.contains(&self.spelled.as_str())
    }
}

/// Returns the analyzers that fields name.
pub(crate) fn analyzers() -> TokenizerManager {
    let analyzers = TokenizerManager::new();
    analyzers.register(SPELLED, spelled());
    analyzers.register(STEMMED, stemmed());
    analyzers
}

/// Decomposes `text` and drops marks, so that `ā` and `a` with a macron are both `a`, and `₂` is
/// `2`. Apostrophes vanish: `women's` is one word.
pub(crate) fn fold(text: &str) -> String {
    const APOSTROPHES: [char; 4] = ['\'', '\u{2019}', '\u{2018}', '\u{2bb}'];
    let is_dropped = |letter: &char| is_combining_mark(*letter) || APOSTROPHES.contains(letter);
    text.nfkd().filter(|letter| !is_dropped(letter)).collect()
}

/// Returns the first `most` distinct words of `text`.
pub(crate) fn words(text: &str, most: usize) -> Vec<Word> {
    let folded = fold(text);
    let (mut spelled, mut stemmed) = (spelled(), stemmed());
    let mut found: Vec<Word> = Vec::new();
    let mut stream = spelled.token_stream(&folded);
    while found.len() < most
        && let Some(token) = stream.next()
    {
        if found.iter().any(|word| word.spelled == token.text) {
            continue;
        }
        let mut stems = stemmed.token_stream(&token.text);
        let stem = stems.next().map_or_else(|| token.text.clone(), |stem| stem.text.clone());
        found.push(Word { spelled: token.text.clone(), stem });
    }
    found
}

fn spelled() -> TextAnalyzer {
    TextAnalyzer::builder(SimpleTokenizer::default())
        .filter(RemoveLongFilter::limit(MAX_WORD_BYTES))
        .filter(LowerCaser)
        .filter(AsciiFoldingFilter)
        .build()
}

fn stemmed() -> TextAnalyzer {
    TextAnalyzer::builder(SimpleTokenizer::default())
        .filter(RemoveLongFilter::limit(MAX_WORD_BYTES))
        .filter(LowerCaser)
        .filter(AsciiFoldingFilter)
        .filter(Stemmer::new(Language::English))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let expected: Vec<Word> = expected
            .iter()
            .map(|(spelled, stem)| Word {
                spelled: (*spelled).to_owned(),
                stem: (*stem).to_owned(),
            })
            .collect();
        assert_eq!(words(text, 8), expected, "{text}");
    }

    #[test]
    fn words_are_folded_and_stemmed_contract_9() {
        check("", &[]);
        check("?! ()", &[]);
        check("Māori maori MA\u{304}ORI", &[("maori", "maori")]);
        check("CO₂ emissions", &[("co2", "co2"), ("emissions", "emiss")]);
        check(
            "us_counties_unemployment",
            &[("us", "us"), ("counties", "counti"), ("unemployment", "unemploy")],
        );
        check("Women’s", &[("womens", "women")]);
        check("Łódź Straße", &[("lodz", "lodz"), ("strasse", "strass")]);
    }

    #[test]
    fn the_number_of_words_is_bounded() {
        let many: String = (0..1000).map(|number| format!("w{number} ")).collect();
        assert_eq!(words(&many, 8).len(), 8);
        assert_eq!(words(&"x".repeat(10_000), 8), []);
    }
}
