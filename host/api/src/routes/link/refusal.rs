//! Refusals of links alone.

use http::StatusCode;
use yearbook_http::{RoomRefusal, status};

/// Characters of an address at most: what spreadsheets take.
pub(super) const MAX_CHARACTERS: usize = 2_000;

/// Reasons of links alone for which a request gets no 2xx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkRefusal {
    /// 413: the address would be longer than programs take.
    TooLong,
    /// 404: not ours, changed, or with another extension.
    Unknown,
    /// 410: its time is over, its key does not work any more, or the links of the key were ended.
    Ended,
}

impl RoomRefusal for LinkRefusal {
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::TooLong => (status::PAYLOAD_TOO_LARGE, "link_too_long"),
            Self::Unknown => (status::NOT_FOUND, "no_such_link"),
            Self::Ended => (status::GONE, "link_ended"),
        }
    }

    fn message(&self) -> String {
        match self {
            Self::TooLong => format!(
                "The link would be longer than {MAX_CHARACTERS} characters; ask for fewer columns or conditions."
            ),
            Self::Unknown => {
                "There is no such link; check that the address was copied whole.".to_owned()
            }
            Self::Ended => "The link has ended; ask for a new one where it came from.".to_owned(),
        }
    }
}
