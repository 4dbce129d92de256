//! An error of its own with a sentence full of control characters.

use yearbook_sdk::Error;

pub(crate) fn run() -> Result<(), Error> {
    Err(Error::Internal("broken\r\nX-Injected: yes".repeat(10_000)))
}
