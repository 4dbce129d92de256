//! Values of options that a description allows, each of which a check tries. Free text and numbers
//! without a list are not tried: nobody but the plugin knows which are right.

use yearbook_sandbox::{OptionScalar, OptionValue, ParameterKind, PluginParameter};

/// Every allowed value of every parameter as a client writes it, with the option that it makes.
pub(super) fn allowed_values(
    parameters: &[PluginParameter],
) -> impl Iterator<Item = (String, OptionValue)> {
    parameters.iter().flat_map(|parameter| {
        let texts = match parameter.kind {
            ParameterKind::Boolean if parameter.allowed.is_empty() => {
                vec!["true".to_owned(), "false".to_owned()]
            }
            _ => parameter.allowed.clone(),
        };
        texts.into_iter().map(|text| {
            let value = parameter.parse(&text).unwrap_or(OptionScalar::Text(text.clone()));
            (text, OptionValue { name: parameter.name.clone(), value })
        })
    })
}
