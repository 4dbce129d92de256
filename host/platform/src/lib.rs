//! The plugin platform: from a file that somebody built to a release that every running host serves, and
//! back. Checks components in the sandbox, installs them (bytes into the object store, a release into the
//! catalogue) and keeps a host's registry as the catalogue wants it. Never touches HTTP, arguments or
//! environment; knows neither SQL nor wasmtime.

mod check;
mod component;
mod keeper;
mod lifecycle;

pub use check::{Budget, Checked, Finding, Report, check};
pub use component::{Component, NotAComponent};
pub use keeper::{Embedded, Keeper};
pub use lifecycle::{Installed, Outcome, Problem, Wish, install, pin, remove, rollback};
