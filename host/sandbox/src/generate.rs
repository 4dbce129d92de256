//! Integration generators: descriptions of datasets in, files for a data tool out, in one call on a
//! worker and in a fresh instance. Never touches HTTP; what the files say is the guest's affair,
//! where they may lie is checked here (contract-4-integration-paths, contract-4-integration-map).

mod description;
mod project;
mod request;

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use tracing::Instrument;
use yearbook_shares::{CallerShare, SlotPermit};

use crate::generator_request::GeneratorRequest;
use crate::guest::bindings::generator::GeneratorPluginPre;
use crate::guest::bindings::yearbook::plugin::types as wire;
use crate::guest::parameters::wire_option;
use crate::guest::{HostState, InputSize};
use crate::guest_error::GuestError;
use crate::observe::{
    CallMetrics, FailureDump, GuestFunction, GuestLogLine, ResourceUsage, ResponseMetrics,
};
use crate::plugin_head::PluginHead;

pub use description::GeneratorDescription;
pub use project::{GeneratedProject, ProjectFile};

/// Pause before a call that ran out of the memory of all guests is made again.
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// A loaded integration.
pub struct PluginGenerator {
    pub(crate) head: PluginHead,
    pub(crate) linked: GeneratorPluginPre<HostState>,
    pub(crate) description: GeneratorDescription,
}

impl Deref for PluginGenerator {
    type Target = PluginHead;

    fn deref(&self) -> &PluginHead {
        &self.head
    }
}

impl PluginGenerator {
    /// The plugin's description, checked.
    #[must_use]
    pub fn description(&self) -> &GeneratorDescription {
        &self.description
    }

    /// Makes the files of one answer in an instance of the share of `holder`. Waits for an
    /// instance, and for memory, as long as the caller does: contract-4-integration-wait allows no
    /// 503 here, and the queue is fair. Dropping the future gives up the place in it; a call that
    /// runs already ends by itself, under its limits.
    ///
    /// # Errors
    /// [`GuestError`].
    pub async fn generate(
        self: &Arc<Self>,
        holder: &CallerShare,
        request: GeneratorRequest,
    ) -> Result<GeneratedProject, GuestError> {
        let request = Arc::new(request);
        loop {
            match self.attempt(holder, Arc::clone(&request)).await {
                // Others took the memory that it grew into, and will give it back; alone it would
                // fail again.
                Err(GuestError::MemoryUsedUp { shared: true }) => {
                    tokio::time::sleep(RETRY_DELAY).await
                }
                made => return made,
            }
        }
    }

    async fn attempt(
        self: &Arc<Self>,
        holder: &CallerShare,
        request: Arc<GeneratorRequest>,
    ) -> Result<GeneratedProject, GuestError> {
        let waiting = self.metrics.start_waiting();
        // Before the instance, so that a plugin that is late holds none meanwhile.
        let turn = self.limiter.acquire().await;
        let permit = self.host.admission.instances.acquire(holder, true).await;
        self.host.admission.memory.wait_for_room().await;
        drop(waiting);
        let permit = permit.map_err(|_| GuestError::Host("the sandbox is shut down".to_owned()))?;
        let account = ResponseMetrics::begin(&self.metrics, &self.host.dump_target);
        let (generator, work) = (Arc::clone(self), account.work());
        let job = move || generator.call(permit, work, &request).project;
        match self.run_in_turn(holder, turn, job).instrument(account.span()).await {
            Ok(project) => {
                account.first_bytes();
                account.complete();
                Ok(project)
            }
            Err(error) => {
                account.finish_failed(&error);
                Err(error)
            }
        }
    }

    /// Blocking: one call in an instance of its own.
    pub(crate) fn call(
        &self,
        permit: SlotPermit,
        work: Arc<CallMetrics>,
        request: &GeneratorRequest,
    ) -> GenerateOutput {
        let options = self.description.parameters.complete(&request.options);
        let lent: Vec<wire::OptionValue<'_>> = options.iter().map(wire_option).collect();
        let plain = self.description.parameters.are_default(&request.options);
        let input = InputSize::new(request.columns(), 0, plain);
        let mut store = HostState::new_store(&self.host, work, input);
        let made = request::borrow(request, &lent, |request| {
            HostState::call(&mut store, |store| {
                let guest = self.linked.instantiate(&mut *store)?;
                guest.yearbook_plugin_generator().call_generate(store, request)
            })
        });
        let (state, usage) = (store.data(), store.data().used());
        let project = made.and_then(|project| {
            state.work().returned(project.files.iter().map(|file| file.content.len()).sum());
            GeneratedProject::check(project).map_err(|rule| state.broken_rule(rule))
        });
        let log = state.guest_log().to_vec();
        if let Err(error) = &project
            && state.work().dump_target().is_enabled()
        {
            let dump = FailureDump::for_request(
                state.work().release(),
                request,
                options,
                &self.host.limits,
            );
            state.write_dump(dump, GuestFunction::Generate, error);
        }
        // The instance goes before its place in the pool is given back.
        drop(store);
        drop(permit);
        GenerateOutput { project, usage, log }
    }
}

/// Result of a call.
pub(crate) struct GenerateOutput {
    /// The files, or why there are none.
    pub(crate) project: Result<GeneratedProject, GuestError>,
    /// Usage of the instance.
    pub(crate) usage: ResourceUsage,
    /// Lines that it logged, where dumps are enabled.
    pub(crate) log: Vec<GuestLogLine>,
}
