//! Checks that the limits fit this machine: their sum, against its memory and open files.

use super::{Finding, Status};
use crate::descriptors;
use crate::settings::SettingsDocument;

/// Memory of a sandbox instance with its buffers while its client reads slowly, bytes (measured,
/// see `sandbox.instances`).
const INSTANCE_BYTES: u64 = 8 << 20;

/// Memory of the process besides, bytes: the program, its threads, pages and footers in memory.
const BASE_BYTES: u64 = 512 << 20;

/// All instances busy with slow clients, and every cache full, against the machine or the
/// container.
pub(super) fn check_memory(values: &SettingsDocument) -> Finding {
    evaluate_memory(values, memory_limit())
}

fn evaluate_memory(values: &SettingsDocument, there: Option<u64>) -> Finding {
    let Some(there) = there else {
        return (Status::Ok, "how much memory there is cannot be found out here".to_owned());
    };
    let mebibytes = |bytes: u64| bytes >> 20;
    let server = &values.server;
    let caches = [server.preview_cache_bytes, server.column_cache_bytes, values.pages.cache_bytes]
        .into_iter()
        .fold(server.response_cache_bytes, u64::saturating_add);
    let fixed = caches.saturating_add(BASE_BYTES);
    let needed = u64::from(values.sandbox.limits.instances)
        .saturating_mul(INSTANCE_BYTES)
        .saturating_add(fixed);
    let (needed_mb, there_mb) = (mebibytes(needed), mebibytes(there));
    if needed <= there {
        return (Status::Ok, format!("a busy server needs some {needed_mb} MiB of {there_mb} MiB"));
    }
    let fitting = there.saturating_sub(fixed) / INSTANCE_BYTES;
    let advice = if fitting > 0 {
        format!("set sandbox.instances to {fitting}, or give it more memory")
    } else {
        "make its caches smaller, or give it more memory".to_owned()
    };
    (
        Status::Warn,
        format!("a busy server needs some {needed_mb} MiB, and there are {there_mb} MiB: {advice}"),
    )
}

/// Every connection, and what reading and the database need, against what a server here may open:
/// it raises the soft limit by itself.
pub(super) fn check_descriptors(values: &SettingsDocument) -> Finding {
    evaluate_descriptors(
        values,
        rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum,
    )
}

fn evaluate_descriptors(values: &SettingsDocument, most: Option<u64>) -> Finding {
    let Some(most) = most else { return (Status::Ok, "as many as are asked for".to_owned()) };
    let needed = descriptors::needed(values);
    let Some(fitted) = descriptors::fit_connections(values, Some(most)) else {
        return (Status::Ok, format!("a full server needs some {needed} of {most}"));
    };
    (
        Status::Warn,
        format!(
            "a full server needs some {needed}, and one here may open {most}: it serves {} connections, {} of one address; raise the hard limit (LimitNOFILE={needed}, ulimit -Hn {needed})",
            fitted.connections, fitted.connections_per_address
        ),
    )
}

/// The machine's memory, or the container's where that is less.
fn memory_limit() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let kilobytes = text
            .lines()
            .find_map(|line| line.strip_prefix("MemTotal:"))?
            .trim()
            .strip_suffix(" kB")?;
        kilobytes.parse::<u64>().ok()?.checked_mul(1024)
    });
    let container = std::fs::read_to_string("/sys/fs/cgroup/memory.max")
        .ok()
        .and_then(|text| text.trim().parse().ok());
    machine.into_iter().chain(container).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_do_not_fit_the_memory_are_named_with_what_would() {
        let values = SettingsDocument::default();
        assert_eq!(evaluate_memory(&values, Some(64 << 30)).0, Status::Ok);
        let (status, message) = evaluate_memory(&values, Some(2 << 30));
        assert_eq!(status, Status::Warn);
        assert!(
            message.contains("2048 MiB") && message.contains("sandbox.instances to 138"),
            "{message}"
        );
        assert!(evaluate_memory(&values, Some(256 << 20)).1.contains("more memory"));
        assert_eq!(evaluate_memory(&values, None).0, Status::Ok);
    }

    #[test]
    fn limits_that_do_not_fit_the_open_files_are_named_with_what_would() {
        let values = SettingsDocument::default();
        assert_eq!(evaluate_descriptors(&values, Some(65_536)).0, Status::Ok);
        assert_eq!(evaluate_descriptors(&values, None).0, Status::Ok);
        let (status, message) = evaluate_descriptors(&values, Some(1_024));
        assert_eq!(status, Status::Warn);
        assert!(
            message.contains("LimitNOFILE=9488") && message.contains("128 connections, 8 of one"),
            "{message}"
        );
    }
}
