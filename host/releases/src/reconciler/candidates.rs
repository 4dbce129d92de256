//! Candidates beside a release that serves: the canary that waits to take its place, and the
//! fallback that would serve in its place.

use std::collections::HashMap;
use std::sync::Arc;

use yearbook_catalog::ServingOrder;
use yearbook_domain::{Digest, PluginKind};
use yearbook_sandbox::{Plugin, PluginEncoder};

use super::{PluginReconciler, ReconcilerState};
use crate::canary::difference;
use crate::release_monitor::Candidates;
use crate::release_record::id;

impl PluginReconciler {
    /// Loads the candidates of each of `serving`; of encoders alone, since nothing tells whether
    /// two projects for a tool are alike.
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
            let Plugin::Encoder(encoder) = plugin else { continue };
            let format = &encoder.description().format;
            let Some(line) =
                lines.iter().find(|line| line.kind == PluginKind::Encoder && line.name == *format)
            else {
                continue;
            };
            let mut candidates = Candidates::default();
            let place = line
                .candidates
                .iter()
                .position(|release| release.id.digest == *encoder.digest())
                .unwrap_or(0);
            if !line.candidates.first().is_some_and(|first| first.pinned) {
                let previous =
                    self.load_first(state, &line.candidates[place + 1..], complete).await;
                candidates.previous = previous
                    .and_then(into_encoder)
                    .filter(|previous| check_same_description(encoder, previous).is_ok());
            }
            // Compared with what the catalog says serves, and with nothing else.
            if place == 0
                && let Some(waiting) = self
                    .load_first(state, line.waiting.as_slice(), complete)
                    .await
                    .and_then(into_encoder)
            {
                match check_same_description(encoder, &waiting) {
                    Ok(()) => candidates.waiting = Some(waiting),
                    Err(difference) => {
                        self.report_incompatible(state, waiting, encoder, &difference)
                    }
                }
            }
            all.insert(*encoder.digest(), candidates);
        }
        all
    }

    /// No comparison of responses can tell whether clients want what is promised now.
    fn report_incompatible(
        &self,
        state: &mut ReconcilerState,
        waiting: Arc<PluginEncoder>,
        encoder: &PluginEncoder,
        difference: &str,
    ) {
        if state.unlike.insert((*waiting.digest(), *encoder.digest())) {
            let fault = format!(
                "{difference}, which clients would notice; if that is meant: yearbook plugin pin, or install --now"
            );
            self.monitor.reject_canary(&id(&Plugin::Encoder(waiting)), encoder.digest(), fault);
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

fn check_same_description(one: &PluginEncoder, other: &PluginEncoder) -> Result<(), String> {
    difference(one.description(), other.description()).map_or(Ok(()), Err)
}
