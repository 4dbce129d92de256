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
mod share;
mod signup;
mod subsystems;

pub(crate) use connections::{
    ConnectionMetrics, ConnectionRefusal, ConnectionTimeout, ListenerMetrics, OpenConnection,
};
pub(crate) use exposition::{
    OPENMETRICS_CONTENT_TYPE, PROMETHEUS_CONTENT_TYPE, prometheus_text, text,
};
pub(crate) use http::{HttpMetrics, RequestLabels};
pub(crate) use layer::count;
pub(crate) use process::start_time;
