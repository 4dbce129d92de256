//! What a running server tells about itself (issue 5, watching; issue 6, observability). Requests
//! are counted here without a lock; everything else is counted by the crate that does it, and read
//! when somebody asks. Label values come from fixed sets: no client can make a new series.

mod body;
mod connections;
mod exposition;
mod histogram;
mod http;
mod machine;
mod names;
mod plugins;
mod process;
mod series;
mod watch;

pub(crate) use connections::{
    ConnectionMetrics, ConnectionTimeout, ListenerMetrics, OpenConnection, Refused,
};
pub(crate) use exposition::{
    OPENMETRICS_CONTENT_TYPE, PROMETHEUS_CONTENT_TYPE, prometheus_text, text,
};
pub(crate) use http::{HttpMetrics, RequestLabels};
pub(crate) use process::start_time;
pub(crate) use watch::count;
