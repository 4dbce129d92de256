//! Writes of a host to the catalogue, tick by tick: canary totals and decisions, quarantines and
//! their ends, and the usage of each release. A few small writes a second at
//! most, and none while nothing happens.

use std::collections::HashMap;
use std::sync::Weak;
use std::time::Duration;

use yearbook_catalog::{
    CanaryTotals, CatalogCache, CatalogError, PluginRelease, ReleaseChange, ReleaseId,
    ReleaseState, ReleaseUsage, ServingOrder, StateTransition, lines,
};
use yearbook_domain::Millis;
use yearbook_sandbox::PluginMetricsSnapshot;

use super::ReleaseMonitor;
use super::quarantine::end_quarantines;
use crate::canary::{CanaryPair, evaluate};
use crate::circuit_breaker::{MetricsHistory, verdict};

/// Author of a host's transitions in the history.
const BY: &str = "yearbook";

/// Rounds after which the use of releases is written.
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
    written: HashMap<String, (u64, u64)>,
    rounds: u32,
    /// Set where the last tick failed, which was logged.
    failing: bool,
}

/// The catalogue as of this round.
pub(super) struct TickContext<'a> {
    pub(super) releases: &'a [PluginRelease],
    pub(super) lines: Vec<ServingOrder>,
    counts: Vec<PluginMetricsSnapshot>,
    pub(super) now: Millis,
}

impl TickContext<'_> {
    /// Tells whether nothing of a name that comes with the binary would serve after `id`. Such a
    /// release stays: all other inputs would be refused for those that fail. It is the last in
    /// line, not the only one, so that two releases that fail at once are not both taken away.
    fn is_last_built_in(&self, line: &ServingOrder, id: &ReleaseId) -> bool {
        let last = line.candidates.last().is_some_and(|last| last.id == *id);
        last && self.releases.iter().any(|release| {
            release.built_in && (&release.id.kind, &release.id.name) == (&line.kind, &line.name)
        })
    }
}

pub(super) async fn run(guard: Weak<ReleaseMonitor>, live: Weak<CatalogCache>, every: Duration) {
    let mut rounds = TickState::default();
    loop {
        let (Some(guard), Some(live)) = (guard.upgrade(), live.upgrade()) else { return };
        match rounds.tick(&guard, &live).await {
            Ok(()) => rounds.failing = false,
            // What was not written stays, and is written in a later round.
            Err(failure) if !rounds.failing => {
                tracing::warn!(%failure, "what was seen of plugins cannot be written");
                rounds.failing = true;
            }
            Err(_) => {}
        }
        drop(live);
        // A round early where something may decide; what comes at the same time shares it.
        let _ = tokio::time::timeout(every, guard.woken.notified()).await;
        drop(guard);
        tokio::time::sleep(WAKE_DELAY).await;
    }
}

impl TickState {
    async fn tick(
        &mut self,
        guard: &ReleaseMonitor,
        live: &CatalogCache,
    ) -> Result<(), CatalogError> {
        let releases = live.releases().borrow().clone();
        let view = TickContext {
            lines: lines(&releases),
            releases: &releases,
            counts: guard.sandbox.metrics_snapshots(),
            now: yearbook_catalog::clock::now(),
        };
        self.past.record(&view.counts, guard.settings.failure_window());
        let mut moved = self.trip_breakers(guard, &view).await?;
        moved |= self.evaluate_canaries(guard, &view).await?;
        moved |= end_quarantines(guard, &view).await?;
        self.rounds += 1;
        if self.rounds.is_multiple_of(USE_TICKS) {
            self.record_usage(guard, &view).await?;
        }
        // So that this host acts on it with the next request; the others hear of it as of any
        // change.
        if moved { live.refresh().await } else { Ok(()) }
    }

    /// Tells what was seen, and judges the sums.
    async fn evaluate_canaries(
        &mut self,
        guard: &ReleaseMonitor,
        view: &TickContext<'_>,
    ) -> Result<bool, CatalogError> {
        let waits = |id: &ReleaseId, incumbent: &str| {
            view.lines.iter().any(|line| {
                line.waiting.as_ref().is_some_and(|waiting| waiting.id == *id)
                    && line.candidates.first().is_some_and(|first| first.id.digest == incumbent)
            })
        };
        self.trials.retain(|(id, incumbent), _| waits(id, incumbent));
        let mut seen = guard.seen.take();
        seen.retain(|seen| waits(&seen.id, &seen.incumbent));
        let mut seen = seen.into_iter();
        while let Some(next) = seen.next() {
            match guard.store.add_canary_totals(&next).await {
                Ok(sum) => drop(self.trials.insert((sum.id.clone(), sum.incumbent.clone()), sum)),
                Err(failure) => {
                    guard.seen.add(next);
                    seen.for_each(|rest| guard.seen.add(rest));
                    return Err(failure);
                }
            }
        }
        let mut moved = false;
        for trial in self.trials.values() {
            let Some(verdict) = evaluate(trial, &guard.settings, view.now) else { continue };
            let against = Some(trial.incumbent.clone());
            moved |= transition(
                guard,
                &trial.id,
                ReleaseState::Installed,
                verdict.to,
                verdict.reason,
                against,
                None,
            )
            .await?;
        }
        Ok(moved)
    }

