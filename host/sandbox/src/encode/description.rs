//! Description of an encoder, checked: it comes from a guest, so every field has a length and a
//! character rule before anything else of the host sees it.

use serde::Serialize;
use wasmtime::Store;
use wasmtime::component::InstancePre;
use yearbook_domain::PluginKind;

use super::{LinkedEncoder, PluginEncoder, ResponseSize};
use crate::guest::HostState;
use crate::guest::bindings::exports::yearbook::plugin::encoder as guest;
use crate::guest::parameters::{
    SEPARATOR_BYTES, SHORT_TEXT_BYTES, check_docs, check_media_type, check_parameters,
    check_plugin_name, check_word, quote,
};
use crate::options::PluginParameters;
use crate::plugin_head::PluginHead;
use crate::plugin_world::PluginWorld;

/// An encoder's description, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EncoderDescription {
    /// Name that clients write in `format=`.
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
    /// Rows that a chunk should have: batches are joined up to that number.
    #[serde(skip)]
    pub part_rows: Option<u32>,
    /// Set where the guest takes dictionary-encoded text.
    #[serde(skip)]
    pub dictionaries: bool,
    /// Set where it is told distinct values of columns ([`crate::with_codes`]).
    #[serde(skip)]
    pub codes: bool,
    /// Set where general compression makes the output much smaller.
    pub compressible: bool,
    /// Query parameters `<format>.<name>`.
    pub parameters: PluginParameters,
    /// A paragraph for people.
    pub docs: String,
}

impl EncoderDescription {
    /// Media type without parameters, such as `text/csv`.
    #[must_use]
    pub fn essence(&self) -> &str {
        self.media_type.split(';').next().unwrap_or_default().trim()
    }

    /// Returns whether responses are pictures of rows, not the rows (contract-9-image-formats).
    #[must_use]
    pub fn is_picture(&self) -> bool {
        let kind = self.essence().split('/').next().unwrap_or_default();
        kind.eq_ignore_ascii_case("image")
    }
}

impl PluginWorld for EncoderDescription {
    const KIND: PluginKind = PluginKind::Encoder;
    type Linked = LinkedEncoder;
    type Raw = (guest::Description, bool);
    type Plugin = PluginEncoder;

    fn link(component: InstancePre<HostState>) -> wasmtime::Result<Self::Linked> {
        LinkedEncoder::new(component)
    }

    fn describe(
        linked: &Self::Linked,
        store: &mut Store<HostState>,
    ) -> wasmtime::Result<Self::Raw> {
        let (encoder, _) = linked.exports(ResponseSize::Small).instantiate(store)?;
        let description = encoder.yearbook_plugin_encoder().call_describe(store)?;
        Ok((description, linked.has_codelists()))
    }

    fn check((raw, codes): Self::Raw) -> Result<Self, String> {
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
        check_plugin_name("format", &format, b"_-")?;
        check_word("version", &version)?;
        check_media_type(&media_type)?;
        // A dot at either end, or two in a row, would end another file name than the one that is
        // meant.
        let word = |word: &str| {
            !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        };
        if extension.len() > SHORT_TEXT_BYTES || !extension.split('.').all(word) {
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
            codes,
            compressible,
            parameters,
            docs,
        })
    }

    fn name(&self) -> &str {
        &self.format
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn plugin(self, head: PluginHead, linked: Self::Linked) -> Self::Plugin {
        PluginEncoder { head, linked, description: self }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::guest::bindings::yearbook::plugin::types as wire;
    use crate::{OptionScalar, OptionValue};

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
        let description = EncoderDescription::check((good(), false)).unwrap();
        assert_eq!(
            description.parameters.complete(&[]),
            [OptionValue { name: "delimiter".into(), value: OptionScalar::Text(",".into()) }]
        );
        let chosen = [
            OptionValue { name: "delimiter".into(), value: OptionScalar::Text(";".into()) },
            OptionValue { name: "other".into(), value: OptionScalar::Integer(1) },
        ];
        assert_eq!(description.parameters.complete(&chosen), chosen[..1]);
    }

    #[test]
    fn pictures_are_told_by_their_media_type_contract_9() {
        let with =
            |media_type: &str| guest::Description { media_type: media_type.into(), ..good() };
        for (media_type, expected) in
            [("image/svg+xml", true), ("Image/PNG; q=1", true), ("text/csv", false)]
        {
            let description = EncoderDescription::check((with(media_type), false)).unwrap();
            assert_eq!(description.is_picture(), expected, "{media_type}");
        }
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
            let message = EncoderDescription::check((raw, false)).unwrap_err();
            assert!(message.contains(field) && message.len() < 400, "{field}: {message}");
            assert!(!message.contains(['\r', '\n', '\u{1b}']), "{message:?}");
        }
    }
}
