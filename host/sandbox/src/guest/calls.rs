//! A call into a guest of any kind that it may decline, and the error of one that made nothing.

use wasmtime::Store;
use yearbook_domain::PluginKind;
use yearbook_engine::{Trap, sanitize_sentence};

use super::HostState;
use super::bindings::yearbook::plugin::types as wire;
use crate::guest_error::{CalledPlugin, GuestError};

/// An error that a guest reports. Its sentences are made harmless: they reach clients.
pub(crate) trait GuestReport {
    /// The error of the call of `plugin` that reported it.
    fn into_error(self, plugin: CalledPlugin) -> GuestError;
}

impl GuestReport for wire::Error {
    fn into_error(self, plugin: CalledPlugin) -> GuestError {
        match self {
            Self::UnsupportedSchema(sentence) => GuestError::Declined(sanitize_sentence(&sentence)),
            Self::InvalidOption(sentence) => {
                GuestError::InvalidOption(sanitize_sentence(&sentence))
            }
            Self::Internal(sentence) => {
                GuestError::Internal { plugin, message: sanitize_sentence(&sentence) }
            }
        }
    }
}

impl HostState {
    /// Makes a call. The store is spent after a trap.
    pub(crate) fn call<T: Send, E: GuestReport + Send>(
        store: &mut Store<Self>,
        call: impl FnOnce(&mut Store<Self>) -> wasmtime::Result<Result<T, E>> + Send,
    ) -> Result<T, GuestError> {
        match Self::try_call(store, call) {
            Ok(Ok(made)) => Ok(made),
            Ok(Err(report)) => Err(report.into_error(store.data().called_plugin())),
            Err(trap) => Err(store.data().stopped(trap)),
        }
    }

    /// The error of a guest that was stopped.
    pub(crate) fn stopped(&self, trap: Trap) -> GuestError {
        let plugin = self.called_plugin();
        match trap {
            // Its client is asked to come again.
            Trap::TotalMemory { .. }
                if matches!(plugin.kind, PluginKind::Encoder | PluginKind::Transform) =>
            {
                tracing::warn!(plugin = plugin.name, "a response was given up: {trap}");
                GuestError::Busy { retry_after: 1 }
            }
            Trap::TotalMemory { shared, .. } => GuestError::MemoryUsedUp { shared },
            trap if self.input.attributes_to_input(&trap, &self.limits) => {
                GuestError::TooLarge { plugin, trap }
            }
            trap => GuestError::Trapped { plugin, trap },
        }
    }

    /// The error of a guest whose output breaks `rule`.
    pub(crate) fn broken_rule(&self, rule: String) -> GuestError {
        GuestError::Output { plugin: self.called_plugin(), rule }
    }

    fn called_plugin(&self) -> CalledPlugin {
        let id = &self.work().release().id;
        let at = (id.kind == PluginKind::Reader).then_some(self.pushed);
        CalledPlugin { kind: id.kind, name: id.name.clone(), at }
    }
}
