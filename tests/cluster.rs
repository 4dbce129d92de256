//! Several hosts on one catalogue, and the stores below them. The suites `reliability` and `hostile`
//! in this folder are binaries of their own.

mod hosts;
mod store;
