//! The plugin platform: from a file that somebody built to a release that every running host
//! serves, and back. Checks components in the sandbox, installs them (bytes into the object store,
//! a release into the catalogue), keeps a host's registry as the catalogue wants it, and watches
//! what serves: a new release is compared with the one before it takes its place, and one that
//! fails is taken out of service. Removes from the object store what the catalogue no longer names,
//! and publishes packages beside other publishers. Never touches HTTP, arguments or environment;
//! knows neither SQL nor wasmtime.

mod canary;
mod check;
mod component;
mod declare;
mod gc;
mod guard;
mod keeper;
mod lifecycle;
mod publish;
mod settings;
mod strikes;
mod trust;

pub use check::{CheckReport, CheckResult, Finding, LimitUsage, check};
pub use component::{Component, ComponentFileError};
pub use declare::UploadRegistry;
pub use gc::{Collected, GcSettings, gc};
pub use guard::{Asker, Guard};
pub use keeper::{Embedded, PluginReconciler};
pub use lifecycle::{Installed, Outcome, Problem, Wish, install, pin, remove, rollback};
pub use publish::{PublishFailure, Published, Publisher};
pub use settings::ReleaseMonitorSettings;
pub use trust::{Digest, Key, Signature, TrustPolicy, TrustRequirement, Untrusted};
