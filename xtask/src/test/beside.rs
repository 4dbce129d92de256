//! Steps side by side: each in a process of its own, whose output is printed in one piece when it
//! ends. Owns how many run at once; what they check is theirs.

use std::collections::VecDeque;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{env, io};

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum as _;

use super::ServedStep;
use crate::checks::report::{CheckCounts, StepReport};
use crate::checks::served::ServerFixture;
use crate::checks::suites;

/// Steps at once: a step waits for its tools, its server and its own timeouts a third of the time,
/// so that three fill two cores.
const LANES: usize = 3;

/// Steps that run one after the other beside all that comes before the lanes, which leaves a fifth
/// of the processor: no other has as much to compute, and their timeouts are minutes.
const UNHURRIED: [ServedStep; 2] = [ServedStep::Readers, ServedStep::Integrations];

/// Priority of counting: of what nobody waits for.
const COUNTING_NICENESS: &str = "-n19";

/// Priority of [`UNHURRIED`]: a tenth of a core where others want all of it.
const UNHURRIED_NICENESS: &str = "-n10";

/// Steps that run while others do.
pub(super) struct StepsBeside {
    lanes: Vec<JoinHandle<()>>,
    ended: mpsc::Receiver<(BesideStep, Result<StepOutput>, Duration)>,
}

/// A step that is a process of this program.
struct BesideStep {
    title: &'static str,
    arguments: Vec<String>,
    count: fn(&StepOutput) -> Result<CheckCounts>,
}

impl StepsBeside {
    /// Starts all steps in which other programs use `product` but those of [`Self::unhurried`].
    pub(super) fn served(product: &ServerFixture) -> Self {
        let steps = longest_first().into_iter().map(BesideStep::served);
        Self::start(steps.collect(), LANES, None, Some(product))
    }

    /// Starts [`UNHURRIED`], which use `product`.
    pub(super) fn unhurried(product: &ServerFixture) -> Self {
        let steps = UNHURRIED.map(BesideStep::served).into();
        Self::start(steps, 1, Some(UNHURRIED_NICENESS), Some(product))
    }

    /// Starts counting instructions, which a busy machine does not change.
    pub(super) fn counting(title: &'static str) -> Self {
        let count =
            |output: &StepOutput| ended_well(output, suites::read_total(&output.text, "count")?);
        let arguments = ["count", "--check"].map(str::to_owned).into();
        Self::start(
            VecDeque::from([BesideStep { title, arguments, count }]),
            1,
            Some(COUNTING_NICENESS),
            None,
        )
    }

    fn start(
        steps: VecDeque<BesideStep>,
        lanes: usize,
        niceness: Option<&'static str>,
        product: Option<&ServerFixture>,
    ) -> Self {
        let waiting = Arc::new(Mutex::new(steps));
        let (sender, ended) = mpsc::channel();
        let lane = |_| {
            let (waiting, sender) = (Arc::clone(&waiting), sender.clone());
            let product = product.cloned();
            let next = move || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            thread::spawn(move || {
                while let Some(step) = next() {
                    let started = Instant::now();
                    let output = step.run(niceness, product.as_ref());
                    // The receiver outlives the threads.
                    let _ = sender.send((step, output, started.elapsed()));
                }
            })
        };
        Self { lanes: (0..lanes).map(lane).collect(), ended }
    }

    /// Enters the steps into `report` as they end, until all have.
    pub(super) fn end(self, report: &mut StepReport) {
        for (step, output, took) in self.ended {
            report.ended_step(step.title, took, || (step.count)(&output?));
        }
        for lane in self.lanes {
            if let Err(panic) = lane.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

impl BesideStep {
    fn served(step: ServedStep) -> Self {
        let name = step.to_possible_value().map(|value| value.get_name().to_owned());
        let arguments = ["test", "--only"].map(str::to_owned).into_iter().chain(name).collect();
        Self { title: step.title(), arguments, count }
    }

    fn run(&self, niceness: Option<&str>, product: Option<&ServerFixture>) -> Result<StepOutput> {
        let program = env::current_exe().context("this program cannot be found")?;
        let mut command = match niceness {
            Some(niceness) => {
                let mut nice = Command::new("nice");
                nice.arg(niceness).arg(program);
                nice
            }
            None => Command::new(program),
        };
        if let Some(product) = product {
            product.share_with(&mut command);
        }
        run_collected(command.args(&self.arguments))
    }
}

/// Text that a step printed, and its success.
struct StepOutput {
    text: Vec<u8>,
    succeeded: bool,
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

/// All but [`UNHURRIED`], the longest first, so that no lane is left with a long one at the end.
fn longest_first() -> Vec<ServedStep> {
    let mut steps = ServedStep::value_variants().to_vec();
    steps.retain(|step| !UNHURRIED.contains(step));
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
        assert_eq!(steps.len() + UNHURRIED.len(), ServedStep::value_variants().len());
        assert!(!steps.iter().any(|step| UNHURRIED.contains(step)));
        assert!(steps.windows(2).all(|pair| pair[0].usual_time() >= pair[1].usual_time()));
        assert!(steps[0].usual_time() > Duration::from_secs(60));
    }
}