    /// Quarantines what failed too often.
    async fn trip_breakers(
        &mut self,
        guard: &ReleaseMonitor,
        view: &TickContext<'_>,
    ) -> Result<bool, CatalogError> {
        let mut moved = false;
        for (digest, strikes) in guard.strikes.within(guard.settings.failure_window()) {
            let Some(line) = view
                .lines
                .iter()
                .find(|line| line.candidates.iter().any(|release| release.id.digest == digest))
            else {
                continue;
            };
            let (Some(release), Some(counts)) = (
                line.candidates.iter().find(|release| release.id.digest == digest),
                view.counts.iter().find(|counts| counts.release.digest == digest),
            ) else {
                continue;
            };
            let (begun, whole) = self.past.delta(counts);
            let Some(reason) =
                verdict(&strikes, begun, whole, line.candidates.len() > 1, &guard.settings)
            else {
                continue;
            };
            guard.strikes.reset(&digest);
            if release.pinned {
                tracing::error!(
                    plugin = release.id.name,
                    digest,
                    reason,
                    "a pinned release fails; it stays, since somebody pinned it"
                );
                continue;
            }
            if view.is_last_built_in(line, &release.id) {
                tracing::error!(
                    plugin = release.id.name,
                    digest,
                    reason,
                    "the last release of a built-in plugin fails; it stays"
                );
                continue;
            }
            let lasts = guard.settings.quarantine_time(release.quarantines);
            let until = Millis(
                view.now.0.saturating_add(i64::try_from(lasts.as_millis()).unwrap_or(i64::MAX)),
            );
            let reason = format!("{reason}; out of service until {}", until.to_rfc3339());
            moved |= transition(
                guard,
                &release.id,
                ReleaseState::Promoted,
                ReleaseState::Quarantined,
                reason,
                None,
                Some(until),
            )
            .await?;
        }
        Ok(moved)
    }

    /// Adds what each release did since it was written last.
    async fn record_usage(
        &mut self,
        guard: &ReleaseMonitor,
        view: &TickContext<'_>,
    ) -> Result<(), CatalogError> {
        let since = |counts: &PluginMetricsSnapshot| {
            let (responses, failures) =
                self.written.get(&counts.release.digest).copied().unwrap_or_default();
            let release = &counts.release;
            let id = ReleaseId {
                kind: release.kind.to_owned(),
                name: release.name.clone(),
                digest: release.digest.clone(),
            };
            let used = ReleaseUsage {
                id,
                responses: counts.begun.saturating_sub(responses),
                failures: counts.failures().saturating_sub(failures),
                last_at: view.now,
            };
            (used.responses > 0 || used.failures > 0).then_some(used)
        };
        let used: Vec<ReleaseUsage> = view.counts.iter().filter_map(since).collect();
        if used.is_empty() {
            return Ok(());
        }
        guard.store.add_release_usage(&used).await?;
        for counts in &view.counts {
            self.written.insert(counts.release.digest.clone(), (counts.begun, counts.failures()));
        }
        Ok(())
    }
}

/// Records a conclusion, unless another host did or it no longer holds.
pub(super) async fn transition(
    guard: &ReleaseMonitor,
    id: &ReleaseId,
    from: ReleaseState,
    to: ReleaseState,
    reason: String,
    against: Option<String>,
    until: Option<Millis>,
) -> Result<bool, CatalogError> {
    let change = ReleaseChange {
        id: id.clone(),
        to,
        by: BY.to_owned(),
        at: yearbook_catalog::clock::now(),
        reason: Some(reason.clone()),
    };
    let settled =
        guard.store.transition_release(&StateTransition { change, from, against, until }).await?;
    if settled {
        let (plugin, digest, to) = (&id.name, &id.digest, to.as_str());
        tracing::warn!(plugin, digest, to, reason, "a release is settled");
    }
    Ok(settled)
}
