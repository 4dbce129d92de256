//! Signals of a server: two stop it, and three that people and tools send to servers change nothing
//! (contract-6-signals).

use anyhow::Context as _;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals at which other servers read their settings again, open their logs again or tell of
/// themselves. A process that does not know them ends.
const IGNORED: [(SignalKind, &str); 3] = [
    (SignalKind::hangup(), "SIGHUP"),
    (SignalKind::user_defined1(), "SIGUSR1"),
    (SignalKind::user_defined2(), "SIGUSR2"),
];

/// Ignores the signals that are not for this server, and resolves at the first SIGINT or SIGTERM. A
/// second one ends the process at once.
pub(in crate::commands) fn stop_signal() -> anyhow::Result<impl Future<Output = ()> + Send + 'static>
{
    for (kind, name) in IGNORED {
        let ignored = signal(kind).with_context(|| format!("cannot watch for {name}"))?;
        tokio::spawn(tell_once(ignored, name));
    }
    let mut signals = StopSignals {
        interrupt: signal(SignalKind::interrupt()).context("cannot watch for SIGINT")?,
        terminate: signal(SignalKind::terminate()).context("cannot watch for SIGTERM")?,
    };
    Ok(async move {
        signals.next().await;
        tracing::info!("asked to stop; a second signal ends the process at once");
        tokio::spawn(async move {
            signals.next().await;
            std::process::exit(1);
        });
    })
}

/// Logs the first of these signals. The handler stays for as long as the process lives.
async fn tell_once(mut ignored: Signal, name: &'static str) {
    if ignored.recv().await.is_some() {
        tracing::warn!(
            "{name} changes nothing: settings are read at the start, and the log has no file; SIGTERM stops the server"
        );
    }
}

struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
