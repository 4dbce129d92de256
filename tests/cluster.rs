//! Several hosts on one catalog, and the stores below them. The suites `reliability` and `hostile`
//! in this folder are binaries of their own.

mod hosts;
mod store;
