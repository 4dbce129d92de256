//! Arguments of a tool, checked against its schema as far as this is the same for all of them. What
//! is wrong is a refusal with the name of the argument, which an assistant can act upon.

use serde_json::{Map, Value};
use yearbook_sdk::adapter::{Problem, Refusal};

use crate::tools::ArgumentNames;

/// Result of reading an argument.
pub(crate) type Read<T> = Result<T, Refusal>;

/// Arguments of a tool.
pub(crate) struct Arguments<'a>(&'a Map<String, Value>);

/// Refusal of the argument `name`.
pub(crate) fn wrong(name: &str, sentence: impl Into<String>) -> Refusal {
    let problem = Problem { place: vec![name.to_owned()], sentence: sentence.into() };
    Refusal { problems: vec![problem], ..Refusal::new(422, "") }
}

impl<'a> Arguments<'a> {
    /// Checks what was sent to a tool whose schema has these names.
    ///
    /// # Errors
    /// A refusal of what the schema does not name, and of what it wants and is not there.
    pub(crate) fn check(names: &ArgumentNames, sent: &'a Map<String, Value>) -> Read<Self> {
        let ArgumentNames { known, required } = names;
        if let Some(unknown) = sent.keys().find(|name| !known.contains(&name.as_str())) {
            let sentence = format!("there is no such argument; there are {}", known.join(", "));
            return Err(wrong(unknown, sentence));
        }
        let arguments = Self(sent);
        for name in *required {
            if arguments.get(name).is_none() {
                return Err(wrong(name, "this argument is needed"));
            }
        }
        Ok(arguments)
    }

    /// An argument; null is none.
    pub(crate) fn get(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A text.
    pub(crate) fn text(&self, name: &str) -> Read<Option<String>> {
        let text = |value: &Value| {
            let text = value.as_str().map(str::to_owned);
            text.ok_or_else(|| wrong(name, "this is a text, in quotes"))
        };
        self.get(name).map(text).transpose()
    }

    /// The text that the schema wants.
    pub(crate) fn needed_text(&self, name: &str) -> Read<String> {
        self.text(name)?.ok_or_else(|| wrong(name, "this argument is needed"))
    }

    /// A whole number from 1 to `most`.
    pub(crate) fn number(&self, name: &str, most: u32) -> Read<Option<u32>> {
        let number = |value: &Value| {
            let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
            let number = number.filter(|number| (1..=most).contains(number));
            number.ok_or_else(|| wrong(name, format!("this is a whole number from 1 to {most}")))
        };
        self.get(name).map(number).transpose()
    }

    /// Texts in a list, or one alone.
    pub(crate) fn texts(&self, name: &str) -> Read<Option<Vec<String>>> {
        let refuse = || wrong(name, "this is a list of texts");
        let text = |value: &Value| value.as_str().map(str::to_owned).ok_or_else(refuse);
        let texts = |value: &Value| match value {
            Value::Array(values) => values.iter().map(text).collect(),
            one => text(one).map(|text| vec![text]),
        };
        self.get(name).map(texts).transpose()
    }
}

/// A value as `/v1` takes it: text, a number or a boolean.
pub(crate) fn scalar(name: &str, value: &Value) -> Read<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(boolean) => Ok(boolean.to_string()),
        _ => Err(wrong(name, "a value is a text, a number or a boolean")),
    }
}
