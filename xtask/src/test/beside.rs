//! Steps side by side: each in a process of its own, whose output is printed in one piece when it
//! ends. Owns how many run at once; what they check is theirs.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{env, io};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::ValueEnum as _;

use super::ServedStep;
use crate::checks::report::{CheckCounts, StepReport};
use crate::checks::suites;

/// Steps at once: a step waits for its tools, its server and its own timeouts a third of the time,
/// so that three fill two cores.
const LANES: usize = 3;

/// The step that runs beside the steps that put a service under load, which leave nearly half of
/// the processor: it waits more than every other, and has no timeout of less than minutes.
pub(super) const BESIDE_LOAD: ServedStep = ServedStep::Integrations;

/// Priority of counting: of what nobody waits for.
const COUNTING_NICENESS: &str = "-n19";

/// Priority of [`BESIDE_LOAD`]: a tenth of a core where others want all of it.
const STEP_NICENESS: &str = "-n10";

/// Runs all of `steps` and enters them into `report` as they end.
pub(super) fn run(report: &mut StepReport, steps: impl IntoIterator<Item = ServedStep>) {
    let waiting = Mutex::new(steps.into_iter().collect::<VecDeque<_>>());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let (sender, ended) = mpsc::channel();
    thread::scope(|threads| {
        for _ in 0..LANES {
            let sender = sender.clone();
            threads.spawn(move || {
                while let Some(step) = next() {
                    let started = Instant::now();
                    // The receiver outlives the threads.
                    let _ = sender.send((step, run_alone(step), started.elapsed()));
                }
            });
        }
        drop(sender);
        for (step, output, took) in ended {
            report.ended_step(step.title(), took, || count(&output?));
        }
    });
}

/// A command of this program that measures nothing a busy machine would change, and so runs while
/// other steps do, with what they leave of the processor.
pub(super) struct BackgroundStep {
    title: &'static str,
    count: fn(&StepOutput) -> Result<CheckCounts>,
    running: JoinHandle<(Result<StepOutput>, Duration)>,
}

impl BackgroundStep {
    /// Starts counting instructions.
    pub(super) fn counting(title: &'static str) -> Self {
        let arguments = ["count", "--check"].map(str::to_owned);
        Self::start(title, COUNTING_NICENESS, arguments.into(), |output| {
            ended_well(output, suites::read_total(&output.text, "count")?)
        })
    }

    /// Starts `step`.
    pub(super) fn served(step: ServedStep) -> Self {
        Self::start(step.title(), STEP_NICENESS, arguments(step), count)
    }

    fn start(
        title: &'static str,
        niceness: &'static str,
        arguments: Vec<String>,
        count: fn(&StepOutput) -> Result<CheckCounts>,
    ) -> Self {
        let running = thread::spawn(move || {
            let started = Instant::now();
            let run = this_program().and_then(|program| {
                run_collected(Command::new("nice").arg(niceness).arg(program).args(arguments))
            });
            (run, started.elapsed())
        });
        Self { title, count, running }
    }

    /// Waits for its end and enters it into `report`.
    pub(super) fn end(self, report: &mut StepReport) {
        let ended = self.running.join();
        let (output, took) =
            ended.unwrap_or_else(|_| (Err(anyhow!("running it panicked")), Duration::ZERO));
        report.ended_step(self.title, took, || (self.count)(&output?));
    }
}

/// Text that a step printed, and its success.
struct StepOutput {
    text: Vec<u8>,
    succeeded: bool,
}

/// Runs `step` by a process of this program.
fn run_alone(step: ServedStep) -> Result<StepOutput> {
    run_collected(Command::new(this_program()?).args(arguments(step)))
}

/// Arguments with which this program runs `step` alone.
fn arguments(step: ServedStep) -> Vec<String> {
    let name = step.to_possible_value().map(|value| value.get_name().to_owned());
    ["test", "--only"].map(str::to_owned).into_iter().chain(name).collect()
}

fn this_program() -> Result<PathBuf> {
    env::current_exe().context("this program cannot be found")
}

/// Runs `command` and collects what it prints.
fn run_collected(command: &mut Command) -> Result<StepOutput> {
    let (mut text, writer) = io::pipe().context("cannot make a pipe")?;
    command.stdout(writer.try_clone().context("cannot copy a pipe")?).stderr(writer);
    let mut child = command.spawn().context("cannot run this program")?;
    // The command holds the pipe's other end, which must close with the child.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut printed = Vec::new();
    io::copy(&mut text, &mut printed).context("cannot read what a step prints")?;
    let succeeded = child.wait().context("cannot wait for a step")?.success();
    Ok(StepOutput { text: printed, succeeded })
}

/// Prints `output` and adds up its checks.
fn count(output: &StepOutput) -> Result<CheckCounts> {
    ended_well(output, suites::read_output(&output.text)?)
}

/// Returns `counts` where `output` does not contradict them.
fn ended_well(output: &StepOutput, counts: CheckCounts) -> Result<CheckCounts> {
    if !output.succeeded && counts.failed == 0 {
        bail!("the step failed before or after its checks; its output above says why");
    }
    Ok(counts)
}

/// All but [`BESIDE_LOAD`], the longest first, so that no lane is left with a long one at the end.
pub(super) fn longest_first() -> Vec<ServedStep> {
    let mut steps = ServedStep::value_variants().to_vec();
    steps.retain(|step| *step != BESIDE_LOAD);
    steps.sort_by_key(|step| std::cmp::Reverse(step.usual_time()));
    steps
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_step_that_fails_without_a_failed_check_is_an_error() {
        let ended = |text: &str, succeeded| count(&StepOutput { text: text.into(), succeeded });
        let counts = |passed, failed| Some(CheckCounts { passed, failed });
        assert_eq!(ended("readers: 7 passed, 0 failed\n", true).ok(), counts(7, 0));
        assert_eq!(ended("readers: 7 passed, 1 failed\n", false).ok(), counts(7, 1));
        assert!(ended("readers: 7 passed, 0 failed\nerror: no R\n", false).is_err());
    }

    #[test]
    fn every_step_runs_once_and_a_long_one_first() {
        let steps = longest_first();
        assert_eq!(steps.len() + 1, ServedStep::value_variants().len());
        assert!(!steps.contains(&BESIDE_LOAD));
        assert!(steps.windows(2).all(|pair| pair[0].usual_time() >= pair[1].usual_time()));
        assert!(steps[0].usual_time() > Duration::from_secs(60));
    }
}
