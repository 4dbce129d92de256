//! The calls of one request, each in an instance of its own. All of them together have the
//! processor time of one call of other plugins, and count as one response.

use std::sync::Arc;

use tracing::Instrument;
use yearbook_shares::CallerShare;

use super::answer::AdapterAnswer;
use super::input::{AdapterCall, AdapterInput};
use super::{PluginAdapter, adapter as guest, catalogue};
use crate::guest::HostState;
use crate::guest_error::GuestError;
use crate::observe::{CallMetrics, FailureDump, GuestLogLine, ResourceUsage, ResponseMetrics};

/// Calls of an adapter for one request, all of one release.
pub struct AdapterCalls {
    plugin: Arc<PluginAdapter>,
    holder: CallerShare,
    request: Arc<guest::Request>,
    /// The response, from the first call until it ends.
    account: Option<ResponseMetrics>,
    /// Set once the adapter has answered.
    answered: bool,
}

impl PluginAdapter {
    /// Calls for `request` in the share of `holder`.
    #[must_use]
    pub fn calls(
        self: &Arc<Self>,
        holder: CallerShare,
        request: Arc<guest::Request>,
    ) -> AdapterCalls {
        AdapterCalls { plugin: Arc::clone(self), holder, request, account: None, answered: false }
    }

    /// Blocking: one call in an instance of its own, charged with what the calls before it took.
    pub(crate) fn call(&self, work: Arc<CallMetrics>, input: &AdapterInput) -> CallOutput {
        let spent = work.cpu();
        let mut store = HostState::new_store(&self.host, work, input.size());
        store.data_mut().charge(spent);
        let made = HostState::try_call(&mut store, |store| {
            let guest = self.linked.instantiate(&mut *store)?;
            let guest = guest.yearbook_plugin_adapter();
            let request = &input.request;
            Ok(match &input.call {
                AdapterCall::Answer(facts) => {
                    AdapterAnswer::Reply(guest.call_answer(store, request, facts)?)
                }
                AdapterCall::Frame(facts, known) => {
                    AdapterAnswer::Framing(guest.call_frame(store, request, facts, known)?)
                }
                AdapterCall::Refuse(refusal) => {
                    AdapterAnswer::Document(guest.call_refuse(store, request, refusal)?)
                }
            })
        });
        let (state, mut usage) = (store.data(), store.data().used());
        let answer = made.map_err(|trap| state.stopped(trap)).and_then(|answer| {
            state.work().returned(answer.bytes());
            usage.output_bytes = answer.bytes();
            let checked = answer.check(self, input);
            checked.map(|()| answer).map_err(|rule| state.broken_rule(rule))
        });
        if let Err(error) = &answer
            && state.work().dump_target().is_enabled()
        {
            let release = state.work().release();
            let dump = FailureDump::for_adapter(release, input, &self.host.limits);
            state.write_dump(dump, input.function(), error);
        }
        CallOutput { answer, usage, log: state.guest_log().to_vec() }
    }
}

/// Result of a call.
pub(crate) struct CallOutput {
    /// The answer, or why there is none.
    pub(crate) answer: Result<AdapterAnswer, GuestError>,
    /// Usage of the instance.
    pub(crate) usage: ResourceUsage,
    /// Lines that it logged, where dumps are enabled.
    pub(crate) log: Vec<GuestLogLine>,
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
        match self.call(AdapterCall::Answer(Arc::clone(facts))).await? {
            AdapterAnswer::Reply(reply) => Ok(reply),
            _ => Err(of_another_call()),
        }
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
        match self.call(AdapterCall::Frame(Arc::clone(facts), known)).await? {
            AdapterAnswer::Framing(framing) => Ok(framing),
            _ => Err(of_another_call()),
        }
    }

    /// A refusal in the API's own form.
    ///
    /// # Errors
    /// [`GuestError`].
    pub async fn refuse(
        &mut self,
        refusal: catalogue::Refusal,
    ) -> Result<guest::Document, GuestError> {
        match self.call(AdapterCall::Refuse(refusal)).await? {
            AdapterAnswer::Document(document) => Ok(document),
            _ => Err(of_another_call()),
        }
    }

    async fn call(&mut self, call: AdapterCall) -> Result<AdapterAnswer, GuestError> {
        let plugin = Arc::clone(&self.plugin);
        plugin.check_turns()?;
        let places = plugin.admit_places(&self.holder, 1).await?;
        let begin = || ResponseMetrics::begin(&plugin.metrics, &plugin.host.dump_target);
        let account = self.account.take().unwrap_or_else(begin);
        let input = AdapterInput { request: Arc::clone(&self.request), call };
        let (adapter, work) = (Arc::clone(&plugin), account.work());
        let job = move || {
            let made = adapter.call(work, &input);
            // The instance is gone by now.
            drop(places);
            made.answer
        };
        let made = plugin.run_on_worker(&self.holder, job).instrument(account.span()).await;
        match &made {
            Ok(answer) => {
                if !answer.asks() && !std::mem::replace(&mut self.answered, true) {
                    account.first_bytes();
                }
                self.account = Some(account);
            }
            Err(error) => account.finish_failed(error),
        }
        made
    }
}

impl Drop for AdapterCalls {
    /// A response whose adapter has answered is complete; another one was abandoned.
    fn drop(&mut self) {
        if self.answered
            && let Some(account) = self.account.take()
        {
            account.complete();
        }
    }
}

/// Cannot be: each call returns what its function returns.
fn of_another_call() -> GuestError {
    GuestError::Host("a call returned what another one returns".to_owned())
}
