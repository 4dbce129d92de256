//! Writes of a host to the catalog, tick by tick: canary totals and decisions, quarantines and
//! their ends, and the usage of each release. A few small writes a second at
//! most, and none while nothing happens.

use std::collections::HashMap;
use std::sync::Weak;
use std::time::Duration;

use yearbook_catalog::{
    CanaryTotals, CatalogCache, CatalogError, PluginRelease, ReleaseId, ReleaseState, ReleaseUsage,
    ServingOrder, lines,
};
use yearbook_domain::{Digest, Millis};
use yearbook_sandbox::PluginMetricsSnapshot;

use super::ReleaseMonitor;
use super::quarantine::end_quarantines;
use crate::canary::{CanaryPair, evaluate};
use crate::circuit_breaker::{MetricsHistory, verdict};

/// Ticks after which the use of releases is written.
const USE_TICKS: u32 = 5;

/// Delay after a wake-up, so that events at the same time share a tick.
const WAKE_DELAY: Duration = Duration::from_millis(10);

/// State of a host from tick to tick.
#[derive(Default)]
struct TickState {
    /// Sums of all hosts, as of when this one added to them last.
    trials: HashMap<CanaryPair, CanaryTotals>,
    past: MetricsHistory,
    /// Responses and failures of each release that have been written.
    written: HashMap<ReleaseId, (u64, u64)>,
    ticks: u32,
    /// Set where the last tick failed, which was logged.
    failing: bool,
}

/// The catalog as of this tick.
struct TickContext<'a> {
    releases: &'a [PluginRelease],
    lines: Vec<ServingOrder>,
    counts: Vec<PluginMetricsSnapshot>,
    /// Number of datasets that are published.
    datasets: usize,
    now: Millis,
}

impl TickContext<'_> {
    /// Returns true where nothing of a name that comes with the binary would serve after `id`. Such
    /// a release stays: all other inputs would be refused for those that fail. It is the last in
    /// line, not the only one, so that two releases that fail at once are not both taken away.
    fn is_last_built_in(&self, line: &ServingOrder, id: &ReleaseId) -> bool {
        let last = line.candidates.last().is_some_and(|last| last.id == *id);
        last && self.releases.iter().any(|release| {
            release.built_in && (release.id.kind, &release.id.name) == (line.kind, &line.name)
        })
    }
}

pub(super) async fn run(monitor: Weak<ReleaseMonitor>, live: Weak<CatalogCache>, every: Duration) {
    let mut ticks = TickState::default();
    loop {
        let (Some(monitor), Some(live)) = (monitor.upgrade(), live.upgrade()) else { return };
        match ticks.tick(&monitor, &live).await {
            Ok(()) => ticks.failing = false,
            // What was not written stays, and is written in a later tick.
            Err(failure) if !ticks.failing => {
                tracing::warn!(%failure, "what was seen of plugins cannot be written");
                ticks.failing = true;
            }
            Err(_) => {}
        }
        drop(live);
        // A tick early where something may decide; what comes at the same time shares it.
        let _ = tokio::time::timeout(every, monitor.woken.notified()).await;
        drop(monitor);
        tokio::time::sleep(WAKE_DELAY).await;
    }
}

impl TickState {
    async fn tick(
        &mut self,
        monitor: &ReleaseMonitor,
        live: &CatalogCache,
    ) -> Result<(), CatalogError> {
        let releases = live.releases().borrow().clone();
        let context = TickContext {
            lines: lines(&releases),
            releases: &releases,
            counts: monitor.sandbox.metrics_snapshots(),
            datasets: live.datasets().len(),
            now: yearbook_catalog::clock::now(),
        };
        self.past.record(&context.counts, monitor.settings.failure_window());
        let mut changed = self.trip_breakers(monitor, &context).await?;
        changed |= self.evaluate_canaries(monitor, &context).await?;
        changed |= end_quarantines(monitor, context.releases, &context.lines, context.now).await?;
        self.ticks += 1;
        if self.ticks.is_multiple_of(USE_TICKS) {
            self.record_usage(monitor, &context).await?;
        }
        // So that this host acts on it with the next request; the others hear of it as of any
        // change.
        if changed { live.refresh().await } else { Ok(()) }
    }

