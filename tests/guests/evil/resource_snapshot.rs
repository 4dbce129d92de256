//! Resources of the process, as the kernel counts them.

use std::process::Command;
use std::time::Duration;

/// Variable of glibc: blocks from this size on are given back to the kernel when they are freed. By
/// itself glibc raises it to the largest block that was freed, and keeps as much of what follows.
const MMAP_THRESHOLD: &str = "MALLOC_MMAP_THRESHOLD_";

/// Threads, descriptors and resident memory of this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResourceSnapshot {
    pub(crate) threads: usize,
    pub(crate) descriptors: usize,
    pub(crate) bytes: usize,
}

impl ResourceSnapshot {
    /// As of now.
    pub(crate) fn now() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.split_whitespace().next().unwrap().parse::<usize>().unwrap()
        };
        Self {
            threads: field("Threads:"),
            descriptors: std::fs::read_dir("/proc/self/fd").unwrap().count(),
            bytes: field("VmRSS:") << 10,
        }
    }

    /// Waits until no more is held than `before`, but for `bytes` that the allocator may keep.
    pub(crate) async fn wait_for_release(before: Self, bytes: usize) {
        let mut now = Self::now();
        // The runtime lets go of a thread without work after ten seconds.
        for _ in 0..300 {
            if now.threads <= before.threads
                && now.descriptors <= before.descriptors
                && now.bytes <= before.bytes + bytes
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
            now = Self::now();
        }
        panic!("{before:?} before, {now:?} now");
    }
}

/// Runs `test` of this program in a process whose allocator keeps no large block that was freed, so
/// that what is resident is held. Returns false in that process, for the test itself.
pub(crate) fn ran_with_exact_memory(test: &str) -> bool {
    if std::env::var_os(MMAP_THRESHOLD).is_some() {
        return false;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(MMAP_THRESHOLD, "65536");
    assert!(command.status().unwrap().success(), "{test}");
    true
}

/// Processor time of this thread so far.
pub(crate) fn thread_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}
