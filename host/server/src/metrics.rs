//! What a running server tells about itself (issue 5, watching; issue 6, observability). Requests
//! are counted here without a lock; everything else is counted by the crate that does it, and read
//! when somebody asks. Label values come from fixed sets: no client can make a new series.

mod connections;
mod counter_table;
mod exposition;
mod histogram;
mod http;
mod layer;
mod metered_body;
mod name_table;
mod plugins;
mod process;
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
