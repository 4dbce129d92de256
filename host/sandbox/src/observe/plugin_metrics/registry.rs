//! The tallies of a sandbox: one for each release that was ever loaded, up to a bound.

use std::sync::{Arc, Mutex, PoisonError};

use super::{PluginMetrics, ReleaseName};

/// Releases that are remembered after they were unloaded: a year of weekly releases of five
/// plugins. Loaded ones are always remembered.
const MAX_RELEASES: usize = 256;

/// Tallies in the order in which their releases were first loaded.
#[derive(Default)]
pub(crate) struct MetricsRegistry(Mutex<Vec<Arc<PluginMetrics>>>);

impl MetricsRegistry {
    /// The counters of a release, those from before where it was loaded before.
    pub(crate) fn get_or_register(&self, release: ReleaseName) -> Arc<PluginMetrics> {
        let mut tallies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = tallies.iter().find(|tally| *tally.release() == release) {
            return Arc::clone(known);
        }
        // Nobody counts in a tally that only this list holds.
        if tallies.len() >= MAX_RELEASES
            && let Some(idle) = tallies.iter().position(|tally| Arc::strong_count(tally) == 1)
        {
            tallies.remove(idle);
        }
        let tally = Arc::new(PluginMetrics::new(release));
        tallies.push(Arc::clone(&tally));
        tally
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<Arc<PluginMetrics>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use yearbook_domain::{Digest, PluginKind, ReleaseId};

    use super::*;

    fn release(number: usize) -> ReleaseName {
        ReleaseName {
            id: ReleaseId {
                kind: PluginKind::Encoder,
                name: "csv".to_owned(),
                digest: Digest::compute(&number.to_le_bytes()),
            },
            version: "1.0.0".to_owned(),
        }
    }

    #[test]
    fn a_release_that_is_loaded_again_goes_on_counting() {
        let ledger = MetricsRegistry::default();
        ledger.get_or_register(release(1)).record_refusal();
        assert_eq!(ledger.get_or_register(release(1)).counts().refused, 1);
        assert_eq!(ledger.all().len(), 1);
    }

    #[test]
    fn the_oldest_unloaded_release_is_forgotten_and_a_loaded_one_never() {
        let ledger = MetricsRegistry::default();
        let loaded = ledger.get_or_register(release(0));
        (1..=MAX_RELEASES).for_each(|number| drop(ledger.get_or_register(release(number))));
        let known = ledger.all();
        assert_eq!(known.len(), MAX_RELEASES);
        assert!(known.iter().any(|tally| Arc::ptr_eq(tally, &loaded)));
        assert!(!known.iter().any(|tally| *tally.release() == release(1)));
    }
}
