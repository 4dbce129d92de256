//! Suites of tests that leave figures for a page: faults of a fleet, and attacks of a client. Owns
//! the list of them.

pub(crate) mod fleet;
pub(crate) mod hostile;
