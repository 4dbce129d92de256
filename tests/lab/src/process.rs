//! A server under test: started on chosen cores, waited for, measured from outside, stopped; and a
//! command that ends by itself. Knows nothing of which server or command it is.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::http;
use crate::http::HttpRequest;
use yearbook_xtask::command;

/// Longest time for a server to load its tables.
const START_TIMEOUT: Duration = Duration::from_secs(180);

/// Interval between two requests for its health, and between two looks at a process, to which its
/// time is rounded.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Ticks a second of the times in `/proc`: fixed on Linux.
pub(crate) const TICKS_PER_SECOND: f64 = 100.0;

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
        if all - living > 3.0 / TICKS_PER_SECOND { all } else { living }
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
        let create = |path: &Path| {
            File::create(path).with_context(|| format!("cannot write {}", path.display()))
        };
        command.stdin(Stdio::null()).stdout(create(&output)?).stderr(create(&log)?);
        let started = Instant::now();
        let mut child =
            command.spawn().with_context(|| format!("cannot run {}", command::display(command)))?;
        let mut peak_mebibytes: f64 = 0.0;
        let status = loop {
            // A process that has ended has none.
            let peak = status_mebibytes(child.id(), "VmHWM:").unwrap_or_default();
            peak_mebibytes = peak_mebibytes.max(peak);
            if let Some(status) = child.try_wait().context("cannot watch a process")? {
                break status;
            }
            sleep(POLL_INTERVAL);
        };
        let seconds = started.elapsed().as_secs_f64();
        if !status.success() {
            bail!(
                "{} failed: {}",
                command::display(command),
                fs::read_to_string(&log).unwrap_or_default()
            );
        }
        let output = fs::read_to_string(&output).context("cannot read what a command printed")?;
        Ok(Self { seconds, peak_mebibytes, output })
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
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                pinned.env(name, value);
            }
        }
        if let Some(folder) = command.get_current_dir() {
            pinned.current_dir(folder);
        }
        println!("$ {}", command::display(&pinned));
        let out = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
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
                bail!(
                    "{} ended at once: {}",
                    command::display(command),
                    fs::read_to_string(log).unwrap_or_default()
                );
            }
            if http::get(&ready).is_ok() {
                process.started = started.elapsed().as_secs_f64();
                process.idle = status_mebibytes(process.child.id(), "VmRSS:")?;
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
        let folder = format!("/proc/{}", self.child.id());
        let stat =
            fs::read_to_string(format!("{folder}/stat")).context("cannot read a server's times")?;
        // The name in parentheses may hold anything; user and system time are the 12th and 13th
        // word after it.
        let words: Vec<&str> =
            stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |at: usize| words.get(at).and_then(|word| word.parse::<f64>().ok());
        let all = (ticks(11).context("no user time")? + ticks(12).context("no system time")?)
            / TICKS_PER_SECOND;
        let mut living = 0.0;
        for thread in fs::read_dir(format!("{folder}/task"))
            .context("cannot list a server's threads")?
            .flatten()
        {
            // A thread that has just ended has no file.
            let spent = fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
            living +=
                spent.split(' ').next().and_then(|spent| spent.parse::<f64>().ok()).unwrap_or(0.0)
                    / 1e9;
        }
        Ok(CpuTime { all, living })
    }

    /// The most mebibytes that were resident since [`Self::reset_peak`].
    pub(crate) fn peak_mebibytes(&self) -> Result<f64> {
        status_mebibytes(self.child.id(), "VmHWM:")
    }

    /// Sets the high-water mark back to the present size: "5", see `proc_pid_clear_refs`(5).
    pub(crate) fn reset_peak(&self) -> Result<()> {
        fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5")
            .context("cannot reset a server's high-water mark")
    }
}

/// A line of `/proc/PID/status` that counts kibibytes, such as `VmRSS:`, in mebibytes.
pub(crate) fn status_mebibytes(process: u32, name: &str) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))
        .context("cannot read a process's status")?;
    let value = status
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .and_then(|rest| rest.split_whitespace().next());
    let kibibytes: f64 = value
        .and_then(|value| value.parse().ok())
        .with_context(|| format!("no {name} in a process's status"))?;
    Ok(kibibytes / 1024.0)
}

impl Drop for MeasuredProcess {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let signalled = Instant::now();
        while signalled.elapsed() < Duration::from_secs(5) {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            sleep(Duration::from_millis(50));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
