//! Description of a reader, checked by the rules of encoders' descriptions.

use serde::Serialize;
use wasmtime::Store;
use wasmtime::component::InstancePre;
use yearbook_domain::PluginKind;

use super::PluginReader;
use crate::guest::HostState;
use crate::guest::bindings::reader::ReaderPluginPre;
use crate::guest::bindings::reader::exports::yearbook::plugin::reader as guest;
use crate::guest::parameters::{check_docs, check_name, check_parameters, check_title, check_word};
use crate::options::PluginParameters;
use crate::plugin_head::PluginHead;
use crate::plugin_world::PluginWorld;

/// Largest example, bytes.
const EXAMPLE_BYTES: usize = 64 << 10;

/// A reader's description, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReaderDescription {
    /// Name that a data package writes in `resources[0].format`.
    pub format: String,
    /// The plugin's own version.
    pub version: String,
    /// The format's name as its makers write it.
    pub title: String,
    /// Options under `yearbook.reader_options`.
    pub parameters: PluginParameters,
    /// A small file of the format.
    #[serde(skip)]
    pub example: Vec<u8>,
    /// A paragraph for people.
    pub docs: String,
}

impl PluginWorld for ReaderDescription {
    const KIND: PluginKind = PluginKind::Reader;
    type Linked = ReaderPluginPre<HostState>;
    type Raw = guest::Description;
    type Plugin = PluginReader;

    fn link(component: InstancePre<HostState>) -> wasmtime::Result<Self::Linked> {
        ReaderPluginPre::new(component)
    }

    fn describe(
        linked: &Self::Linked,
        store: &mut Store<HostState>,
    ) -> wasmtime::Result<Self::Raw> {
        linked.instantiate(&mut *store)?.yearbook_plugin_reader().call_describe(store)
    }

    fn check(raw: Self::Raw) -> Result<Self, String> {
        let guest::Description { format, version, title, parameters, example, docs } = raw;
        check_name("format", &format, b"_-")?;
        check_word("version", &version)?;
        check_title(&title)?;
        check_docs("docs", &docs)?;
        if example.is_empty() || example.len() > EXAMPLE_BYTES {
            return Err(format!(
                "the example has {} bytes; it must have 1 to {EXAMPLE_BYTES}",
                example.len()
            ));
        }
        let parameters = check_parameters(parameters)?;
        Ok(Self { format, version, title, parameters, example, docs })
    }

    fn name(&self) -> &str {
        &self.format
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn plugin(self, head: PluginHead, linked: Self::Linked) -> Self::Plugin {
        PluginReader { head, linked, description: self }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn good() -> guest::Description {
        guest::Description {
            format: "sdmx-csv".into(),
            version: "1.0.0".into(),
            title: "SDMX-CSV".into(),
            parameters: Vec::new(),
            example: b"a\n".to_vec(),
            docs: "Files.".into(),
        }
    }

    #[test]
    fn a_lying_description_of_a_reader_is_refused_with_a_sentence_about_the_field() {
        assert_eq!(ReaderDescription::check(good()).unwrap().format, "sdmx-csv");
        type Spoil = fn(&mut guest::Description);
        let cases: [(&str, Spoil); 7] = [
            ("format", |d| d.format = "../csv".into()),
            ("format", |d| d.format = "CSV".into()),
            ("version", |d| d.version = "1 0".into()),
            ("title", |d| d.title = "A\r\nB".into()),
            ("example", |d| d.example = Vec::new()),
            ("example", |d| d.example = vec![0; EXAMPLE_BYTES + 1]),
            ("docs", |d| d.docs = "\u{1b}[2J".into()),
        ];
        for (field, spoil) in cases {
            let mut raw = good();
            spoil(&mut raw);
            let message = ReaderDescription::check(raw).unwrap_err();
            assert!(message.contains(field) && message.len() < 400, "{message}");
            assert!(!message.contains(['\r', '\n', '\u{1b}']), "{message}");
        }
    }
}
