//! Options of plugins: the parameters that a plugin declares and the values that a client chooses.
//! Values only: what a guest declares is checked elsewhere, and so is what a client may choose.

use std::ops::Deref;

use serde::{Deserialize, Serialize};
use yearbook_domain::query::options::{OptionScalar, ParameterKind};

/// A query parameter of a plugin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PluginParameter {
    /// snake_case name, without the format.
    pub name: String,
    /// Type of the value.
    pub kind: ParameterKind,
    /// Value for a client that names none.
    pub default: OptionScalar,
    /// The only texts taken, unless empty.
    pub allowed: Vec<String>,
    /// One sentence for people.
    pub docs: String,
}

/// One chosen option.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptionValue {
    /// Name of a declared parameter.
    pub name: String,
    /// Value of that parameter's kind.
    pub value: OptionScalar,
}

impl PluginParameter {
    /// Reads a value of this parameter as a client writes it: booleans as Pydantic reads them. The
    /// list of allowed values is for the caller to check, who can name it in a 422.
    #[must_use]
    pub fn parse(&self, text: &str) -> Option<OptionScalar> {
        parse_value(self.kind, text)
    }

    /// Returns whether the list of allowed values, if there is one, has `text`.
    #[must_use]
    pub fn is_allowed(&self, text: &str) -> bool {
        self.allowed.is_empty() || self.allowed.iter().any(|allowed| allowed == text)
    }
}

/// The query parameters that a plugin declares, in its order.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct PluginParameters(Vec<PluginParameter>);

impl PluginParameters {
    /// Every declared parameter exactly once and in order, as the guest is promised: the chosen
    /// value or the default. A chosen option that is not declared is left out.
    #[must_use]
    pub fn complete(&self, chosen: &[OptionValue]) -> Vec<OptionValue> {
        let value = |parameter: &PluginParameter| {
            let named = chosen.iter().rev().find(|option| option.name == parameter.name);
            named.map_or_else(|| parameter.default.clone(), |option| option.value.clone())
        };
        self.iter()
            .map(|parameter| OptionValue { name: parameter.name.clone(), value: value(parameter) })
            .collect()
    }

    /// Options of `chosen` that have another value than the default.
    pub fn non_default<'a>(
        &'a self,
        chosen: &'a [OptionValue],
    ) -> impl Iterator<Item = &'a OptionValue> {
        let is_default = |option: &OptionValue| {
            self.iter()
                .any(|parameter| parameter.name == option.name && parameter.default == option.value)
        };
        chosen.iter().filter(move |option| !is_default(option))
    }

    /// Returns whether `chosen` has no other value than defaults.
    #[must_use]
    pub fn are_default(&self, chosen: &[OptionValue]) -> bool {
        self.non_default(chosen).next().is_none()
    }
}

impl Deref for PluginParameters {
    type Target = [PluginParameter];

    fn deref(&self) -> &[PluginParameter] {
        &self.0
    }
}

impl FromIterator<PluginParameter> for PluginParameters {
    fn from_iter<I: IntoIterator<Item = PluginParameter>>(declared: I) -> Self {
        Self(declared.into_iter().collect())
    }
}

pub(crate) fn parse_value(kind: ParameterKind, text: &str) -> Option<OptionScalar> {
    match kind {
        ParameterKind::Text => Some(OptionScalar::Text(text.to_owned())),
        ParameterKind::Integer => text.parse().ok().map(OptionScalar::Integer),
        ParameterKind::Number => {
            text.parse().ok().filter(|number: &f64| number.is_finite()).map(OptionScalar::Number)
        }
        ParameterKind::Boolean => match text.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" | "t" | "y" => Some(OptionScalar::Boolean(true)),
            "false" | "0" | "no" | "off" | "f" | "n" => Some(OptionScalar::Boolean(false)),
            _ => None,
        },
    }
}
