//! Description of an adapter, checked by the rules of encoders' descriptions.

use wasmtime::Store;
use wasmtime::component::InstancePre;
use yearbook_domain::PluginKind;

use super::PluginAdapter;
use crate::guest::HostState;
use crate::guest::bindings::adapter::AdapterPluginPre;
use crate::guest::parameters::{check_docs, check_plugin_name, check_title, check_word};
use crate::plugin_head::PluginHead;
use crate::plugin_world::PluginWorld;

/// Most request headers that an adapter may ask for.
const MAX_HEADERS: usize = 8;
/// Most examples.
const MAX_EXAMPLES: usize = 32;
/// Longest name of a header or parameter.
const MAX_NAME_BYTES: usize = 64;

/// Headers that no adapter is given: credentials, who asks and from where, and what the host
/// answers itself.
const HOST_HEADERS: [&str; 24] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "proxy-authorization",
    "range",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-api-key",
    "x-request-id",
];

/// An adapter's description. One of a loaded plugin is checked.
pub use super::adapter::Description as AdapterDescription;

impl PluginWorld for AdapterDescription {
    const KIND: PluginKind = PluginKind::Adapter;
    type Linked = AdapterPluginPre<HostState>;
    type Raw = Self;
    type Plugin = PluginAdapter;

    fn link(component: InstancePre<HostState>) -> wasmtime::Result<Self::Linked> {
        AdapterPluginPre::new(component)
    }

    fn describe(
        linked: &Self::Linked,
        store: &mut Store<HostState>,
    ) -> wasmtime::Result<Self::Raw> {
        linked.instantiate(&mut *store)?.yearbook_plugin_adapter().call_describe(store)
    }

    fn check(raw: Self::Raw) -> Result<Self, String> {
        let Self { name, version, title, docs, .. } = &raw;
        check_plugin_name("name", name, b"-")?;
        check_word("version", version)?;
        check_title(title)?;
        check_docs("docs", docs)?;
        if raw.headers.len() > MAX_HEADERS {
            return Err(format!("headers are more than {MAX_HEADERS}"));
        }
        if raw.headers.iter().any(|header| !is_header(header)) {
            return Err(
                "headers are not names in lower case of headers that adapters may have".to_owned()
            );
        }
        if raw.key_parameter.as_ref().is_some_and(|name| !is_token(name)) {
            return Err("key_parameter is not a name of letters, digits, `_` and `-`".to_owned());
        }
        if raw.examples.is_empty() || raw.examples.len() > MAX_EXAMPLES {
            return Err(format!("examples are not 1 to {MAX_EXAMPLES}"));
        }
        Ok(raw)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn plugin(self, head: PluginHead, linked: Self::Linked) -> Self::Plugin {
        PluginAdapter { head, linked, description: self, encoder: None }
    }
}

fn is_header(name: &str) -> bool {
    is_token(name)
        && !name.bytes().any(|byte| byte.is_ascii_uppercase())
        && !HOST_HEADERS.contains(&name)
        && !name.starts_with("x-forwarded-")
        && !name.starts_with("sec-")
}

fn is_token(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.bytes().all(allowed)
}
