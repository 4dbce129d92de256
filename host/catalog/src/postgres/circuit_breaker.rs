//! Whether the database is there, as far as anybody knows: while it is not, requests are told so at
//! once instead of each finding out anew. Who follows the revision asks all the same, twice a
//! second, and its first answer opens the door again.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// When nobody has asked for so long, nobody follows the revision: then anybody may find out.
const HALF_OPEN_AFTER: Duration = Duration::from_secs(5);

/// Classes of SQLSTATE in which the server is the trouble, not the statement: connection
/// exceptions, insufficient resources, operator intervention (shutdown, start-up, recovery).
const UNAVAILABLE_SQLSTATES: [&str; 3] = ["08", "53", "57P"];

/// What is known.
pub(crate) struct PostgresCircuitBreaker {
    away: AtomicBool,
    asked: Mutex<Instant>,
}

impl PostgresCircuitBreaker {
    /// Of a database that has just been there.
    pub(super) fn new() -> Self {
        Self { away: AtomicBool::new(false), asked: Mutex::new(Instant::now()) }
    }

    /// Whether there is a point in asking.
    pub(super) fn allows_request(&self) -> bool {
        !self.away.load(Ordering::Relaxed) || self.last_attempt().elapsed() > HALF_OPEN_AFTER
    }

    /// Somebody asks.
    pub(super) fn record_attempt(&self) {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// It answered.
    pub(super) fn record_success(&self) {
        self.away.store(false, Ordering::Relaxed);
    }

    /// Somebody got an error. One that the server sends because of a statement shows that it is
    /// there.
    pub(super) fn failed(&self, error: &sqlx::Error) {
        match error {
            sqlx::Error::Database(error) => {
                let code = error.code();
                let trouble = code.is_some_and(|code| {
                    UNAVAILABLE_SQLSTATES.iter().any(|class| code.starts_with(class))
                });
                self.away.store(trouble, Ordering::Relaxed);
            }
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::WorkerCrashed => {
                self.away.store(true, Ordering::Relaxed);
            }
            // Faults of ours, such as a value that cannot be read: they say nothing of the server.
            _ => {}
        }
    }

    fn last_attempt(&self) -> Instant {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is told at once.
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
