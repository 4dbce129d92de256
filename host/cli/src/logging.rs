//! The process's log on standard error, and traces beside it. Standard output belongs to results.

use anyhow::Context;
use tracing::Metadata;
use tracing_subscriber::filter::{FilterExt as _, LevelFilter, filter_fn};
use tracing_subscriber::fmt::Layer as Lines;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, registry};

use crate::settings::{LogFormat, LogSection};
use crate::traces::Traces;

/// Starts the log; `serving` decides how much is said when the settings don't, and whether there
/// are traces.
///
/// # Errors
/// Fails when `log.level` cannot be understood, or traces cannot be exported.
pub fn start(log: &LogSection, serving: bool) -> anyhow::Result<Option<Traces>> {
    let level = log.level.as_deref().unwrap_or(if serving { "info" } else { "warn" });
    let filter = EnvFilter::try_new(level).with_context(|| {
        format!("`log.level` is {level:?}; write error, warn, info, debug or trace, or directives like info,yearbook_http=debug")
    })?;
    let traces = log.otlp_endpoint.as_ref().filter(|_| serving).map(Traces::start).transpose()?;
    let lines = Lines::default().with_writer(std::io::stderr);
    let lines = match log.format {
        LogFormat::Text => {
            lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).boxed()
        }
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    // A second start in one process (tests) keeps the first log.
    let _ = match (&traces, level.parse::<LevelFilter>()) {
        // Directives take a lock at every span that is entered or left, also where none of them
        // names one.
        (None, Ok(level)) => registry().with(lines).with(level).try_init(),
        (None, Err(_)) => registry().with(lines).with(filter).try_init(),
        // The log knows every span that traces have: a line below one that it did not know would
        // lack the request's id.
        (Some(traces), _) => {
            let spans = filter_fn(|metadata| metadata.is_span() && is_ours(metadata));
            registry()
                .with(lines.with_filter(filter.or(spans)))
                .with(traces.layer(is_ours))
                .try_init()
        }
    };
    Ok(traces)
}

/// True where a crate of this workspace opened the span or wrote the event.
fn is_ours(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with("yearbook_")
}
