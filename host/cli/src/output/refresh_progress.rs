//! Progress and results of a refresh: a line for each package as it ends, and on a terminal a bar
//! below with what is being done.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use yearbook_domain::DatasetName;
use yearbook_refresh::{RefreshOutcome, RefreshReport, RefreshReporter};

use super::Output;

/// Datasets that the bar names at once; of more it says how many.
const NAMED: usize = 3;

/// Prints reports as they come, and shows how far a refresh is.
pub struct RefreshProgress {
    output: Output,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    bar: Option<ProgressBar>,
    /// Present stage or bytes, by dataset.
    active: BTreeMap<String, String>,
    /// The first failure to print.
    fault: Option<anyhow::Error>,
}

impl RefreshProgress {
    /// Progress of one refresh.
    #[must_use]
    pub fn new(output: Output) -> Self {
        Self { output, state: Mutex::default() }
    }

    /// Takes the bar away.
    ///
    /// # Errors
    /// Fails when a report could not be written to standard output.
    pub fn finish(&self) -> anyhow::Result<()> {
        let mut state = self.lock();
        if let Some(bar) = state.bar.take() {
            bar.finish_and_clear();
        }
        state.fault.take().map_or(Ok(()), Err)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_active(&self, dataset: &DatasetName, doing: String) {
        let mut state = self.lock();
        if state.bar.is_some() {
            state.active.insert(dataset.to_string(), doing);
            state.show();
        }
    }
}

impl State {
    fn show(&self) {
        let Some(bar) = &self.bar else { return };
        let named = self.active.iter().take(NAMED);
        let mut parts: Vec<String> = named.map(|(name, doing)| format!("{name} {doing}")).collect();
        if let Some(more @ 1..) = self.active.len().checked_sub(NAMED) {
            parts.push(format!("{more} more"));
        }
        bar.set_message(parts.join(", "));
    }
}

impl RefreshReporter for RefreshProgress {
    fn begin(&self, packages: usize) {
        if !self.output.shows_progress() {
            return;
        }
        let bar = ProgressBar::new(packages as u64);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos}/{len} {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        self.lock().bar = Some(bar);
    }

    fn stage(&self, dataset: &DatasetName, stage: &str) {
        self.set_active(dataset, stage.to_owned());
    }

    fn received(&self, dataset: &DatasetName, bytes: u64) {
        self.set_active(dataset, HumanBytes(bytes).to_string());
    }

    fn end(&self, report: &RefreshReport) {
        let mut state = self.lock();
        state.active.remove(&report.name);
        state.show();
        let print = || self.output.print_result(report, || report_line(report));
        let printed = match &state.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        };
        if let Some(bar) = &state.bar {
            bar.inc(1);
        }
        if let Err(error) = printed {
            state.fault.get_or_insert(error);
        }
    }
}

/// One line: a failure's reason stands at the end of the run.
fn report_line(report: &RefreshReport) -> String {
    let outcome = report.outcome.as_str();
    let detail = match (report.outcome, &report.snapshot, &report.reason) {
        (RefreshOutcome::Skipped, _, Some(reason)) => format!(", {reason}"),
        (RefreshOutcome::Published, Some(snapshot), _) => {
            format!(", snapshot {snapshot}")
        }
        _ => String::new(),
    };
    format!("{}: {outcome}{detail}", report.name)
}
