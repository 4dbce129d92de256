//! `yearbook refresh`: sources are asked again, and what changed is published (contract-8).
//! Imports point one way: `settings`, `failure` <- `download` <- `fetch`; `packages`, `report` and
//! `fetch` <- `refresher`. A server links none of it. Never reads arguments or environment, never
//! speaks SQL, and never judges a table.

mod download;
mod failure;
mod fetch;
mod packages;
mod refresher;
mod report;
mod settings;
#[cfg(test)]
mod test_server;

pub use packages::{FoundPackage, find_packages};
pub use refresher::Refresher;
pub use report::{RefreshOutcome, RefreshReport, RefreshReporter, SilentRefreshReporter};
pub use settings::RefreshSettings;
