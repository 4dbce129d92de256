//! Metrics of a running server. Requests are counted here without a lock; everything else is
//! counted by the crate that does it, and read at a scrape. Label values come from fixed sets: no
//! client can make a new series.

mod connections;
mod counters;
mod exposition;
mod http;
mod layer;
mod plugins;
mod process;
mod refresh;
mod subsystems;

pub use connections::{
    ConnectionMetrics, ConnectionRefusal, ConnectionTimeout, ListenerMetrics, OpenConnection,
};
pub use exposition::{
    Labels, MetricsWriter, OPENMETRICS_CONTENT_TYPE, PROMETHEUS_CONTENT_TYPE, prometheus_text, text,
};
pub use http::{HttpMetrics, RequestLabels};
pub use layer::CountedRequest;
pub use process::start_time;
pub use subsystems::RoomCache;

use std::fmt;

use yearbook_catalog::CheckSummary;

use crate::Core;

/// Writes what the shell and its services have counted. `checks`: the last checks of sources, where
/// they are known; `caches`: those of rooms.
///
/// # Errors
/// Fails where the text takes no more.
pub fn write(
    core: &Core,
    checks: Option<&CheckSummary>,
    caches: &[RoomCache],
    sheet: &mut MetricsWriter<'_>,
) -> fmt::Result {
    core.http_metrics.write(sheet)?;
    core.listener_metrics.write(sheet)?;
    plugins::write(&core.sandbox, sheet)?;
    subsystems::write(core, caches, sheet)?;
    refresh::write(checks, sheet)?;
    process::write(sheet)
}
