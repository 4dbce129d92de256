//! The process as the operating system sees it, under the names that every Prometheus client uses.
//! Without `/proc` these metrics are missing.

use std::fmt;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

use super::exposition::MetricsWriter;

/// Writes version, memory, descriptors and processor time.
pub(super) fn write(sheet: &mut MetricsWriter<'_>) -> fmt::Result {
    sheet.gauge(
        "yearbook_build_info",
        "1, with the version as a label.",
        [(vec![("version", env!("CARGO_PKG_VERSION"))], 1_u64)],
    )?;
    let (resident, mapped) = memory();
    let one = |value: Option<u64>| value.map(|value| (vec![], value));
    sheet.gauge(
        "process_resident_memory_bytes",
        "Memory of the process that is in use.",
        one(resident),
    )?;
    sheet.gauge(
        "process_virtual_memory_bytes",
        "Address space of the process; the sandbox reserves much of it.",
        one(mapped),
    )?;
    let open = std::fs::read_dir("/proc/self/fd").ok().map(|open| open.count() as u64);
    sheet.gauge("process_open_fds", "File descriptors that are open.", one(open))?;
    sheet.gauge(
        "process_max_fds",
        "File descriptors that may be open.",
        one(most_descriptors()),
    )?;
    let cpu = clock_gettime(ClockId::ProcessCPUTime);
    let cpu = Duration::new(
        u64::try_from(cpu.tv_sec).unwrap_or(0),
        u32::try_from(cpu.tv_nsec).unwrap_or(0),
    );
    sheet.counter(
        "process_cpu_seconds",
        "Processor time of the process.",
        [(vec![], cpu.as_secs_f64())],
    )?;
    sheet.gauge(
        "process_start_time_seconds",
        "When the process began to count, since 1970.",
        [(vec![], start_time().as_secs_f64())],
    )
}

/// Returns the time of the first call: the state of a server calls it when it is made.
pub fn start_time() -> Duration {
    static STARTED: OnceLock<Duration> = OnceLock::new();
    *STARTED.get_or_init(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// Bytes in use, and bytes of address space.
fn memory() -> (Option<u64>, Option<u64>) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
    };
    (bytes("VmRSS:"), bytes("VmSize:"))
}

fn most_descriptors() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}
