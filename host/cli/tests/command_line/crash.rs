//! `publish` and `plugin install` killed (SIGKILL) at random points of their time: the last state
//! is served, a second run completes, and nothing half-written is ever visible (contract-7-atomic).
//! A server runs meanwhile and somebody reads from it all the time.
//!
//! 200 points, half of them with objects in a folder and half in S3, and some more on fresh data
//! directories; `YEARBOOK_TEST_CRASH_POINTS` asks for more or fewer. Needs the built-in plugins.

#[path = "crash/deployment.rs"]
mod deployment;
#[path = "crash/install.rs"]
mod install;
#[path = "crash/kill_points.rs"]
mod kill_points;
#[path = "crash/publish.rs"]
mod publish;
#[path = "crash/reader.rs"]
mod reader;
