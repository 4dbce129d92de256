//! Metrics of each release of a plugin, from the sandbox's own counts.

use std::fmt;
use std::time::Duration;

use yearbook_sandbox::{
    FIRST_BYTES_BUCKETS_US, PluginMetricsSnapshot, ResponseOutcome, Sandbox, TrapKind,
};

use super::exposition::{Labels, MetricsWriter};

/// Writes the counters of every release.
pub(super) fn write(sandbox: &Sandbox, sheet: &mut MetricsWriter<'_>) -> fmt::Result {
    let tallies = sandbox.metrics_snapshots();
    let all = ReleaseSnapshots(&tallies);
    all.responses(sheet)?;
    all.work(sheet)?;
    all.instances(sandbox, sheet)?;
    all.loads(sheet)
}

struct ReleaseSnapshots<'a>(&'a [PluginMetricsSnapshot]);

impl<'a> ReleaseSnapshots<'a> {
    fn responses(&self, sheet: &mut MetricsWriter<'_>) -> fmt::Result {
        sheet.counter(
            "yearbook_plugin_responses_begun",
            "Responses that were given a place among the sandbox's instances.",
            self.each(|counts| counts.begun),
        )?;
        sheet.counter(
            "yearbook_plugin_responses",
            "Responses by how they ended.",
            self.0.iter().flat_map(|counts| {
                ResponseOutcome::ALL.map(|outcome| {
                    (labels(counts, Some(("outcome", outcome.name()))), counts.outcome(outcome))
                })
            }),
        )?;
        sheet.counter(
            "yearbook_plugin_traps",
            "Responses that were stopped, by what stopped them.",
            self.0.iter().flat_map(|counts| {
                TrapKind::ALL
                    .map(|trap| (labels(counts, Some(("trap", trap.name()))), counts.trap(trap)))
            }),
        )?;
        let bounds: Vec<f64> =
            FIRST_BYTES_BUCKETS_US.iter().map(|bound| *bound as f64 / 1e6).collect();
        sheet.histogram(
            "yearbook_plugin_first_bytes_seconds",
            "Time from a response's place among the instances to its first bytes; a small response is whole then.",
            &bounds,
            self.0.iter().map(|counts| (labels(counts, None), counts.first_bytes.to_vec(), counts.first_bytes_time)),
        )
    }

    fn work(&self, sheet: &mut MetricsWriter<'_>) -> fmt::Result {
        sheet.counter(
            "yearbook_plugin_calls",
            "Calls into guests.",
            self.each(|counts| counts.calls),
        )?;
        sheet.counter(
            "yearbook_plugin_cpu_seconds",
            "Processor time of calls into guests, crossing included.",
            self.each(|counts| counts.cpu.as_secs_f64()),
        )?;
        sheet.gauge(
            "yearbook_plugin_memory_high_water_bytes",
            "Largest linear memory of any instance since the start.",
            self.each(|counts| counts.memory_bytes),
        )?;
        sheet.counter(
            "yearbook_plugin_rows",
            "Rows given to guests.",
            self.each(|counts| counts.rows),
        )?;
        sheet.counter(
            "yearbook_plugin_input_bytes",
            "Bytes of columns given to guests.",
            self.each(|counts| counts.bytes_in),
        )?;
        sheet.counter(
            "yearbook_plugin_output_bytes",
            "Bytes that guests returned.",
            self.each(|counts| counts.bytes_out),
        )
    }

    fn instances(&self, sandbox: &Sandbox, sheet: &mut MetricsWriter<'_>) -> fmt::Result {
        sheet.gauge(
            "yearbook_plugin_instances",
            "Instances that live.",
            self.each(|counts| counts.instances),
        )?;
        sheet.gauge(
            "yearbook_plugin_waiting",
            "Responses that wait for an instance.",
            self.each(|counts| counts.waiting),
        )?;
        sheet.counter(
            "yearbook_plugin_waited_seconds",
            "Time that responses waited for an instance.",
            self.each(|counts| counts.waited.as_secs_f64()),
        )?;
        sheet.counter(
            "yearbook_plugin_refused",
            "Responses refused with 503 because the host was at capacity.",
            self.each(|counts| counts.refused),
        )?;
        let limit = sandbox.limits().instances;
        sheet.gauge(
            "yearbook_sandbox_instances_limit",
            "Instances that may live at once (sandbox.instances).",
            [(vec![], limit)],
        )?;
        sheet.gauge(
            "yearbook_sandbox_instances_free",
            "Instances that are free.",
            [(vec![], sandbox.free_instances())],
        )?;
        let total = sandbox.limits().total_memory_bytes;
        let help = "Memory that all instances may hold together (sandbox.total_memory_bytes).";
        sheet.gauge("yearbook_sandbox_memory_limit_bytes", help, [(vec![], total)])?;
        sheet.gauge(
            "yearbook_sandbox_memory_bytes",
            "Memory that instances hold.",
            [(vec![], sandbox.held_memory())],
        )
    }

    fn loads(&self, sheet: &mut MetricsWriter<'_>) -> fmt::Result {
        sheet.counter(
            "yearbook_plugin_loads",
            "Loads of a component, by where its machine code came from.",
            self.by_origin(|loads| loads.count),
        )?;
        sheet.counter(
            "yearbook_plugin_load_seconds",
            "Time that loads took, checks included.",
            self.by_origin(|loads| loads.time)
                .map(|(labels, time): (_, Duration)| (labels, time.as_secs_f64())),
        )
    }

    fn each<V>(
        &self,
        value: impl Fn(&PluginMetricsSnapshot) -> V,
    ) -> impl Iterator<Item = (Labels<'a>, V)> {
        self.0.iter().map(move |counts| (labels(counts, None), value(counts)))
    }

    fn by_origin<V>(
        &self,
        value: impl Fn(yearbook_sandbox::LoadMetrics) -> V + Copy,
    ) -> impl Iterator<Item = (Labels<'a>, V)> {
        self.0.iter().flat_map(move |counts| {
            [("compiled", counts.compiled), ("cache", counts.cached)]
                .map(|(origin, loads)| (labels(counts, Some(("origin", origin))), value(loads)))
        })
    }
}

fn labels<'a>(
    counts: &'a PluginMetricsSnapshot,
    further: Option<(&'a str, &'a str)>,
) -> Labels<'a> {
    let release = &counts.release;
    let digest = release.id.digest.short();
    let own = [
        ("kind", release.id.kind.as_str()),
        ("name", &release.id.name),
        ("version", &release.version),
        ("release", digest),
    ];
    own.into_iter().chain(further).collect()
}