    /// Tells what was seen, and judges the sums.
    async fn evaluate_canaries(
        &mut self,
        monitor: &ReleaseMonitor,
        context: &TickContext<'_>,
    ) -> Result<bool, CatalogError> {
        let waits = |id: &ReleaseId, incumbent: &Digest| {
            context.lines.iter().any(|line| {
                line.waiting.as_ref().is_some_and(|waiting| waiting.id == *id)
                    && line.candidates.first().is_some_and(|first| first.id.digest == *incumbent)
            })
        };
        self.trials.retain(|(id, incumbent), _| waits(id, incumbent));
        let mut seen = monitor.seen.take();
        seen.retain(|seen| waits(&seen.id, &seen.incumbent));
        let mut seen = seen.into_iter();
        while let Some(next) = seen.next() {
            match monitor.store.add_canary_totals(&next).await {
                Ok(sum) => drop(self.trials.insert((sum.id.clone(), sum.incumbent), sum)),
                Err(failure) => {
                    monitor.seen.add(next);
                    seen.for_each(|rest| monitor.seen.add(rest));
                    return Err(failure);
                }
            }
        }
        let mut changed = false;
        for trial in self.trials.values() {
            let Some(verdict) = evaluate(trial, &monitor.settings, context.now) else { continue };
            let against = Some(trial.incumbent);
            let (from, to) = (ReleaseState::Installed, verdict.to);
            changed |=
                monitor.transition(&trial.id, from, to, verdict.reason, against, None).await?;
        }
        Ok(changed)
    }

    /// Quarantines what failed too often.
    async fn trip_breakers(
        &mut self,
        monitor: &ReleaseMonitor,
        context: &TickContext<'_>,
    ) -> Result<bool, CatalogError> {
        let mut changed = false;
        let settings = monitor.settings.for_published(context.datasets);
        for (digest, failures) in monitor.circuit_breaker.within(monitor.settings.failure_window())
        {
            let Some(line) = context
                .lines
                .iter()
                .find(|line| line.candidates.iter().any(|release| release.id.digest == digest))
            else {
                continue;
            };
            let Some(release) = line.candidates.iter().find(|release| release.id.digest == digest)
            else {
                continue;
            };
            let (begun, whole) = self.past.delta(&context.counts, &digest);
            let Some(reason) =
                verdict(&failures, begun, whole, line.candidates.len() > 1, &settings)
            else {
                continue;
            };
            monitor.circuit_breaker.reset(&digest);
            if release.pinned {
                tracing::error!(
                    plugin = release.id.name,
                    %digest,
                    reason,
                    "a pinned release fails; it stays, since somebody pinned it"
                );
                continue;
            }
            if context.is_last_built_in(line, &release.id) {
                tracing::error!(
                    plugin = release.id.name,
                    %digest,
                    reason,
                    "the last release of a built-in plugin fails; it stays"
                );
                continue;
            }
            let lasts = monitor.settings.quarantine_time(release.quarantines);
            let until = Millis(
                context.now.0.saturating_add(i64::try_from(lasts.as_millis()).unwrap_or(i64::MAX)),
            );
            let reason = format!("{reason}; out of service until {}", until.to_rfc3339());
            let (from, to) = (ReleaseState::Promoted, ReleaseState::Quarantined);
            changed |= monitor.transition(&release.id, from, to, reason, None, Some(until)).await?;
        }
        Ok(changed)
    }

    /// Adds what each release did since it was written last.
    async fn record_usage(
        &mut self,
        monitor: &ReleaseMonitor,
        context: &TickContext<'_>,
    ) -> Result<(), CatalogError> {
        let since = |counts: &PluginMetricsSnapshot| {
            let (responses, failures) =
                self.written.get(&counts.release.id).copied().unwrap_or_default();
            let used = ReleaseUsage {
                id: counts.release.id.clone(),
                responses: counts.begun.saturating_sub(responses),
                failures: counts.failures().saturating_sub(failures),
                last_at: context.now,
            };
            (used.responses > 0 || used.failures > 0).then_some(used)
        };
        let used: Vec<ReleaseUsage> = context.counts.iter().filter_map(since).collect();
        if used.is_empty() {
            return Ok(());
        }
        monitor.store.add_release_usage(&used).await?;
        for counts in &context.counts {
            let written = (counts.begun, counts.failures());
            self.written.insert(counts.release.id.clone(), written);
        }
        Ok(())
    }
}
