//! A server under test: started on chosen cores, waited for, measured from outside, stopped; and a
//! command that ends by itself. Knows nothing of which server or command it is.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use procfs::process::{ClearRefs, Process, Stat, Status};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::http::{self, HttpRequest};
use yearbook_xtask::command;

/// Longest time for a server to load its tables.
const START_TIMEOUT: Duration = Duration::from_secs(180);

/// Longest time for a server to end by itself.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Interval between two requests for its health, and between two looks at a process, to which its
/// time is rounded.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Processor time at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuTime {
    all: f64,
    living: f64,
}

impl CpuTime {
    /// Seconds since `earlier`: by the nanosecond, unless so much is missing there that a thread
    /// must have ended.
    pub(crate) fn since(self, earlier: Self) -> f64 {
        let (all, living) = (self.all - earlier.all, self.living - earlier.living);
        if all - living > seconds(3) { all } else { living }
    }
}

/// A command that has succeeded.
pub(crate) struct MeasuredRun {
    /// Time from its start to its end.
    pub(crate) seconds: f64,
    /// Memory that was resident at most.
    pub(crate) peak_mebibytes: f64,
    /// Text that it printed.
    pub(crate) output: String,
}

impl MeasuredRun {
    /// Runs `command` to its end; what it prints goes through files in `folder`.
    pub(crate) fn run_to_end(command: &mut Command, folder: &Path) -> Result<Self> {
        println!("$ {}", command::display(command));
        let (output, log) = (folder.join("output"), folder.join("errors"));
        command.stdin(Stdio::null()).stdout(create(&output)?).stderr(create(&log)?);
        let started = Instant::now();
        let mut child =
            command.spawn().with_context(|| format!("cannot run {}", command::display(command)))?;
        let mut peak_mebibytes: f64 = 0.0;
        let status = loop {
            // A process that has ended has none.
            let peak = memory(child.id(), |status| status.vmhwm).unwrap_or_default();
            peak_mebibytes = peak_mebibytes.max(peak);
            if let Some(status) = child.try_wait().context("cannot watch a process")? {
                break status;
            }
            sleep(POLL_INTERVAL);
        };
        let seconds = started.elapsed().as_secs_f64();
        if !status.success() {
            let said = fs::read_to_string(&log).unwrap_or_default();
            bail!("{} failed: {said}", command::display(command));
        }
        let output = fs::read_to_string(&output).context("cannot read what a command printed")?;
        Ok(Self { seconds, peak_mebibytes, output })
    }

    /// A number of the JSON object that it printed.
    pub(crate) fn figure(&self, name: &str) -> Result<f64> {
        let said: Value = serde_json::from_str(&self.output).context("no figures")?;
        said[name].as_f64().context("a figure is missing")
    }

    /// Figures of so many rows in the `seconds` that it printed, and its memory.
    pub(crate) fn speed(&self, rows: u64) -> Result<[(&'static str, f64); 3]> {
        let seconds = self.figure("seconds")?;
        Ok([
            ("seconds", seconds),
            ("million_rows_a_second", rows as f64 / seconds / 1e6),
            ("peak_mib", self.peak_mebibytes),
        ])
    }
}

/// A running server; dropping it ends it.
#[derive(Debug)]
pub(crate) struct MeasuredProcess {
    child: Child,
    /// `http://host:port`.
    pub(crate) base: String,
    /// Mebibytes that were resident when it was ready: what it keeps of one request for the next
    /// counts as grown.
    pub(crate) idle: f64,
    /// Seconds until it was ready.
    pub(crate) started: f64,
}

impl MeasuredProcess {
    /// Starts `command` on `cores` and waits until `ready` (a path) is answered with 200.
    pub(crate) fn start(
        command: &Command,
        cores: &str,
        base: String,
        ready: &str,
        log: &Path,
    ) -> Result<Self> {
        let mut pinned = Command::new("taskset");
        pinned.args(["--cpu-list", cores]).arg(command.get_program()).args(command.get_args());
        pinned.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        println!("$ {}", command::display(&pinned));
        let out = create(log)?;
        pinned
            .stdin(Stdio::null())
            .stdout(out.try_clone().context("cannot share the log file")?)
            .stderr(out);
        let started = Instant::now();
        let child =
            pinned.spawn().with_context(|| format!("cannot run {}", command::display(&pinned)))?;
        let mut process = Self { child, base, idle: 0.0, started: 0.0 };
        let ready = HttpRequest::get(format!("{}{ready}", process.base));
        while started.elapsed() < START_TIMEOUT {
            if process.child.try_wait().context("cannot watch a server")?.is_some() {
                let said = fs::read_to_string(log).unwrap_or_default();
                bail!("{} ended at once: {said}", command::display(command));
            }
            if http::get(&ready).is_ok() {
                process.started = started.elapsed().as_secs_f64();
                process.idle = memory(process.child.id(), |status| status.vmrss)?;
                return Ok(process);
            }
            sleep(POLL_INTERVAL);
        }
        bail!(
            "{} did not answer within {START_TIMEOUT:?}; see {}",
            command::display(command),
            log.display()
        )
    }

