//! Deadlines of a connection: a pure function of what has happened on it.

use std::time::Duration;

use super::activity::ConnectionActivity;
use crate::metrics::ConnectionTimeout;
use crate::settings::ServerSettings;

/// Time that a client has to hang up after we have said goodbye: a round trip or two, after which
/// HTTP/2 ends by itself.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

/// The longest timeout that a clock can count in any case: a year.
const MAX_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Bounds on the phases of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectionTimeouts {
    /// From accepting it to its first head, and from the first byte of a head to its last.
    pub(super) head: Duration,
    /// From the end of a response to the next request.
    pub(super) idle: Duration,
    /// Between two bytes that the client takes.
    pub(super) write: Duration,
}

/// Times that the loop which drives a connection notices. All are since it was accepted.
#[derive(Debug, Default)]
pub(super) struct ObservedTimes {
    /// Time at which part of a further head had come.
    head: Option<Duration>,
    /// The write that waits, and since when.
    blocked: Option<(u32, Duration)>,
    /// Time at which the last write that had waited went on.
    unblocked: Duration,
    /// Time at which shutdown began.
    pub(super) goodbye: Option<Duration>,
}

impl ConnectionTimeouts {
    /// As the settings say.
    pub(super) fn new(settings: &ServerSettings) -> Self {
        let bounded = |timeout: Duration| timeout.min(MAX_TIMEOUT);
        Self {
            head: bounded(settings.header_read()),
            idle: bounded(settings.idle()),
            write: bounded(settings.write_idle()),
        }
    }

    /// The moment at which `activity` comes to its end unless something happens, and for which
    /// reason; none while a request is open and its response gets on.
    pub(super) fn deadline(
        &self,
        activity: &ConnectionActivity,
        noticed: &ObservedTimes,
    ) -> Option<(Duration, ConnectionTimeout)> {
        let write = noticed
            .blocked
            .map(|(_, since)| (since.saturating_add(self.write), ConnectionTimeout::Write));
        if !activity.has_begun() {
            // Whatever is written before a first request is due to what the client sent instead.
            let head = (self.head, ConnectionTimeout::Head);
            return Some(write.map_or(head, |write| if write.0 < head.0 { write } else { head }));
        }
        if write.is_some() || activity.is_open() {
            return write;
        }
        let quiet = activity.last_response_end().max(noticed.unblocked);
        if let Some(goodbye) = noticed.goodbye {
            return Some((
                goodbye.max(quiet).saturating_add(GRACE_PERIOD),
                ConnectionTimeout::Idle,
            ));
        }
        let idle = (quiet.saturating_add(self.idle), ConnectionTimeout::Idle);
        Some(
            noticed
                .head
                .map_or(idle, |since| (since.saturating_add(self.head), ConnectionTimeout::Head)),
        )
    }
}

