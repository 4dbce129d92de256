//! Records of what guests did: counters of each release, resource usage of an instance, and dumps
//! of failures. Knows nothing of how they are shown or stored.

mod dump_sink;
mod failure_dump;
mod guest_function;
mod guest_samples;
mod outcome;
mod plugin_metrics;
mod reading_record;
mod resource_usage;

pub use self::dump_sink::DumpSink;
pub(crate) use self::dump_sink::DumpTarget;
pub use self::failure_dump::{
    DUMP_VERSION, DumpMetadata, FailingComponent, FailureDump, GuestLogLine, InstanceProgress,
};
pub use self::guest_function::GuestFunction;
pub use self::guest_samples::{GuestSample, GuestSamples};
pub use self::outcome::{FailureReason, ResponseOutcome};
pub(crate) use self::plugin_metrics::{CallMetrics, MetricsRegistry, ResponseMetrics};
pub use self::plugin_metrics::{
    FIRST_BYTES_BUCKETS_US, LoadMetrics, PluginMetrics, PluginMetricsSnapshot, ReleaseName,
};
pub(crate) use self::reading_record::ReadingRecord;
pub use self::resource_usage::ResourceUsage;
