//! Description of a transform, checked by the rules of encoders' descriptions.

use serde::Serialize;
use wasmtime::Store;
use wasmtime::component::InstancePre;
use yearbook_domain::PluginKind;

use super::PluginTransform;
use crate::guest::HostState;
use crate::guest::bindings::transform::TransformPluginPre;
use crate::guest::bindings::transform::exports::yearbook::plugin::transform as guest;
use crate::guest::parameters::{
    check_docs, check_parameters, check_plugin_name, check_title, check_word,
};
use crate::options::PluginParameters;
use crate::plugin_head::PluginHead;
use crate::plugin_world::PluginWorld;

/// A transform's description, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TransformDescription {
    /// Name that clients write in `apply=NAME` and `NAME.option=`.
    pub name: String,
    /// The plugin's own version.
    pub version: String,
    /// Name for people.
    pub title: String,
    /// Set where the result of a batch depends on it and on primed rows alone.
    pub independent: bool,
    /// Query parameters `NAME.option`.
    pub parameters: PluginParameters,
    /// A paragraph for people.
    pub docs: String,
}

impl PluginWorld for TransformDescription {
    const KIND: PluginKind = PluginKind::Transform;
    type Linked = TransformPluginPre<HostState>;
    type Raw = guest::Description;
    type Plugin = PluginTransform;

    fn link(component: InstancePre<HostState>) -> wasmtime::Result<Self::Linked> {
        TransformPluginPre::new(component)
    }

    fn describe(
        linked: &Self::Linked,
        store: &mut Store<HostState>,
    ) -> wasmtime::Result<Self::Raw> {
        linked.instantiate(&mut *store)?.yearbook_plugin_transform().call_describe(store)
    }

    fn check(raw: Self::Raw) -> Result<Self, String> {
        let guest::Description { name, version, title, independent, parameters, docs } = raw;
        check_plugin_name("name", &name, b"_")?;
        check_word("version", &version)?;
        check_title(&title)?;
        check_docs("docs", &docs)?;
        let parameters = check_parameters(parameters)?;
        Ok(Self { name, version, title, independent, parameters, docs })
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn plugin(self, head: PluginHead, linked: Self::Linked) -> Self::Plugin {
        PluginTransform { head, linked, description: self }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn good() -> guest::Description {
        guest::Description {
            name: "growth".into(),
            version: "1.0.0".into(),
            title: "Growth".into(),
            independent: false,
            parameters: Vec::new(),
            docs: "Rates.".into(),
        }
    }

    #[test]
    fn a_lying_description_of_a_transform_is_refused_with_a_sentence_about_the_field_contract_16() {
        assert_eq!(TransformDescription::check(good()).unwrap().name, "growth");
        type Spoil = fn(&mut guest::Description);
        let cases: [(&str, Spoil); 7] = [
            ("name", |d| d.name = "growth-rate".into()),
            ("name", |d| d.name = "Growth".into()),
            ("name", |d| d.name = "g".repeat(33)),
            ("name", |d| d.name = "apply".into()),
            ("version", |d| d.version = "1 0".into()),
            ("title", |d| d.title = "A\r\nB".into()),
            ("docs", |d| d.docs = "\u{1b}[2J".into()),
        ];
        for (field, spoil) in cases {
            let mut raw = good();
            spoil(&mut raw);
            let message = TransformDescription::check(raw).unwrap_err();
            assert!(message.contains(field) && message.len() < 400, "{message}");
            assert!(!message.contains(['\r', '\n', '\u{1b}']), "{message}");
        }
    }
}