    /// Seconds of processor time that it has used: of all threads by the tick, and of those that
    /// live by the nanosecond.
    pub(crate) fn cpu_time(&self) -> Result<CpuTime> {
        let process = open(self.child.id())?;
        let stat = process.stat().context("cannot read a server's times")?;
        let threads = process.tasks().context("cannot list a server's threads")?.flatten();
        // A thread that has just ended has no times.
        let nanoseconds =
            threads.filter_map(|thread| Some(thread.schedstat().ok()?.sum_exec_runtime));
        Ok(CpuTime {
            all: seconds(stat.utime + stat.stime),
            living: nanoseconds.sum::<u64>() as f64 / 1e9,
        })
    }

    /// The most mebibytes that were resident since [`Self::reset_peak`].
    pub(crate) fn peak_mebibytes(&self) -> Result<f64> {
        memory(self.child.id(), |status| status.vmhwm)
    }

    /// Sets the high-water mark back to the present size.
    pub(crate) fn reset_peak(&self) -> Result<()> {
        open(self.child.id())?
            .clear_refs(ClearRefs::PeakRSS)
            .context("cannot reset a server's high-water mark")
    }
}

impl Drop for MeasuredProcess {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let signalled = Instant::now();
        while signalled.elapsed() < STOP_TIMEOUT {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            sleep(Duration::from_millis(50));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A process that runs.
pub(crate) fn open(id: u32) -> Result<Process> {
    Process::new(id.cast_signed()).context("a measured process is gone")
}

/// The mebibytes of a process that a line of its status counts, in kibibytes.
pub(crate) fn memory(id: u32, line: fn(&Status) -> Option<u64>) -> Result<f64> {
    let status = open(id)?.status().context("cannot read a process's status")?;
    Ok(line(&status).context("a process without memory")? as f64 / 1024.0)
}

/// Seconds of processor time of a process, of its children, and of those that they have waited for.
pub(crate) fn tree_cpu_time(id: u32) -> Result<f64> {
    let with_ended = |stat: &Stat| {
        stat.utime + stat.stime + u64::try_from(stat.cutime + stat.cstime).unwrap_or_default()
    };
    let own = open(id)?.stat().context("cannot read a process's times")?;
    // One that has just ended has no file, and its time is then its parent's.
    let children = procfs::process::all_processes()
        .context("cannot list processes")?
        .filter_map(|process| process.ok()?.stat().ok())
        .filter(|stat| stat.ppid == own.pid);
    Ok(seconds(with_ended(&own) + children.map(|stat| with_ended(&stat)).sum::<u64>()))
}

/// Seconds of so many ticks.
fn seconds(ticks: u64) -> f64 {
    ticks as f64 / procfs::ticks_per_second() as f64
}

fn create(path: &Path) -> Result<File> {
    File::create(path).with_context(|| format!("cannot write {}", path.display()))
}
