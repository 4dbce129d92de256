//! Circuit breaker of the database: while it is open, requests fail at once instead of each waiting
//! for a timeout. The poll of the revision tries all the same, twice a second, and its first answer
//! closes the circuit.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time without an attempt after which any request may try: then nothing polls the revision.
const HALF_OPEN_AFTER: Duration = Duration::from_secs(5);

/// Classes of SQLSTATE in which the server failed, not the statement: connection exceptions,
/// insufficient resources, operator intervention (shutdown, start-up, recovery).
const UNAVAILABLE_SQLSTATES: [&str; 3] = ["08", "53", "57P"];

/// State of the circuit.
pub(crate) struct PostgresCircuitBreaker {
    open: AtomicBool,
    last_attempt: Mutex<Instant>,
}

impl PostgresCircuitBreaker {
    /// Creates a closed circuit: the database has just answered.
    pub(super) fn new() -> Self {
        Self { open: AtomicBool::new(false), last_attempt: Mutex::new(Instant::now()) }
    }

    /// Returns true when a request may be sent.
    pub(super) fn allows_request(&self) -> bool {
        !self.open.load(Ordering::Relaxed) || self.last_attempt().elapsed() > HALF_OPEN_AFTER
    }

    /// Records an attempt.
    pub(super) fn record_attempt(&self) {
        *self.last_attempt.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Records an answer: closes the circuit.
    pub(super) fn record_success(&self) {
        self.open.store(false, Ordering::Relaxed);
    }

    /// Records an error. One that the server sends because of a statement shows that it is up.
    pub(super) fn failed(&self, error: &sqlx::Error) {
        match error {
            sqlx::Error::Database(error) => {
                let code = error.code();
                let unavailable = code.is_some_and(|code| {
                    UNAVAILABLE_SQLSTATES.iter().any(|class| code.starts_with(class))
                });
                self.open.store(unavailable, Ordering::Relaxed);
            }
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::WorkerCrashed => {
                self.open.store(true, Ordering::Relaxed);
            }
            // Errors of this process, such as a value that cannot be read: they say nothing of the
            // server.
            _ => {}
        }
    }

    fn last_attempt(&self) -> Instant {
        *self.last_attempt.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the error of requests while the circuit is open.
pub(super) fn circuit_open_error() -> sqlx::Error {
    sqlx::Error::Io(std::io::Error::new(
        ErrorKind::NotConnected,
        "the database did not answer just now, and is being asked again",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_closes_the_door_and_an_answer_opens_it() {
        let presence = PostgresCircuitBreaker::new();
        assert!(presence.allows_request());
        for error in
            [sqlx::Error::PoolTimedOut, circuit_open_error(), sqlx::Error::Protocol("?".to_owned())]
        {
            presence.failed(&error);
            assert!(!presence.allows_request(), "{error}");
            presence.failed(&sqlx::Error::RowNotFound);
            assert!(!presence.allows_request(), "no answer");
            presence.record_success();
            assert!(presence.allows_request());
        }
        presence.failed(&sqlx::Error::Decode("an odd value".into()));
        assert!(presence.allows_request());
    }
}
