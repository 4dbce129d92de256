//! Plugins as pages show them, whatever their kind: version, documentation, options and an example.

use yearbook_sandbox::{OptionScalar, ParameterKind, PluginParameter};

use crate::PagesState;

/// One plugin.
pub(crate) struct PluginLine<'a> {
    /// Format or tool.
    pub(crate) name: &'a str,
    pub(crate) version: &'a str,
    pub(crate) docs: &'a str,
    pub(crate) options: Vec<OptionLine<'a>>,
    /// A command that uses it.
    pub(crate) example: String,
}

impl<'a> PluginLine<'a> {
    pub(crate) fn new(
        name: &'a str,
        version: &'a str,
        docs: &'a str,
        parameters: &'a [PluginParameter],
        example: String,
    ) -> Self {
        let options = parameters.iter().map(|parameter| OptionLine::new(name, parameter)).collect();
        Self { name, version, docs, options, example }
    }
}

/// The dataset that examples name: the first one; a placeholder where there is none.
pub(crate) fn example_dataset(app: &PagesState) -> String {
    let datasets = app.core.catalog_cache.datasets();
    datasets.first().map_or_else(|| "NAME".to_owned(), |dataset| dataset.name.to_string())
}

/// One option.
pub(crate) struct OptionLine<'a> {
    /// As clients write it: `<plugin>.<name>`.
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    /// The default.
    pub(crate) default: String,
    /// The only values that are taken, so that each can be seen; empty: any of the kind.
    pub(crate) allowed: Vec<String>,
    pub(crate) docs: &'a str,
}

impl<'a> OptionLine<'a> {
    /// The option `parameter` of the plugin called `plugin`.
    pub(crate) fn new(plugin: &str, parameter: &'a PluginParameter) -> Self {
        Self {
            name: format!("{plugin}.{}", parameter.name),
            kind: match parameter.kind {
                ParameterKind::Text => "text",
                ParameterKind::Integer => "integer",
                ParameterKind::Number => "number",
                ParameterKind::Boolean => "true or false",
            },
            default: match &parameter.default {
                OptionScalar::Text(text) if text.is_empty() => "(empty)".to_owned(),
                OptionScalar::Text(text) => visible(text),
                OptionScalar::Integer(number) => number.to_string(),
                OptionScalar::Number(number) => number.to_string(),
                OptionScalar::Boolean(value) => value.to_string(),
            },
            allowed: parameter.allowed.iter().map(|value| visible(value)).collect(),
            docs: &parameter.docs,
        }
    }
}

/// `value` with its control characters as an address carries them: a tab would be seen as nothing.
fn visible(value: &str) -> String {
    let mut seen = String::with_capacity(value.len());
    for character in value.chars() {
        if character.is_control() {
            for byte in character.to_string().bytes() {
                seen.push_str(&format!("%{byte:02X}"));
            }
        } else {
            seen.push(character);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_of_a_value_are_seen() {
        let cases =
            [("comma", "comma"), (",", ","), ("\t", "%09"), ("a\u{85}b", "a%C2%85b"), ("é", "é")];
        for (value, expected) in cases {
            assert_eq!(visible(value), expected);
        }
    }
}
