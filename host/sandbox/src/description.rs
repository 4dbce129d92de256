//! What an encoder says of itself, checked: a description comes from a guest, so every field has a
//! length and a character rule before anything else of the host sees it.

use serde::{Deserialize, Serialize};

use crate::bindings::exports::yearbook::plugin::encoder as guest;
use crate::bindings::yearbook::plugin::types as wire;
use crate::sanitize::is_hidden;

/// Longest name of a format or parameter, bytes.
pub(crate) const NAME_BYTES: usize = 32;
/// Longest media type, bytes.
pub(crate) const MEDIA_TYPE_BYTES: usize = 200;
/// Longest version, extension or value of a parameter, bytes.
pub(crate) const WORD_BYTES: usize = 64;
/// Longest documentation text, bytes.
pub(crate) const DOCS_BYTES: usize = 4096;
/// Longest separator, bytes.
pub(crate) const SEPARATOR_BYTES: usize = 64;
/// Most parameters of a plugin, and most allowed values of a parameter.
pub(crate) const PARAMETERS: usize = 32;

/// An encoder's description, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EncoderDescription {
    /// What clients write in `format=`.
    pub format: String,
    /// The plugin's own version.
    pub version: String,
    /// `Content-Type` of responses.
    pub media_type: String,
    /// File name extension, without the dot.
    pub extension: String,
    /// Present: parts are independent and are joined by these bytes.
    #[serde(skip)]
    pub separator: Option<Vec<u8>>,
    /// How many rows a part should have: batches are joined up to that many.
    #[serde(skip)]
    pub part_rows: Option<u32>,
    /// Whether the guest takes dictionary-encoded text.
    #[serde(skip)]
    pub dictionaries: bool,
    /// Whether general compression makes the output much smaller.
    pub compressible: bool,
    /// Query parameters `<format>.<name>`.
    pub parameters: Vec<PluginParameter>,
    /// A paragraph for people.
    pub docs: String,
}

/// Type of a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
    /// Any text.
    Text,
    /// A 64-bit signed integer.
    Integer,
    /// A finite 64-bit float.
    Number,
    /// True or false.
    Boolean,
}

/// A query parameter of a plugin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PluginParameter {
    /// snake_case name, without the format.
    pub name: String,
    /// Type of the value.
    pub kind: ParameterKind,
    /// What is used when the client says nothing.
    pub default: OptionScalar,
    /// When not empty, the only texts taken.
    pub allowed: Vec<String>,
    /// One sentence for people.
    pub docs: String,
}

/// A parameter's value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OptionScalar {
    /// Of [`ParameterKind::Text`].
    Text(String),
    /// Of [`ParameterKind::Integer`].
    Integer(i64),
    /// Of [`ParameterKind::Number`].
    Number(f64),
    /// Of [`ParameterKind::Boolean`].
    Boolean(bool),
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

    /// Whether the list of allowed values, if there is one, has `text`.
    #[must_use]
    pub fn is_allowed(&self, text: &str) -> bool {
        self.allowed.is_empty() || self.allowed.iter().any(|allowed| allowed == text)
    }
}

impl EncoderDescription {
    /// Every declared parameter exactly once and in order, as the guest is promised: the chosen
    /// value or the default. A chosen option that is not declared is left out.
    #[must_use]
    pub fn complete(&self, chosen: &[OptionValue]) -> Vec<OptionValue> {
        complete(&self.parameters, chosen)
    }

    /// Options of `chosen` that have another value than the default.
    pub fn non_default<'a>(
        &'a self,
        chosen: &'a [OptionValue],
    ) -> impl Iterator<Item = &'a OptionValue> {
        non_default(&self.parameters, chosen)
    }

    /// Checks what a guest returned.
    ///
    /// # Errors
    /// A sentence that names the field and the rule.
    pub(crate) fn check(raw: guest::Description) -> Result<Self, String> {
        let guest::Description {
            format,
            version,
            media_type,
            extension,
            separator,
            part_rows,
            dictionaries,
            compressible,
            parameters,
            docs,
        } = raw;
        check_name("format", &format, b"_-")?;
        check_word("version", &version)?;
        check_media_type(&media_type)?;
        // A dot at either end, or two in a row, would end another file name than the one that is
        // meant.
        let word = |word: &str| {
            !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        };
        if extension.len() > WORD_BYTES || !extension.split('.').all(word) {
            return Err(format!(
                "extension {} must be lower-case letters and digits, with a dot between words",
                quote(&extension)
            ));
        }
        if separator.as_ref().is_some_and(|bytes| bytes.len() > SEPARATOR_BYTES) {
            return Err(format!("separator is longer than {SEPARATOR_BYTES} bytes"));
        }
        if part_rows == Some(0) {
            return Err("part-rows is 0; a part has rows (none: batches as they come)".to_owned());
        }
        check_docs("docs", &docs)?;
        let parameters = check_parameters(parameters)?;
        Ok(Self {
            format,
            version,
            media_type,
            extension,
            separator,
            part_rows,
            dictionaries,
            compressible,
            parameters,
            docs,
        })
    }
}

