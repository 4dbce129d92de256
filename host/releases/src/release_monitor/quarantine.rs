//! Ends of quarantines. Quarantines begin where the circuit breaker trips, in `tick`.

use yearbook_catalog::{CatalogError, PluginRelease, ReleaseState, ServingOrder};
use yearbook_domain::Millis;

use super::ReleaseMonitor;
use crate::ReleaseMonitorSettings;
use crate::canary::is_compared;

/// Returns whether a quarantine until `until` is over. The end is a calendar time, since all hosts
/// and a restart must agree on it. An end further ahead than the longest quarantine was written by
/// a wrong clock, or ours went back: such a quarantine must not last for years.
fn is_over(until: Millis, now: Millis) -> bool {
    let ahead = u128::from(until.0.saturating_sub(now.0).max(0).unsigned_abs());
    ahead == 0 || ahead > ReleaseMonitorSettings::LONGEST_QUARANTINE.as_millis()
}

/// Returns whether `serves` goes before a release that comes `back` from its quarantine: it is
/// pinned, or was promoted after the other.
fn is_replaced(back: &PluginRelease, serves: &PluginRelease) -> bool {
    serves.pinned || (!serves.built_in && serves.promotion > back.promotion)
}

/// Ends quarantines whose time is up. Where another release serves, the quarantined one becomes a
/// canary, unless the other replaced it; where none does, it serves again. Releases that nothing
/// compares come back behind those that replaced them.
pub(super) async fn end_quarantines(
    monitor: &ReleaseMonitor,
    releases: &[PluginRelease],
    lines: &[ServingOrder],
    now: Millis,
) -> Result<bool, CatalogError> {
    let mut changed = false;
    let over = |release: &&PluginRelease| {
        release.state == ReleaseState::Quarantined
            && release.until.is_some_and(|until| is_over(until, now))
    };
    for release in releases.iter().filter(over) {
        let line =
            lines.iter().find(|line| line.kind == release.id.kind && line.name == release.id.name);
        let serves = line.and_then(|line| line.candidates.first());
        let to = match serves {
            Some(_) if is_compared(release.id.kind) => ReleaseState::Installed,
            _ => ReleaseState::Promoted,
        };
        let next = match serves {
            Some(serves) if is_replaced(release, serves) => {
                format!("{} serves in its place", serves.id.digest.short())
            }
            Some(serves) if to == ReleaseState::Installed => {
                format!("it is compared with {}", serves.id.digest.short())
            }
            _ => "it is tried again".to_owned(),
        };
        let (from, reason) = (ReleaseState::Quarantined, format!("its quarantine is over; {next}"));
        changed |= monitor.transition(&release.id, from, to, reason, None, None).await?;
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_jumps_keeps_no_release_out_of_service_for_longer_than_a_day() {
        const DAY: i64 = 86_400_000;
        let until = 1_798_761_600_000;
        // The clock, and whether a quarantine until then is over.
        for (now, expected) in [
            (until - 60_000, false),
            (until - DAY, false),
            (until - 1, false),
            (until, true),
            (until + 1, true),
            // Forwards: over early, once, as after a restart of the host a day later.
            (until + 365 * DAY, true),
            // Backwards, or written by a host that was ahead: it would have lasted for a year.
            (until - DAY - 1, true),
            (until - 365 * DAY, true),
            (0, true),
            (i64::MIN, true),
            (i64::MAX, true),
        ] {
            assert_eq!(is_over(Millis(until), Millis(now)), expected, "{now}");
        }
    }
}
