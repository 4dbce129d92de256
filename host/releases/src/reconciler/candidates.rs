//! Candidates beside a release that serves: the canary that waits to take its place, and the
//! fallback that would serve in its place.

use std::collections::HashMap;
use std::sync::Arc;

use yearbook_catalog::ServingOrder;
use yearbook_domain::Digest;
use yearbook_sandbox::{Plugin, PluginEncoder};

use super::{PluginReconciler, ReconcilerState};
use crate::canary::{adapter_difference, difference, is_compared, parameter_difference};
use crate::release_monitor::Candidates;
use crate::release_record::id;

impl PluginReconciler {
    /// Loads the candidates of each of `serving`; of no generator, since nothing tells whether two
    /// projects for a tool are alike. Only an encoder has a fallback.
    pub(super) async fn load_candidates(
        &self,
        state: &mut ReconcilerState,
        lines: &[ServingOrder],
        serving: &[Plugin],
        complete: &mut bool,
    ) -> HashMap<Digest, Candidates> {
        // One that is installed anew is judged anew.
        state.unlike.retain(|(digest, _)| {
            lines
                .iter()
                .any(|line| line.waiting.as_ref().is_some_and(|waits| waits.id.digest == *digest))
        });
        let mut all = HashMap::new();
        for plugin in serving {
            let (kind, name) = (plugin.kind(), plugin.name());
            if !is_compared(kind) {
                continue;
            }
            let line = lines.iter().find(|line| line.kind == kind && line.name == name);
            let Some(line) = line else { continue };
            let mut candidates = Candidates::default();
            let place = line
                .candidates
                .iter()
                .position(|release| release.id.digest == *plugin.digest())
                .unwrap_or(0);
            if let Plugin::Encoder(encoder) = plugin
                && !line.candidates.first().is_some_and(|first| first.pinned)
            {
                let previous =
                    self.load_first(state, &line.candidates[place + 1..], complete).await;
                candidates.previous = previous.and_then(into_encoder).filter(|previous| {
                    difference(encoder.description(), previous.description()).is_none()
                });
            }
            // Compared with what the catalog says serves, and with nothing else.
            if place == 0
                && let Some(waiting) =
                    self.load_first(state, line.waiting.as_slice(), complete).await
            {
                match description_difference(plugin, &waiting) {
                    None => candidates.waiting = Some(waiting),
                    Some(difference) => {
                        self.report_incompatible(state, &waiting, plugin, &difference)
                    }
                }
            }
            all.insert(*plugin.digest(), candidates);
        }
        all
    }

    /// No comparison of responses can tell whether clients want what is promised now.
    fn report_incompatible(
        &self,
        state: &mut ReconcilerState,
        waiting: &Plugin,
        serving: &Plugin,
        difference: &str,
    ) {
        if state.unlike.insert((*waiting.digest(), *serving.digest())) {
            let fault = format!(
                "{difference}, which clients would notice; if that is meant: yearbook plugin pin, or install --now"
            );
            self.monitor.reject_canary(&id(waiting), serving.digest(), fault);
        }
    }
}

fn into_encoder(plugin: Plugin) -> Option<Arc<PluginEncoder>> {
    match plugin {
        Plugin::Encoder(encoder) => Some(encoder),
        Plugin::Adapter(_) | Plugin::Generator(_) | Plugin::Reader(_) | Plugin::Transform(_) => {
            None
        }
    }
}

/// Difference of the descriptions of two releases of one plugin, in words.
fn description_difference(one: &Plugin, other: &Plugin) -> Option<String> {
    match (one, other) {
        (Plugin::Encoder(one), Plugin::Encoder(other)) => {
            difference(one.description(), other.description())
        }
        (Plugin::Transform(one), Plugin::Transform(other)) => {
            parameter_difference(&one.description().parameters, &other.description().parameters)
        }
        (Plugin::Adapter(one), Plugin::Adapter(other)) => {
            adapter_difference(one.description(), other.description())
        }
        _ => None,
    }
}
