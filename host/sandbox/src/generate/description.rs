//! Description of a generator, checked by the rules of encoders' descriptions.

use serde::Serialize;
use wasmtime::Store;
use wasmtime::component::InstancePre;
use yearbook_domain::PluginKind;

use super::PluginGenerator;
use crate::guest::HostState;
use crate::guest::bindings::generator::GeneratorPluginPre;
use crate::guest::bindings::generator::exports::yearbook::plugin::generator as guest;
use crate::guest::parameters::{
    check_docs, check_parameters, check_plugin_name, check_title, check_word,
};
use crate::options::PluginParameters;
use crate::plugin_head::PluginHead;
use crate::plugin_world::PluginWorld;

/// A generator's description, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GeneratorDescription {
    /// Name that clients write in `/v1/integrations/<tool>`.
    pub tool: String,
    /// The plugin's own version.
    pub version: String,
    /// The tool's name as its makers write it.
    pub title: String,
    /// Query parameters `<tool>.<name>`.
    pub parameters: PluginParameters,
    /// A paragraph for people.
    pub docs: String,
}

impl PluginWorld for GeneratorDescription {
    const KIND: PluginKind = PluginKind::Generator;
    type Linked = GeneratorPluginPre<HostState>;
    type Raw = guest::Description;
    type Plugin = PluginGenerator;

    fn link(component: InstancePre<HostState>) -> wasmtime::Result<Self::Linked> {
        GeneratorPluginPre::new(component)
    }

    fn describe(
        linked: &Self::Linked,
        store: &mut Store<HostState>,
    ) -> wasmtime::Result<Self::Raw> {
        linked.instantiate(&mut *store)?.yearbook_plugin_generator().call_describe(store)
    }

    fn check(raw: Self::Raw) -> Result<Self, String> {
        let guest::Description { tool, version, title, parameters, docs } = raw;
        check_plugin_name("tool", &tool, b"-")?;
        check_word("version", &version)?;
        check_title(&title)?;
        check_docs("docs", &docs)?;
        Ok(Self { tool, version, title, parameters: check_parameters(parameters)?, docs })
    }

    fn name(&self) -> &str {
        &self.tool
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn plugin(self, head: PluginHead, linked: Self::Linked) -> Self::Plugin {
        PluginGenerator { head, linked, description: self }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn good() -> guest::Description {
        guest::Description {
            tool: "azure-data-factory".into(),
            version: "1.0.0".into(),
            title: "Azure Data Factory".into(),
            parameters: Vec::new(),
            docs: "Files.".into(),
        }
    }

    #[test]
    fn a_lying_description_is_refused_with_a_sentence_about_the_field() {
        assert_eq!(GeneratorDescription::check(good()).unwrap().tool, "azure-data-factory");
        type Spoil = fn(&mut guest::Description);
        let cases: [(&str, Spoil); 7] = [
            ("tool", |d| d.tool = "../datasets".into()),
            ("tool", |d| d.tool = String::new()),
            ("tool", |d| d.tool = "a_b".into()),
            ("version", |d| d.version = "1 0".into()),
            ("title", |d| d.title = "A\r\nB".into()),
            ("title", |d| d.title = "x".repeat(10 << 20)),
            ("docs", |d| d.docs = "\u{1b}[2J".into()),
        ];
        for (field, spoil) in cases {
            let mut raw = good();
            spoil(&mut raw);
            let message = GeneratorDescription::check(raw).unwrap_err();
            assert!(
                message.contains(field)
                    && message.len() < 400
                    && !message.contains(['\r', '\n', '\u{1b}']),
                "{field}: {message:?}"
            );
        }
    }
}
