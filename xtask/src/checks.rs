//! Checks: servers to run them on, suites whose results are counted, and the report of the steps.
//! Owns no check itself.

mod failures;
pub mod postgres;
pub mod report;
pub mod served;
pub mod suites;
