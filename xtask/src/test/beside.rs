//! Steps side by side: each in a process of its own, whose output is printed in one piece when it
//! ends. Owns how many run at once; what they check is theirs.

use std::collections::VecDeque;
use std::process::Command;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Instant;
use std::{env, io};

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum as _;

use super::ServedStep;
use crate::checks::report::{CheckCounts, StepReport};
use crate::checks::suites;

/// Steps at once: a step waits for its tools and its server most of the time, so that two fill two
/// cores.
const LANES: usize = 2;

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

/// Text that a step printed, and its success.
struct StepOutput {
    text: Vec<u8>,
    succeeded: bool,
}

/// Runs `step` by a process of this program.
fn run_alone(step: ServedStep) -> Result<StepOutput> {
    let name = step.to_possible_value().context("every step has a name")?;
    let (mut text, writer) = io::pipe().context("cannot make a pipe")?;
    let mut command = Command::new(env::current_exe().context("this program cannot be found")?);
    command
        .args(["test", "--only", name.get_name()])
        .stdout(writer.try_clone().context("cannot copy a pipe")?)
        .stderr(writer);
    let mut child = command.spawn().context("cannot run this program")?;
    // It holds the pipe's other end, which must close with the child.
    drop(command);
    let mut printed = Vec::new();
    io::copy(&mut text, &mut printed).context("cannot read what a step prints")?;
    let succeeded = child.wait().context("cannot wait for a step")?.success();
    Ok(StepOutput { text: printed, succeeded })
}

/// Prints `output` and adds up its checks.
fn count(output: &StepOutput) -> Result<CheckCounts> {
    let counts = suites::read_output(&output.text)?;
    if !output.succeeded && counts.failed == 0 {
        bail!("the step failed before or after its checks; its output above says why");
    }
    Ok(counts)
}

/// The longest first, so that no lane is left with a long one at the end.
pub(super) fn longest_first() -> Vec<ServedStep> {
    let mut steps = ServedStep::value_variants().to_vec();
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
        assert_eq!(steps.len(), ServedStep::value_variants().len());
        assert!(steps.windows(2).all(|pair| pair[0].usual_time() >= pair[1].usual_time()));
        assert!(steps[0].usual_time() > Duration::from_secs(60));
    }
}
