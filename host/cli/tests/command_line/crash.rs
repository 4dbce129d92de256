//! `publish` and `plugin install` killed (SIGKILL) at random points of their time: the last state is served, a second run completes, and
//! nothing half-written is ever visible (contract 7). A server runs meanwhile and somebody reads from it all the time.
//!
//! 200 points, some on a fresh data directory; `YEARBOOK_TEST_CRASH_POINTS` asks for more or fewer. The object store is a folder, or below the
//! address in `YEARBOOK_TEST_CRASH_STORE`, with whatever other variables that kind of store reads. Needs the built-in plugins.

#[path = "crash/deployment.rs"]
mod deployment;
#[path = "crash/install.rs"]
mod install;
#[path = "crash/points.rs"]
mod points;
#[path = "crash/publish.rs"]
mod publish;
#[path = "crash/reader.rs"]
mod reader;
