//! The report of a run: counts of checks that passed and failed. Owns its last lines.

use std::ops::Add;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::checks::failures;

/// Checks that ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckCounts {
    /// Checks that passed.
    pub passed: u64,
    /// Checks that failed.
    pub failed: u64,
}

impl CheckCounts {
    /// With one more failure where a tool that some checks need is missing: they were left out, the
    /// others were not.
    pub(crate) fn and_tool(mut self, tool: &Result<()>) -> Self {
        if let Err(error) = tool {
            let line = format!("FAILED {error:#}");
            println!("{line}");
            failures::note(&line);
            self.failed += 1;
        }
        self
    }
}

impl Add for CheckCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { passed: self.passed + other.passed, failed: self.failed + other.failed }
    }
}

/// The steps so far.
#[derive(Debug, Default)]
pub(crate) struct StepReport {
    total: CheckCounts,
    lines: Vec<String>,
}

impl StepReport {
    /// Runs a step that is one check; whether it passed.
    pub(crate) fn step(&mut self, what: &str, check: impl FnOnce() -> Result<()>) -> bool {
        self.counted_step(what, || check().map(|()| CheckCounts { passed: 1, failed: 0 }))
    }

    /// Runs a step that is many checks; whether all passed. An error is one more failed check, and
    /// so is a step that checked nothing.
    pub(crate) fn counted_step(
        &mut self,
        what: &str,
        checks: impl FnOnce() -> Result<CheckCounts>,
    ) -> bool {
        println!("\n== {what}");
        let started = Instant::now();
        self.count(what, checks, || started.elapsed())
    }

    /// Takes in a step that ended elsewhere after it `took` so long; `checks` counts what it did.
    pub(crate) fn ended_step(
        &mut self,
        what: &str,
        took: Duration,
        checks: impl FnOnce() -> Result<CheckCounts>,
    ) -> bool {
        println!("\n== {what}");
        self.count(what, checks, || took)
    }

    fn count(
        &mut self,
        what: &str,
        checks: impl FnOnce() -> Result<CheckCounts>,
        took: impl FnOnce() -> Duration,
    ) -> bool {
        let tally = checks().unwrap_or_else(|error| {
            println!("error: {error:#}");
            failures::note(&format!("FAILED {what}: {error:#}"));
            CheckCounts { passed: 0, failed: 1 }
        });
        let failed = if tally.passed == 0 { tally.failed.max(1) } else { tally.failed };
        self.total.passed += tally.passed;
        self.total.failed += failed;
        let verdict = if failed == 0 { "ok    " } else { "FAILED" };
        let line = format!(
            "{verdict} {what}: {} passed, {failed} failed, {} s",
            tally.passed,
            took().as_secs()
        );
        println!("{line}");
        self.lines.push(line);
        failed == 0
    }

    /// Prints every step, every failure and, alone on the last line, the totals; whether all
    /// passed.
    pub(crate) fn print(&self) -> bool {
        println!("\n== summary");
        for line in &self.lines {
            println!("{line}");
        }
        failures::print();
        println!("{} passed, {} failed", self.total.passed, self.total.failed);
        self.total.failed == 0
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn an_error_and_an_empty_step_are_failures() {
        let mut report = StepReport::default();
        assert!(report.step("good", || Ok(())));
        assert!(!report.step("bad", || bail!("no")));
        assert!(!report.counted_step("empty", || Ok(CheckCounts::default())));
        assert!(!report.counted_step("mixed", || Ok(CheckCounts { passed: 3, failed: 2 })));
        assert_eq!(report.total, CheckCounts { passed: 4, failed: 4 });
    }

    #[test]
    fn a_tool_that_cannot_be_installed_is_a_failure() {
        let checked = CheckCounts { passed: 3, failed: 0 };
        assert_eq!(checked.and_tool(&Ok(())), checked);
        let mut report = StepReport::default();
        assert!(
            !report
                .counted_step("without R", || Ok(checked.and_tool(&Err(anyhow::anyhow!("no R")))))
        );
        assert_eq!(report.total, CheckCounts { passed: 3, failed: 1 });
    }
}
