//! Decision on a canary release: a pure function of the totals of all hosts.

use yearbook_catalog::{CanaryTotals, ReleaseState};
use yearbook_domain::Millis;

use crate::ReleaseMonitorSettings;

/// Memory that is never held against a release, bytes: what a response of one batch takes anyway.
const FREE_MEMORY: u64 = 16 << 20;

/// Processor time a response that is never held against a release, nanoseconds: below, the clock
/// decides.
const FREE_CPU_NS: u64 = 100_000;

/// A decision and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CanaryDecision {
    /// Promoted or rolled back.
    pub(crate) to: ReleaseState,
    /// For the history.
    pub(crate) reason: String,
}

/// The verdict on what was `seen` by now; `None` if there is none yet.
pub(crate) fn evaluate(
    seen: &CanaryTotals,
    settings: &ReleaseMonitorSettings,
    now: Millis,
) -> Option<CanaryDecision> {
    let rolled_back =
        |reason: String| Some(CanaryDecision { to: ReleaseState::RolledBack, reason });
    if let Some(fault) = &seen.fault {
        return rolled_back(fault.clone());
    }
    // Nothing was measured as long as every sample was a host's first.
    if seen.samples < settings.canary_responses.max(1) || seen.incumbent_ns == 0 {
        return None;
    }
    let (cpu, memory) =
        (ratio(seen.cpu_ns, seen.incumbent_ns), ratio(seen.memory, seen.incumbent_memory));
    let excess = seen.cpu_ns.saturating_sub(seen.incumbent_ns) / seen.samples;
    if cpu > settings.canary_cpu_ratio && excess > FREE_CPU_NS {
        return rolled_back(format!(
            "it takes {cpu:.1} times the processor time of {} for the same responses",
            seen.incumbent.short()
        ));
    }
    if memory > settings.canary_memory_ratio && seen.memory > FREE_MEMORY {
        return rolled_back(format!(
            "it takes {memory:.1} times the memory of {} for the same responses",
            seen.incumbent.short()
        ));
    }
    let since = u128::from(now.0.saturating_sub(seen.first_at.0).max(0).unsigned_abs());
    if since < settings.min_canary_time().as_millis() {
        return None;
    }
    let agreeing = match seen.samples {
        1 => "1 response has".to_owned(),
        samples => format!("{samples} responses have"),
    };
    let mut reason = format!("{agreeing} the values of {}", seen.incumbent.short());
    if seen.rewritten > 0 {
        reason.push_str(&format!(", {} of them in other bytes", seen.rewritten));
    }
    reason.push_str(&format!("; {cpu:.1} times its processor time, {memory:.1} times its memory"));
    Some(CanaryDecision { to: ReleaseState::Promoted, reason })
}

/// Good enough for people and for bounds.
#[expect(clippy::cast_precision_loss, reason = "a ratio of large numbers")]
fn ratio(one: u64, other: u64) -> f64 {
    one as f64 / other.max(1) as f64
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use yearbook_catalog::ReleaseId;
    use yearbook_domain::{Digest, PluginKind};

    use super::*;

    fn seen(samples: u64) -> CanaryTotals {
        let id = ReleaseId {
            kind: PluginKind::Encoder,
            name: "csv".to_owned(),
            digest: Digest::compute(b"a"),
        };
        let incumbent = Digest::parse(&"b".repeat(64)).unwrap();
        let mut seen = crate::canary::empty_totals(&(id, incumbent));
        seen.samples = samples;
        (seen.cpu_ns, seen.incumbent_ns, seen.memory, seen.incumbent_memory) =
            (samples * 1_000_000, samples * 900_000, 9 << 20, 8 << 20);
        seen.first_at = Millis(0);
        seen
    }

    fn verdict(seen: &CanaryTotals, seconds: i64) -> Option<(ReleaseState, String)> {
        evaluate(seen, &ReleaseMonitorSettings::default(), Millis(seconds * 1_000))
            .map(|verdict| (verdict.to, verdict.reason))
    }

    #[test]
    fn a_release_is_promoted_after_enough_responses_and_enough_time() {
        assert_eq!(verdict(&seen(19), 1_000), None);
        assert_eq!(verdict(&seen(20), 59), None);
        let (to, reason) = verdict(&CanaryTotals { rewritten: 3, ..seen(20) }, 60).unwrap();
        assert_eq!(to, ReleaseState::Promoted);
        assert_eq!(
            reason,
            "20 responses have the values of bbbbbbbbbbbb, 3 of them in other bytes; 1.1 times its processor time, 1.1 times its memory"
        );
        assert_eq!(
            verdict(&CanaryTotals { incumbent_ns: 0, ..seen(20) }, 60),
            None,
            "nothing was measured"
        );
    }

    #[test]
    fn one_fault_is_enough_for_a_rollback() {
        let fault = CanaryTotals { fault: Some("a wrong byte".to_owned()), ..seen(1) };
        assert_eq!(verdict(&fault, 0), Some((ReleaseState::RolledBack, "a wrong byte".to_owned())));
    }

    #[test]
    fn what_costs_more_than_twice_as_much_is_rolled_back_unless_it_is_next_to_nothing() {
        let slow = CanaryTotals { cpu_ns: 20 * 2_000_000, ..seen(20) };
        assert!(verdict(&slow, 0).is_some_and(|(to, why)| to == ReleaseState::RolledBack
            && why.contains("2.2 times the processor time")));
        let quick = CanaryTotals { cpu_ns: 20 * 90_000, incumbent_ns: 20 * 9_000, ..seen(20) };
        assert!(verdict(&quick, 60).is_some_and(|(to, _)| to == ReleaseState::Promoted));
        let fat = CanaryTotals { memory: 64 << 20, ..seen(20) };
        assert!(verdict(&fat, 0).is_some_and(
            |(to, why)| to == ReleaseState::RolledBack && why.contains("8.0 times the memory")
        ));
        let small = CanaryTotals { memory: 16 << 20, incumbent_memory: 2 << 20, ..seen(20) };
        assert!(verdict(&small, 60).is_some_and(|(to, _)| to == ReleaseState::Promoted));
    }
}
