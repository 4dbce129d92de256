//! The plugin platform: from a file that somebody built to a release that every running host
//! serves, and back. Checks components in the sandbox, installs them (bytes into the object store,
//! a release into the catalogue), keeps a host's registry as the catalogue wants it, and watches
//! what serves: a new release is compared with the one before it takes its place, and one that
//! fails is taken out of service. Removes from the object store what the catalogue no longer names,
//! and publishes packages beside other publishers. Never touches HTTP, arguments or environment;
//! knows neither SQL nor wasmtime.

mod canary;
mod check;
mod circuit_breaker;
mod component_file;
mod gc;
mod lifecycle;
mod publish;
mod reconciler;
mod release_monitor;
mod release_policy;
mod settings;
mod trust;
mod upload_registration;

pub use check::{CheckReport, CheckResult, Finding, LimitUsage, check};
pub use component_file::{ComponentFile, ComponentFileError};
pub use gc::{GcSettings, GcSummary, gc};
pub use lifecycle::{
    InstallOptions, InstalledRelease, ReleaseActionResult, ReleaseError, install, pin, remove,
    rollback,
};
pub use publish::{PublishFailure, PublishResult, Publisher};
pub use reconciler::{EmbeddedComponent, PluginReconciler};
pub use release_monitor::ReleaseMonitor;
pub use settings::ReleaseMonitorSettings;
pub use trust::{Digest, Signature, TrustError, TrustPolicy, TrustRequirement, TrustedKey};
pub use upload_registration::UploadRegistry;
