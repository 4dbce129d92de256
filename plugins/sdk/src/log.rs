//! The one thing that a plugin may ask of the host: a line in its log.

/// Severity, as in every logging library.
///
/// ```
/// use yearbook_sdk::log::{self, Level};
///
/// log::write(Level::Debug, "12 columns");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Finest detail.
    Trace,
    /// For the plugin's author.
    Debug,
    /// Worth knowing.
    Info,
    /// Wants attention.
    Warn,
    /// Went wrong.
    Error,
}

/// The host's log, as the world of the exported plugin imports it. Nothing else may refer to an
/// import: a component has only those of its own world.
#[cfg(target_family = "wasm")]
pub(crate) static SINK: std::sync::OnceLock<fn(Level, &str)> = std::sync::OnceLock::new();

/// Writes one line to the host's log under the plugin's name; clients never see it. The host cuts a
/// message at 4 KiB and drops what a response logs beyond 64 messages. Native builds write to
/// stderr.
///
/// ```
/// use yearbook_sdk::log::{self, Level};
///
/// log::write(Level::Warn, "a geometry has more points than the format can hold");
/// ```
pub fn write(level: Level, message: &str) {
    #[cfg(target_family = "wasm")]
    if let Some(sink) = SINK.get() {
        sink(level, message);
    }
    #[cfg(not(target_family = "wasm"))]
    eprintln!("{level:?}: {message}");
}
