//! Report of a check, for people and for machines.

use std::time::Duration;

use serde::Serialize;
use yearbook_domain::{Digest, PluginKind};
use yearbook_sandbox::adapter_limits::{CALLS, FACT_BYTES, QUESTIONS, READS};
use yearbook_sandbox::{FailureDump, Limits, Plugin, ResourceUsage, TrialError, TrialResponse};

use super::advice::advice_on;
use crate::ComponentFile;

/// Findings that are listed; a plugin that fails everything fails it for few reasons.
const MAX_FINDINGS: usize = 50;

/// Everything that a check has to say.
#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    /// Kind of the plugin; `None` when it could not be loaded.
    pub kind: Option<PluginKind>,
    /// Format or tool.
    pub name: Option<String>,
    /// The plugin's own version.
    pub version: Option<String>,
    /// SHA-256 of the component.
    pub digest: Digest,
    /// Size of the component in bytes.
    pub bytes: usize,
    /// Set where a core module was made a component.
    pub wrapped: bool,
    /// Names of what it imports; `None` when they cannot be read.
    pub imports: Option<Vec<String>>,
    /// Names of what it exports, likewise; the interface's version stands in them.
    pub exports: Option<Vec<String>>,
    /// Responses made.
    pub tries: usize,
    /// Tables that were left out, because this host hands no such column to plugins.
    pub skipped: Vec<String>,
    /// Findings, 50 at most.
    pub findings: Vec<Finding>,
    /// Findings beyond those listed.
    pub more_findings: usize,
    /// Usage of each limit.
    pub budget: Vec<LimitUsage>,
}

impl CheckReport {
    /// Returns whether nothing is wrong.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Place: a call, a table, a field.
    pub place: String,
    /// The fault.
    pub wrong: String,
    /// Advice.
    pub advice: String,
}

/// Usage of one limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitUsage {
    /// For people.
    pub what: &'static str,
    /// The most that was used.
    pub used: f64,
    /// The limit.
    pub limit: f64,
    /// Of both.
    pub unit: &'static str,
    /// The setting that moves the limit; `None` where it is fixed.
    pub setting: Option<&'static str>,
}

/// A report in the making.
pub(super) struct ReportBuilder {
    report: CheckReport,
    limits: Limits,
    usage: ResourceUsage,
    amplification: f64,
    /// Most calls, questions, reads and bytes of facts of a request; of adapters alone.
    requests: Option<[usize; 4]>,
    compiled: (Duration, Duration),
    loaded_again: Duration,
    dumps: Vec<FailureDump>,
}

impl ReportBuilder {
    pub(super) fn new(component: &ComponentFile, limits: &Limits) -> Self {
        let report = CheckReport {
            kind: None,
            name: None,
            version: None,
            digest: component.digest,
            bytes: component.bytes.len(),
            wrapped: component.wrapped,
            imports: component.imports.clone(),
            exports: component.exports.clone(),
            tries: 0,
            skipped: Vec::new(),
            findings: Vec::new(),
            more_findings: 0,
            budget: Vec::new(),
        };
        let zero = Duration::ZERO;
        Self {
            report,
            limits: *limits,
            usage: ResourceUsage::default(),
            amplification: 0.0,
            requests: None,
            compiled: (zero, zero),
            loaded_again: zero,
            dumps: Vec::new(),
        }
    }

    pub(super) fn identify(&mut self, plugin: &Plugin) {
        self.report.kind = Some(plugin.kind());
        self.report.name = Some(plugin.name().to_owned());
        self.report.version = Some(plugin.version().to_owned());
    }

    pub(super) fn find(
        &mut self,
        place: impl Into<String>,
        wrong: impl Into<String>,
        advice: impl Into<String>,
    ) {
        if self.report.findings.len() < MAX_FINDINGS {
            self.report.findings.push(Finding {
                place: place.into(),
                wrong: wrong.into(),
                advice: advice.into(),
            });
        } else {
            self.report.more_findings += 1;
        }
    }

    /// Keeps the first dump of each way of failing.
    /// Notes that a call failed.
    pub(super) fn find_failure(&mut self, place: &str, failed: TrialError) {
        let TrialError { call, error, dump } = failed;
        self.add_dump(dump);
        let advice = self.report.kind.map_or("", |kind| advice_on(kind, &error));
        self.find(format!("{place}, {call}"), error.to_string(), advice);
    }

