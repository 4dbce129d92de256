//! Plugins as pages show them, whatever their kind: version, documentation, options and an example.

use yearbook_sandbox::{OptionScalar, ParameterKind, PluginParameter};

use crate::state::AppState;

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
pub(crate) fn example_dataset(app: &AppState) -> String {
    let datasets = app.catalog_cache.datasets();
    datasets.first().map_or_else(|| "NAME".to_owned(), |dataset| dataset.name.to_string())
}

/// One option.
pub(crate) struct OptionLine<'a> {
    /// As clients write it: `<plugin>.<name>`.
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    /// The default.
    pub(crate) default: String,
    /// The only values that are taken; empty: any of the kind.
    pub(crate) allowed: &'a [String],
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
                OptionScalar::Text(text) => text.clone(),
                OptionScalar::Integer(number) => number.to_string(),
                OptionScalar::Number(number) => number.to_string(),
                OptionScalar::Boolean(value) => value.to_string(),
            },
            allowed: &parameter.allowed,
            docs: &parameter.docs,
        }
    }
}
