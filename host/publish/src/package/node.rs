//! A value of the descriptor together with its place, so that every complaint can name it. Knows
//! JSON, nothing of what a data package means.

use serde_json::{Map, Value};

use crate::error::DescriptorProblem;

/// Problems of the descriptor so far.
#[derive(Debug, Default)]
pub(super) struct DescriptorProblems(pub(super) Vec<DescriptorProblem>);

impl DescriptorProblems {
    pub(super) fn add(&mut self, at: impl Into<String>, message: impl Into<String>) {
        self.0.push(DescriptorProblem { at: at.into(), message: message.into() });
    }
}

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct DescriptorNode<'a> {
    pub(super) at: String,
    pub(super) value: &'a Value,
}

impl<'a> DescriptorNode<'a> {
    pub(super) fn root(value: &'a Value) -> Self {
        Self { at: String::new(), value }
    }

    /// The place of a member, whether it is there or not.
    pub(super) fn member_path(&self, key: &str) -> String {
        if self.at.is_empty() { key.to_owned() } else { format!("{}.{key}", self.at) }
    }

    /// A member; null counts as absent.
    pub(super) fn get(&self, key: &str) -> Option<Self> {
        self.value
            .get(key)
            .filter(|value| !value.is_null())
            .map(|value| DescriptorNode { at: self.member_path(key), value })
    }

    /// A member that must be there.
    pub(super) fn require(
        &self,
        key: &str,
        what: &str,
        problems: &mut DescriptorProblems,
    ) -> Option<Self> {
        let node = self.get(key);
        if node.is_none() {
            problems.add(self.member_path(key), format!("is missing; give {what}"));
        }
        node
    }

    /// Returns whether a member is written as null.
    pub(super) fn is_null(&self, key: &str) -> bool {
        self.value.get(key).is_some_and(Value::is_null)
    }

    pub(super) fn object(
        &self,
        problems: &mut DescriptorProblems,
    ) -> Option<&'a Map<String, Value>> {
        self.expect_type(self.value.as_object(), "an object", problems)
    }

    /// Names members that nobody reads: a misspelt one would silently not hold.
    pub(super) fn refuse_other_members(&self, known: &[&str], problems: &mut DescriptorProblems) {
        for key in self.value.as_object().into_iter().flat_map(Map::keys) {
            if !known.contains(&key.as_str()) {
                let near = nearest(key, known.iter().copied()).unwrap_or_default();
                let sentence = format!("is not a known key; the nearest is {near:?}");
                problems.add(self.member_path(key), sentence);
            }
        }
    }

    pub(super) fn text(&self, problems: &mut DescriptorProblems) -> Option<&'a str> {
        self.expect_type(self.value.as_str(), "a string", problems)
    }

    pub(super) fn boolean(&self, problems: &mut DescriptorProblems) -> Option<bool> {
        self.expect_type(self.value.as_bool(), "true or false", problems)
    }

    /// The elements of an array.
    pub(super) fn list(&self, problems: &mut DescriptorProblems) -> Option<Vec<Self>> {
        let values = self.expect_type(self.value.as_array(), "an array", problems)?;
        Some(
            values
                .iter()
                .enumerate()
                .map(|(index, value)| DescriptorNode { at: format!("{}[{index}]", self.at), value })
                .collect(),
        )
    }

    /// The first element of an array that must have one.
    pub(super) fn first(&self, problems: &mut DescriptorProblems) -> Option<Self> {
        let list = self.list(problems)?;
        let first = list.into_iter().next();
        if first.is_none() {
            problems.add(self.at.clone(), "is empty; it needs an element");
        }
        first
    }

    fn expect_type<T>(
        &self,
        value: Option<T>,
        wanted: &str,
        problems: &mut DescriptorProblems,
    ) -> Option<T> {
        if value.is_none() {
            let found = match self.value {
                Value::Null => "null",
                Value::Bool(_) => "a boolean",
                Value::Number(_) => "a number",
                Value::String(_) => "a string",
                Value::Array(_) => "an array",
                Value::Object(_) => "an object",
            };
            problems.add(self.at.clone(), format!("must be {wanted}, not {found}"));
        }
        value
    }
}

/// The candidate that `word` most likely stands for, to be offered in a message; `None` only where
/// there are no candidates.
pub(super) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates.into_iter().min_by_key(|candidate| strsim::damerau_levenshtein(word, candidate))
}
