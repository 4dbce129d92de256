//! Options of plugins as pages show them.

use yearbook_sandbox::{OptionScalar, ParameterKind, PluginParameter};

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
