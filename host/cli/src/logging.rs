//! The process's log on standard error. Standard output belongs to results.

use anyhow::Context;
use tracing_subscriber::EnvFilter;

use crate::settings::{Log, LogFormat};

/// Starts the log; `serving` decides how much is said when the settings don't.
///
/// # Errors
/// When `log.level` cannot be understood.
pub fn start(log: &Log, serving: bool) -> anyhow::Result<()> {
    let level = log.level.as_deref().unwrap_or(if serving { "info" } else { "warn" });
    let filter = EnvFilter::try_new(level).with_context(|| {
        format!("`log.level` is {level:?}; write error, warn, info, debug or trace, or directives like info,yearbook_server=debug")
    })?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A second start in one process (tests) keeps the first log.
    let _ = match log.format {
        LogFormat::Text => lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    Ok(())
}
