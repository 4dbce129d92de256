//! Resources of the process, as the kernel counts them.

use std::time::Duration;

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

/// Processor time of this thread so far.
pub(crate) fn thread_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}
