//! Meaning of values, as the publisher tells it (contract-21-meaning): languages, notes, titles of
//! columns, columns of statuses, labels of values. Rows never depend on any of it.

mod language;
mod status;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::iter;

use serde::{Deserialize, Serialize};

pub use language::Language;
pub use status::{KnownCodes, ListedCode, StatusCodes, StatusColumn};

use crate::{PlannedRelease, Snapshot};

/// Values of a column that have labels at most.
pub const MAX_LABELS: usize = 10_000;

/// Bytes of the labels of a dataset at most, values and translations included.
pub const MAX_LABEL_BYTES: usize = 1 << 20;

/// The same text in other languages than the first one of the dataset.
pub type Translations = BTreeMap<Language, String>;

/// Labels of a column's values, by the value as `/values` writes it.
pub type ValueTexts = BTreeMap<String, Text>;

/// A text of the publisher.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// In the first language of the dataset.
    pub text: String,
    /// In others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub translations: Translations,
}

impl Text {
    /// Returns the text in a language; in the first one where it was not translated.
    #[must_use]
    pub fn in_language(&self, language: Option<&Language>) -> &str {
        language.and_then(|language| self.translations.get(language)).unwrap_or(&self.text)
    }

    /// Returns the bytes that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.text.len() + self.translations.values().map(String::len).sum::<usize>()
    }
}

/// A footnote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Its words.
    pub text: Text,
    /// The column that it is about; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The rows that it is about: conditions by their names without `where.`, with their values.
    /// Empty: all.
    #[serde(default, rename = "where", skip_serializing_if = "BTreeMap::is_empty")]
    pub conditions: BTreeMap<String, Vec<String>>,
}

impl Note {
    /// Returns the bytes that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let values = |(name, values): (&String, &Vec<String>)| {
            name.len() + values.iter().map(String::len).sum::<usize>()
        };
        self.text.bytes() + self.conditions.iter().map(values).sum::<usize>()
    }
}

/// Words about a dataset as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DatasetMeaning {
    /// Languages of its texts, the one of the untranslated first. Empty: nobody said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<Language>,
    /// The title in other languages.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub title: Translations,
    /// The description in other languages.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub description: Translations,
    /// Footnotes, in the order of the package.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// Releases that are planned, in the order of the package.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub releases: Vec<PlannedRelease>,
    /// Set where the publisher lets nobody hand on changed rows, whatever the licence is called.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_derivatives: bool,
    /// Words of the labels of values, each once, as [`words_of_labels`] finds them: search reads no
    /// file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label_words: String,
}

/// Bytes of a dataset's labels that search knows.
const MAX_WORD_BYTES: usize = 32 << 10;

/// Returns the words of labels in all languages, each once and as many as search knows.
pub fn words_of_labels<'a>(labels: impl IntoIterator<Item = &'a ValueTexts>) -> String {
    let texts = labels.into_iter().flat_map(BTreeMap::values);
    let texts = texts.flat_map(|label| iter::once(&label.text).chain(label.translations.values()));
    let (mut words, mut seen) = (String::new(), HashSet::new());
    for word in texts.flat_map(|text| text.split_whitespace()) {
        if words.len() + 1 + word.len() > MAX_WORD_BYTES {
            break;
        }
        if seen.insert(word) {
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(word);
        }
    }
    words
}

/// Words about a column beyond name, type, role, unit and description.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ColumnMeaning {
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// The description in other languages.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub description: Translations,
    /// Set for a column of statuses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<StatusColumn>,
    /// Set where some of its values have labels.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub labelled: bool,
}

impl DatasetMeaning {
    /// Returns true where nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl ColumnMeaning {
    /// Returns what is said, `None` where it is nothing.
    #[must_use]
    pub fn if_any(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }
}

impl Snapshot {
    /// Returns the language that answers say they are in; `None` where the publisher named none.
    ///
    /// `wanted` are ranges of RFC 4647, the most wanted first; the first language of the dataset
    /// stands for all that are not there.
    #[must_use]
    pub fn language<'a>(&self, wanted: impl IntoIterator<Item = &'a str>) -> Option<&Language> {
        let there = &self.meaning.languages;
        wanted
            .into_iter()
            .find_map(|range| Language::lookup(range, there))
            .or_else(|| there.first())
    }

    /// Returns the snapshot with its title and descriptions in a language that it has.
    #[must_use]
    pub fn in_language(&self, language: Option<&Language>) -> Cow<'_, Self> {
        let Some(language) = language.filter(|it| Some(*it) != self.meaning.languages.first())
        else {
            return Cow::Borrowed(self);
        };
        let mut snapshot = self.clone();
        let translate = |own: &mut Option<String>, translations: &Translations| {
            if let Some(text) = translations.get(language) {
                *own = Some(text.clone());
            }
        };
        translate(&mut snapshot.title, &self.meaning.title);
        translate(&mut snapshot.description, &self.meaning.description);
        for column in &mut snapshot.columns {
            let Some(meaning) = &mut column.meaning else { continue };
            translate(&mut column.description, &meaning.description);
            if let Some(title) = &mut meaning.title {
                title.text = title.in_language(Some(language)).to_owned();
            }
        }
        Cow::Owned(snapshot)
    }
}

#[cfg(test)]
mod tests;
