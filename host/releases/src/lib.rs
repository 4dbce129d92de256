//! The life of a plugin release: from a file that somebody built to a release that every running
//! host serves, and back. Checks components in the sandbox, installs them (bytes into the object
//! store, a release into the catalog), keeps a host's registry in line with the catalog, and
//! monitors what serves: a canary release is compared with the one that serves, and a release that
//! fails too often is quarantined. Never touches HTTP, arguments or environment; never touches SQL
//! or wasmtime.

mod bench;
mod canary;
mod check;
mod circuit_breaker;
mod component_file;
mod dumps;
mod error;
mod install;
mod installed_reader;
mod ipc_size_check;
mod readback;
mod reconciler;
mod release_actions;
mod release_monitor;
mod release_record;
mod settings;
mod trial_calls;
mod trust;

pub use bench::{
    BenchError, BenchFigure, BenchPeer, BenchPlugin, ExampleFigure, bench, bench_adapter,
};
pub use check::{CheckReport, CheckResult, Finding, LimitUsage, check};
pub use component_file::{ComponentFile, ComponentFileError};
pub use dumps::{
    DumpFolder, DumpFolderError, DumpReadError, MAX_DUMP_BYTES, read_dump, write_dump,
};
pub use error::ReleaseError;
pub use install::{InstallOptions, InstalledRelease, install};
pub use installed_reader::{installed_reader, load_release};
pub use reconciler::{EmbeddedComponent, PluginReconciler};
pub use release_actions::{ReleaseActionResult, pin, remove, rollback};
pub use release_monitor::ReleaseMonitor;
pub use settings::ReleaseMonitorSettings;
pub use trust::{Signature, TrustError, TrustPolicy, TrustRequirement, TrustedKey};
