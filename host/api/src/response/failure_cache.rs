//! Inputs that a plugin failed at a moment ago. A plugin is pure, so the same input would fail
//! again: who asks for it once more gets the same answer at once, and no worker is kept busy
//! (decision 0221).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use quick_cache::sync::Cache;
use yearbook_sandbox::GuestError;

/// Failures in memory. One has a kilobyte at most, a guest's sentence.
const ENTRIES: usize = 1024;

/// Failures by what was asked for: an entity tag, which names release, snapshot, rows and options.
pub(crate) struct FailureCache {
    entries: Cache<String, Entry>,
    ttl: Duration,
    created: Instant,
    /// Milliseconds after `born` at which the last entry ends, so that nothing is looked up as long
    /// as nothing fails.
    until: AtomicU64,
}

#[derive(Clone)]
struct Entry {
    until: u64,
    failure: std::sync::Arc<GuestError>,
}

impl FailureCache {
    /// A memory that keeps each failure for `time`.
    pub(crate) fn new(ttl: Duration) -> Self {
        Self {
            entries: Cache::new(ENTRIES),
            ttl,
            created: Instant::now(),
            until: AtomicU64::new(0),
        }
    }

    /// The failure at what `request` names; none where there was none, or too long ago.
    pub(crate) fn get(&self, request: &str) -> Option<GuestError> {
        let last = self.until.load(Ordering::Relaxed);
        if last == 0 {
            return None;
        }
        let now = self.now();
        if last <= now {
            return None;
        }
        let entry = self.entries.get(request)?;
        if entry.until <= now {
            self.entries.remove(request);
            return None;
        }
        entry.failure.repeated()
    }

    /// Remembers a failure that would come again. Asking for it does not make it last longer.
    pub(crate) fn insert(&self, request: &str, failure: &GuestError) {
        let Some(failure) = failure.repeated() else { return };
        let until = self.now().saturating_add(milliseconds(self.ttl));
        self.entries.insert(request.to_owned(), Entry { until, failure: failure.into() });
        self.until.fetch_max(until, Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        milliseconds(self.created.elapsed())
    }
}

fn milliseconds(ttl: Duration) -> u64 {
    u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use yearbook_domain::PluginKind;
    use yearbook_sandbox::{CalledPlugin, Trap};

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn json() -> CalledPlugin {
        CalledPlugin { kind: PluginKind::Encoder, name: "json".to_owned(), at: None }
    }

    fn trapped(trap: Trap) -> GuestError {
        GuestError::Trapped { plugin: json(), trap }
    }

    fn said(failed: &FailureCache, request: &str) -> Option<String> {
        failed.get(request).map(|failure| failure.to_string())
    }

    #[test]
    fn a_failure_is_told_again_for_the_same_input_and_no_other() {
        let failed = FailureCache::new(MINUTE);
        assert_eq!(said(&failed, "a"), None);
        failed.insert("a", &trapped(Trap::Memory(7)));
        failed.insert("b", &GuestError::TooLarge { plugin: json(), trap: Trap::Output(8) });
        let memory = "plugin json: wanted more memory than 7 bytes (sandbox.memory_bytes)";
        assert_eq!(said(&failed, "a").as_deref(), Some(memory));
        assert!(matches!(failed.get("b"), Some(GuestError::TooLarge { .. })));
        assert_eq!(said(&failed, "c"), None);
    }

    #[test]
    fn what_may_end_otherwise_the_next_time_is_not_remembered() {
        let failed = FailureCache::new(MINUTE);
        let causes = [
            trapped(Trap::Wall(1)),
            GuestError::Busy { retry_after: 1 },
            GuestError::Input("disk".into()),
        ];
        for (index, failure) in causes.iter().enumerate() {
            failed.insert(&index.to_string(), failure);
            assert_eq!(said(&failed, &index.to_string()), None, "{failure}");
        }
    }

    #[test]
    fn memory_is_bounded_in_number_and_in_time() {
        let failed = FailureCache::new(MINUTE);
        for index in 0..10 * ENTRIES {
            failed.insert(&index.to_string(), &trapped(Trap::Memory(7)));
        }
        assert!(failed.entries.len() <= ENTRIES, "{}", failed.entries.len());
        let brief = FailureCache::new(Duration::ZERO);
        brief.insert("a", &trapped(Trap::Memory(7)));
        assert_eq!(said(&brief, "a"), None);
        // One that ended, while another has not.
        brief.until.store(u64::MAX, Ordering::Relaxed);
        assert!(
            brief.entries.len() == 1 && said(&brief, "a").is_none() && brief.entries.is_empty()
        );
    }
}
