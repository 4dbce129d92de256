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
    ConnectionMetrics, ListenerMetrics, OpenConnection, Refused, Timeout,
};
pub(crate) use exposition::{CLASSIC, OPEN, classic, text};
pub(crate) use http::{Facts, Http};
pub(crate) use process::started;
pub(crate) use watch::count;
