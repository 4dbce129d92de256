//! The calls of one request, each in an instance of its own.

use std::sync::Arc;

use tracing::Instrument;
use wasmtime::Store;
use yearbook_shares::CallerShare;

use super::{PluginAdapter, adapter as guest, catalogue};
use crate::guest::bindings::adapter::AdapterPlugin;
use crate::guest::{HostState, InputSize};
use crate::guest_error::GuestError;
use crate::observe::ResponseMetrics;

/// Calls of an adapter for one request, all of one release.
pub struct AdapterCalls {
    plugin: Arc<PluginAdapter>,
    holder: CallerShare,
    request: Arc<guest::Request>,
}

impl PluginAdapter {
    /// Calls for `request` in the share of `holder`.
    #[must_use]
    pub fn calls(
        self: &Arc<Self>,
        holder: CallerShare,
        request: Arc<guest::Request>,
    ) -> AdapterCalls {
        AdapterCalls { plugin: Arc::clone(self), holder, request }
    }
}

impl AdapterCalls {
    /// The request.
    #[must_use]
    pub fn request(&self) -> &Arc<guest::Request> {
        &self.request
    }

    /// The adapter.
    #[must_use]
    pub fn plugin(&self) -> &Arc<PluginAdapter> {
        &self.plugin
    }

    /// Asks what to do next. `facts`: the answers so far.
    ///
    /// # Errors
    /// [`GuestError`].
    pub async fn answer(
        &mut self,
        facts: &Arc<Vec<catalogue::Fact>>,
    ) -> Result<guest::Reply, GuestError> {
        let (request, facts) = (Arc::clone(&self.request), Arc::clone(facts));
        self.call(move |guest, store| {
            guest.yearbook_plugin_adapter().call_answer(store, &request, &facts)
        })
        .await
    }

    /// Bytes around rows, or a document in their place.
    ///
    /// # Errors
    /// [`GuestError`].
    pub async fn frame(
        &mut self,
        facts: &Arc<Vec<catalogue::Fact>>,
        known: catalogue::Known,
    ) -> Result<guest::Framing, GuestError> {
        let (request, facts) = (Arc::clone(&self.request), Arc::clone(facts));
        self.call(move |guest, store| {
            guest.yearbook_plugin_adapter().call_frame(store, &request, &facts, &known)
        })
        .await
    }

    /// A refusal in the API's own form.
    ///
    /// # Errors
    /// [`GuestError`].
    pub async fn refuse(
        &mut self,
        refusal: catalogue::Refusal,
    ) -> Result<guest::Document, GuestError> {
        let request = Arc::clone(&self.request);
        self.call(move |guest, store| {
            guest.yearbook_plugin_adapter().call_refuse(store, &request, &refusal)
        })
        .await
    }

    async fn call<T: Send + 'static>(
        &mut self,
        call: impl FnOnce(&AdapterPlugin, &mut Store<HostState>) -> wasmtime::Result<T> + Send + 'static,
    ) -> Result<T, GuestError> {
        let plugin = Arc::clone(&self.plugin);
        plugin.check_turns()?;
        let places = plugin.admit_places(&self.holder, 1).await?;
        let account = ResponseMetrics::begin(&plugin.metrics, &plugin.host.dump_target);
        let (adapter, work) = (Arc::clone(&plugin), account.work());
        let job = move || {
            let input = InputSize::new(0, 0, true);
            let mut store = HostState::new_store(&adapter.host, work, input);
            let made = HostState::try_call(&mut store, |store| {
                let guest = adapter.linked.instantiate(&mut *store)?;
                call(&guest, store)
            });
            let made = made.map_err(|trap| store.data().stopped(trap));
            // The instance goes before its place is given back.
            drop(store);
            drop(places);
            made
        };
        let made = plugin.run_on_worker(&self.holder, job).instrument(account.span()).await;
        match &made {
            Ok(_) => {
                account.first_bytes();
                account.complete();
            }
            Err(error) => account.finish_failed(error),
        }
        made
    }
}
