//! Eviction from the folder of compiled plugins: entries that no start has used for long, of
//! plugins that were removed and of engines before this one, and what killed processes left
//! half-written. A mistake costs a compilation, so nobody is asked.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Extension of an entry.
pub(super) const ENTRY: &str = "cwasm";

/// Extension of what is being written.
pub(super) const PARTIAL: &str = "partial";

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Time that an entry stays after its last use.
const UNUSED: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Time that a partly written entry stays; writing takes seconds.
const ABANDONED: Duration = DAY;

/// Removes from `folder` what nobody needs any more, as far as that can be done.
pub(super) fn evict_unused(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let stays = match path.extension().and_then(OsStr::to_str) {
            Some(ENTRY) => UNUSED,
            Some(PARTIAL) => ABANDONED,
            _ => continue,
        };
        if entry.metadata().is_ok_and(|metadata| age(&metadata) > stays) {
            // Another process may have been faster.
            let removed = std::fs::remove_file(&path).is_ok();
            tracing::debug!(path = %path.display(), removed, "nobody used this compiled plugin for long");
        }
    }
}

/// Remembers that the entry is used, once a day.
pub(super) fn used(path: &Path) {
    if std::fs::metadata(path).is_ok_and(|metadata| age(&metadata) > DAY) {
        // A folder that cannot be written is not swept either.
        let _ = File::options()
            .append(true)
            .open(path)
            .and_then(|file| file.set_modified(SystemTime::now()));
    }
}

/// Nothing when a clock went back.
fn age(metadata: &Metadata) -> Duration {
    metadata.modified().ok().and_then(|modified| modified.elapsed().ok()).unwrap_or_default()
}