impl ObservedTimes {
    /// Takes notice of what has happened by `now`, which is asked only where something has.
    pub(super) fn update(&mut self, activity: &ConnectionActivity, now: impl Fn() -> Duration) {
        match (activity.blocked_write(), self.blocked) {
            (Some(write), Some((known, _))) if write == known => {}
            (Some(write), _) => self.blocked = Some((write, now())),
            (None, Some(_)) => (self.blocked, self.unblocked) = (None, now()),
            (None, None) => {}
        }
        if !activity.is_reading_head() || activity.is_open() {
            self.head = None;
        } else if self.head.is_none() {
            self.head = Some(now());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http::Version;

    use super::super::activity::OpenRequest;
    use super::*;

    const TIMEOUTS: ConnectionTimeouts = ConnectionTimeouts {
        head: Duration::from_secs(10),
        idle: Duration::from_secs(75),
        write: Duration::from_secs(30),
    };

    /// A connection, what was noticed of it, and a clock that a test sets.
    struct Connection {
        activity: Arc<ConnectionActivity>,
        noticed: ObservedTimes,
    }

    impl Connection {
        fn new() -> Self {
            Self { activity: ConnectionActivity::new(), noticed: ObservedTimes::default() }
        }

        fn after_a_request(version: Version) -> Self {
            let connection = Self::new();
            drop(OpenRequest::begin(&connection.activity, version));
            connection
        }

        /// The deadline in whole seconds, as it is seen at `now`.
        fn deadline(&mut self, now: u64) -> Option<(u64, ConnectionTimeout)> {
            self.noticed.update(&self.activity, || Duration::from_secs(now));
            TIMEOUTS.deadline(&self.activity, &self.noticed).map(|(at, why)| (at.as_secs(), why))
        }
    }

    #[test]
    fn the_first_head_is_due_from_the_moment_of_accepting() {
        let mut connection = Connection::new();
        assert_eq!(connection.deadline(0), Some((10, ConnectionTimeout::Head)));
        // Bytes alone move nothing: a preface by halves, or a head that trickles.
        connection.activity.note_read();
        assert_eq!(connection.deadline(9), Some((10, ConnectionTimeout::Head)));
        // Nor does an answer to settings that the client does not take.
        connection.activity.note_write(true);
        assert_eq!(connection.deadline(9), Some((10, ConnectionTimeout::Head)));
    }

    #[test]
    fn an_open_request_has_no_deadline_of_the_connection_while_bytes_are_taken() {
        let mut connection = Connection::new();
        let _open = OpenRequest::begin(&connection.activity, Version::HTTP_11);
        assert_eq!(connection.deadline(1), None);
        connection.activity.note_write(true);
        assert_eq!(connection.deadline(5), Some((35, ConnectionTimeout::Write)));
        assert_eq!(
            connection.deadline(20),
            Some((35, ConnectionTimeout::Write)),
            "as long as nothing is taken"
        );
        connection.activity.note_write(false);
        connection.activity.note_write(true);
        assert_eq!(
            connection.deadline(34),
            Some((64, ConnectionTimeout::Write)),
            "something was taken"
        );
        connection.activity.note_write(false);
        assert_eq!(connection.deadline(40), None);
    }

    #[test]
    fn a_quiet_connection_is_idle_and_one_that_begins_a_head_has_to_end_it() {
        for version in [Version::HTTP_11, Version::HTTP_2] {
            let mut connection = Connection::after_a_request(version);
            assert_eq!(connection.deadline(1), Some((75, ConnectionTimeout::Idle)));
            connection.activity.note_read();
            // Bytes of HTTP/2 may be answers to pings, so that they move nothing.
            let expected = if version == Version::HTTP_2 {
                (75, ConnectionTimeout::Idle)
            } else {
                (30, ConnectionTimeout::Head)
            };
            assert_eq!(connection.deadline(20), Some(expected), "{version:?}");
            assert_eq!(connection.deadline(25), Some(expected), "{version:?}: nor do more of them");
            let open = OpenRequest::begin(&connection.activity, version);
            assert_eq!(connection.deadline(26), None);
            drop(open);
            assert_eq!(connection.deadline(27), Some((75, ConnectionTimeout::Idle)));
        }
    }

    #[test]
    fn the_end_of_a_response_that_is_still_being_taken_is_not_idle() {
        let mut connection = Connection::after_a_request(Version::HTTP_11);
        connection.activity.note_write(true);
        assert_eq!(connection.deadline(60), Some((90, ConnectionTimeout::Write)));
        connection.activity.note_write(false);
        assert_eq!(connection.deadline(80), Some((155, ConnectionTimeout::Idle)));
    }

    #[test]
    fn after_goodbye_there_is_time_to_hang_up_and_for_what_is_open() {
        let mut connection = Connection::after_a_request(Version::HTTP_2);
        connection.noticed.goodbye = Some(Duration::from_secs(75));
        assert_eq!(connection.deadline(76), Some((80, ConnectionTimeout::Idle)));
        let open = OpenRequest::begin(&connection.activity, Version::HTTP_2);
        assert_eq!(connection.deadline(79), None);
        drop(open);
        assert_eq!(connection.deadline(80), Some((80, ConnectionTimeout::Idle)));
    }
}