/// See [`Description::complete`].
pub(crate) fn complete(declared: &[PluginParameter], chosen: &[OptionValue]) -> Vec<OptionValue> {
    let value = |parameter: &PluginParameter| {
        let named = chosen.iter().rev().find(|option| option.name == parameter.name);
        named.map_or_else(|| parameter.default.clone(), |option| option.value.clone())
    };
    declared
        .iter()
        .map(|parameter| OptionValue { name: parameter.name.clone(), value: value(parameter) })
        .collect()
}

/// Options of `chosen` that have another value than the default.
pub(crate) fn non_default<'a>(
    declared: &'a [PluginParameter],
    chosen: &'a [OptionValue],
) -> impl Iterator<Item = &'a OptionValue> {
    let is_default = |option: &OptionValue| {
        declared
            .iter()
            .any(|parameter| parameter.name == option.name && parameter.default == option.value)
    };
    chosen.iter().filter(move |option| !is_default(option))
}

/// Parameters of any kind of plugin, checked.
pub(crate) fn check_parameters(raw: Vec<wire::Parameter>) -> Result<Vec<PluginParameter>, String> {
    if raw.len() > PARAMETERS {
        return Err(format!("{} parameters; at most {PARAMETERS} are taken", raw.len()));
    }
    let parameters = raw.into_iter().map(check_parameter).collect::<Result<Vec<_>, _>>()?;
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
        if text.len() > WORD_BYTES || parse_value(kind, text).is_none() {
            return Err(format!(
                "parameter {name:?}: {} is not a {kind:?} of at most {WORD_BYTES} bytes",
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

fn parse_value(kind: ParameterKind, text: &str) -> Option<OptionScalar> {
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

pub(crate) fn check_word(what: &str, word: &str) -> Result<(), String> {
    let good =
        !word.is_empty() && word.len() <= WORD_BYTES && word.bytes().all(|b| b.is_ascii_graphic());
    if good {
        Ok(())
    } else {
        Err(format!(
            "{what} {} must be printable ASCII without spaces, at most {WORD_BYTES} bytes",
            quote(word)
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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn good() -> guest::Description {
        guest::Description {
            format: "csv".into(),
            version: "1.0.0".into(),
            media_type: "text/csv; charset=utf-8; header=present".into(),
            extension: "csv".into(),
            separator: Some(Vec::new()),
            part_rows: None,
            dictionaries: true,
            compressible: true,
            parameters: vec![wire::Parameter {
                name: "delimiter".into(),
                kind: wire::ParameterKind::Text,
                default: ",".into(),
                allowed: vec![",".into(), ";".into()],
                docs: "Between fields.".into(),
            }],
            docs: "Rows as lines.".into(),
        }
    }

    #[test]
    fn a_good_description_passes_and_options_are_completed() {
        let description = EncoderDescription::check(good()).unwrap();
        assert_eq!(
            description.complete(&[]),
            [OptionValue { name: "delimiter".into(), value: OptionScalar::Text(",".into()) }]
        );
        let chosen = [
            OptionValue { name: "delimiter".into(), value: OptionScalar::Text(";".into()) },
            OptionValue { name: "other".into(), value: OptionScalar::Integer(1) },
        ];
        assert_eq!(description.complete(&chosen), chosen[..1]);
    }

    #[test]
    fn a_lying_description_is_refused_with_a_sentence_about_the_field() {
        type Spoil = fn(&mut guest::Description);
        let cases: [(&str, Spoil); 18] = [
            ("format", |d| d.format = "CSV".into()),
            ("format", |d| d.format = "a".repeat(10 << 20)),
            ("format", |d| d.format = String::new()),
            ("version", |d| d.version = "1 0".into()),
            ("media type", |d| d.media_type = "text/csv\r\nSet-Cookie: a=b".into()),
            ("media type", |d| d.media_type = "text".into()),
            ("media type", |d| d.media_type = "text/csv; name=é".into()),
            ("extension", |d| d.extension = "../csv".into()),
            ("extension", |d| d.extension = "..".into()),
            ("extension", |d| d.extension = "csv.".into()),
            ("separator", |d| d.separator = Some(vec![0; 65])),
            ("part-rows", |d| d.part_rows = Some(0)),
            ("docs", |d| d.docs = "\u{1b}[2J".into()),
            ("docs", |d| d.docs = "\u{202e}moc.live".into()),
            ("parameters", |d| d.parameters = vec![d.parameters[0].clone(); 33]),
            ("declared twice", |d| d.parameters.push(d.parameters[0].clone())),
            ("default", |d| d.parameters[0].default = "|".into()),
            ("parameter", |d| d.parameters[0].kind = wire::ParameterKind::Integer),
        ];
        for (field, spoil) in cases {
            let mut raw = good();
            spoil(&mut raw);
            let message = EncoderDescription::check(raw).unwrap_err();
            assert!(message.contains(field) && message.len() < 400, "{field}: {message}");
            assert!(!message.contains(['\r', '\n', '\u{1b}']), "{message:?}");
        }
    }
}