    pub(super) fn add_dump(&mut self, dump: Option<Box<FailureDump>>) {
        if let Some(dump) = dump
            && self.dumps.iter().all(|kept| kept.file_name() != dump.file_name())
        {
            self.dumps.push(*dump);
        }
    }

    pub(super) fn add_skipped(&mut self, what: &str) {
        self.report.skipped.push(what.to_owned());
    }

    pub(super) fn record_compile(&mut self, took: Duration, limit: Duration) {
        self.compiled = (took, limit);
    }

    pub(super) fn record_reload(&mut self, took: Duration) {
        self.loaded_again = took;
    }

    /// Counts a response.
    pub(super) fn record_usage(&mut self, usage: ResourceUsage) {
        self.report.tries += 1;
        self.usage = self.usage.and(usage);
    }

    /// Counts what an adapter asked for a request.
    pub(super) fn record_rounds(&mut self, calls: usize, questions: usize, reads: usize) {
        self.record_request([calls, questions, reads, 0]);
    }

    /// Counts what an adapter was told for a request.
    pub(super) fn record_facts(&mut self, bytes: usize) {
        self.record_request([0, 0, 0, bytes]);
    }

    fn record_request(&mut self, used: [usize; 4]) {
        let most = self.requests.get_or_insert_default();
        for (most, used) in most.iter_mut().zip(used) {
            *most = used.max(*most);
        }
    }

    /// Takes the ratio of a large response; small ones may exceed the limit, since any call may
    /// return some bytes whatever its input.
    pub(super) fn record_amplification(&mut self, trial: &TrialResponse) {
        #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
        let ratio = trial.bytes() as f64 / trial.weight.max(1) as f64;
        self.amplification = self.amplification.max(ratio);
    }

    pub(super) fn finish(mut self) -> (CheckReport, Vec<FailureDump>) {
        let Limits {
            memory_bytes,
            table_elements,
            cpu_ms_per_call,
            output_bytes_per_call,
            amplification,
            component_bytes,
            ..
        } = self.limits;
        let mb = |bytes: usize| to_f64(bytes) / 1e6;
        let ms = |time: Duration| (time.as_secs_f64() * 1e5).round() / 1e2;
        let line =
            |what, used, limit, unit, setting| LimitUsage { what, used, limit, unit, setting };
        let mut budget = vec![
            line(
                "component",
                mb(self.report.bytes),
                mb(component_bytes),
                "MB",
                Some("sandbox.component_bytes"),
            ),
            line(
                "compiling",
                ms(self.compiled.0),
                ms(self.compiled.1),
                "ms",
                Some("sandbox.compile_ms"),
            ),
        ];
        if self.report.tries > 0 {
            budget.extend([
                line(
                    "memory",
                    mb(self.usage.memory_bytes),
                    mb(memory_bytes),
                    "MB",
                    Some("sandbox.memory_bytes"),
                ),
                line(
                    "table",
                    to_f64(self.usage.table_elements),
                    to_f64(table_elements),
                    "elements",
                    Some("sandbox.table_elements"),
                ),
                line(
                    "longest call",
                    ms(self.usage.cpu),
                    ms(Duration::from_millis(cpu_ms_per_call)),
                    "ms",
                    Some("sandbox.cpu_ms_per_call"),
                ),
                line(
                    "bytes of a call",
                    mb(self.usage.output_bytes),
                    mb(output_bytes_per_call),
                    "MB",
                    Some("sandbox.output_bytes_per_call"),
                ),
            ]);
        }
        if self.amplification > 0.0 {
            let rounded = (self.amplification * 1e2).round() / 1e2;
            budget.push(line(
                "bytes out per byte in",
                rounded,
                to_f64(amplification),
                "",
                Some("sandbox.amplification"),
            ));
        }
        if let Some([calls, questions, reads, facts]) = self.requests {
            budget.extend([
                line("calls of a request", to_f64(calls), to_f64(CALLS), "", None),
                line("questions of a request", to_f64(questions), to_f64(QUESTIONS), "", None),
                line("reads of a request", to_f64(reads), to_f64(READS), "", None),
                line(
                    "facts of a request",
                    to_f64(facts) / 1e3,
                    to_f64(FACT_BYTES) / 1e3,
                    "kB",
                    None,
                ),
            ]);
        }
        self.report.budget = budget;
        (self.report, self.dumps)
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers for people, far below 2^53")]
fn to_f64(number: usize) -> f64 {
    number as f64
}
