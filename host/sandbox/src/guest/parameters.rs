//! Rules for what any plugin says of itself: names, words, media types, documentation and
//! parameters, each with a length and a character rule. Also lends options to a guest. Text comes
//! from a guest, so nothing else of the host sees it before.

use yearbook_engine::{NAME_BYTES, is_hidden};

use super::bindings::yearbook::plugin::types as wire;
use crate::options::{OptionValue, PluginParameter, PluginParameters, parse_value};
use crate::{OptionScalar, ParameterKind};

/// Longest media type, bytes.
pub(crate) const MEDIA_TYPE_BYTES: usize = 200;
/// Longest version, extension, title or value of a parameter, bytes.
pub(crate) const SHORT_TEXT_BYTES: usize = 64;
/// Longest documentation text, bytes.
pub(crate) const DOCS_BYTES: usize = 4096;
/// Longest separator, bytes.
pub(crate) const SEPARATOR_BYTES: usize = 64;
/// Most parameters of a plugin, and most allowed values of a parameter.
pub(crate) const PARAMETERS: usize = 32;

/// Parameters of any kind of plugin, checked.
pub(crate) fn check_parameters(raw: Vec<wire::Parameter>) -> Result<PluginParameters, String> {
    if raw.len() > PARAMETERS {
        return Err(format!("{} parameters; at most {PARAMETERS} are taken", raw.len()));
    }
    let parameters =
        raw.into_iter().map(check_parameter).collect::<Result<PluginParameters, _>>()?;
    for (index, parameter) in parameters.iter().enumerate() {
        if parameters.iter().take(index).any(|other| other.name == parameter.name) {
            return Err(format!("parameter {:?} is declared twice", parameter.name));
        }
    }
    Ok(parameters)
}

fn check_parameter(raw: wire::Parameter) -> Result<PluginParameter, String> {
    let wire::Parameter { name, kind, default, allowed, docs } = raw;
    check_name("parameter", &name, b"_")?;
    check_docs("a parameter's docs", &docs)?;
    let kind = match kind {
        wire::ParameterKind::Text => ParameterKind::Text,
        wire::ParameterKind::Integer => ParameterKind::Integer,
        wire::ParameterKind::Number => ParameterKind::Number,
        wire::ParameterKind::Boolean => ParameterKind::Boolean,
    };
    if allowed.len() > PARAMETERS {
        return Err(format!(
            "parameter {name:?} allows {} values; at most {PARAMETERS} are taken",
            allowed.len()
        ));
    }
    for text in allowed.iter().chain([&default]) {
        if text.len() > SHORT_TEXT_BYTES || parse_value(kind, text).is_none() {
            return Err(format!(
                "parameter {name:?}: {} is not a {kind:?} of at most {SHORT_TEXT_BYTES} bytes",
                quote(text)
            ));
        }
    }
    if !allowed.is_empty() && !allowed.contains(&default) {
        return Err(format!(
            "parameter {name:?}: the default {} is not among the allowed values",
            quote(&default)
        ));
    }
    let default =
        parse_value(kind, &default).ok_or("a default that has just been read cannot be read")?;
    Ok(PluginParameter { name, kind, default, allowed, docs })
}

pub(crate) fn check_name(what: &str, name: &str, punctuation: &[u8]) -> Result<(), String> {
    let good = name.len() <= NAME_BYTES
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || punctuation.contains(&b));
    if good {
        Ok(())
    } else {
        Err(format!(
            "{what} {} must be lower-case letters, digits and underscores, at most {NAME_BYTES} bytes",
            quote(name)
        ))
    }
}

/// Checks the name of a plugin whose options are parameters of requests: `NAME.option`.
pub(crate) fn check_plugin_name(what: &str, name: &str, punctuation: &[u8]) -> Result<(), String> {
    check_name(what, name, punctuation)?;
    if yearbook_domain::query::is_parameter(name) {
        return Err(format!("{what} {} is called like a parameter of requests", quote(name)));
    }
    Ok(())
}

pub(crate) fn check_word(what: &str, word: &str) -> Result<(), String> {
    let good = !word.is_empty()
        && word.len() <= SHORT_TEXT_BYTES
        && word.bytes().all(|b| b.is_ascii_graphic());
    if good {
        Ok(())
    } else {
        Err(format!(
            "{what} {} must be printable ASCII without spaces, at most {SHORT_TEXT_BYTES} bytes",
            quote(word)
        ))
    }
}

pub(crate) fn check_title(title: &str) -> Result<(), String> {
    if !title.is_empty() && title.len() <= SHORT_TEXT_BYTES && !title.chars().any(is_hidden) {
        Ok(())
    } else {
        Err(format!(
            "title {} must be text of 1 to {SHORT_TEXT_BYTES} bytes without control characters",
            quote(title)
        ))
    }
}

pub(crate) fn check_media_type(text: &str) -> Result<(), String> {
    let essence = text.split(';').next().unwrap_or_default().trim_end();
    let token = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b))
    };
    let good = text.len() <= MEDIA_TYPE_BYTES
        && text.bytes().all(|b| (b' '..=b'~').contains(&b))
        && essence.split_once('/').is_some_and(|(kind, subtype)| token(kind) && token(subtype));
    if good {
        Ok(())
    } else {
        Err(format!(
            "media type {} must be type/subtype in printable ASCII (RFC 9110, 8.3.1), at most {MEDIA_TYPE_BYTES} bytes",
            quote(text)
        ))
    }
}

pub(crate) fn check_docs(what: &str, docs: &str) -> Result<(), String> {
    let good = docs.len() <= DOCS_BYTES && !docs.chars().any(|c| is_hidden(c) && c != '\n');
    if good {
        Ok(())
    } else {
        Err(format!("{what} must be text of at most {DOCS_BYTES} bytes without control characters"))
    }
}

/// A guest's text for a message: escaped and cut, since it may be megabytes of anything.
pub(crate) fn quote(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

/// An option as a guest takes it.
pub(crate) fn wire_option(option: &OptionValue) -> wire::OptionValue<'_> {
    use wire::Value as Wire;
    let value = match &option.value {
        OptionScalar::Text(text) => Wire::Text(text),
        OptionScalar::Integer(integer) => Wire::Integer(*integer),
        OptionScalar::Number(number) => Wire::Number(*number),
        OptionScalar::Boolean(boolean) => Wire::Boolean(*boolean),
    };
    wire::OptionValue { name: &option.name, value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_is_not_called_like_a_parameter_contract_15() {
        for name in ["where", "sort", "last", "bbox", "limit", "apply"] {
            let found = check_plugin_name("format", name, b"_-");
            let sentence = format!("format \"{name}\" is called like a parameter of requests");
            assert_eq!(found, Err(sentence));
        }
        assert_eq!(check_plugin_name("format", "where_else", b"_-"), Ok(()));
        assert!(check_plugin_name("format", "Where", b"_-").is_err());
    }
}
