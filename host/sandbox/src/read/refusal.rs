//! Refusals of readers as sentences with a place that a publisher can act on.

use yearbook_engine::{sanitize, sanitize_sentence};

use crate::guest::GuestReport;
use crate::guest::bindings::reader::exports::yearbook::plugin::reader as guest;
use crate::guest_error::{CalledPlugin, GuestError};

/// Longest path in a place, bytes.
const PATH_BYTES: usize = 200;

impl GuestReport for guest::Refusal {
    fn into_error(self, plugin: CalledPlugin) -> GuestError {
        match self {
            Self::Malformed(fault) | Self::Unsupported(fault) => {
                GuestError::Declined(describe_fault(&fault))
            }
            Self::InvalidOption(sentence) => GuestError::InvalidOption(format!(
                "an option in yearbook.reader_options: {}",
                sanitize_sentence(&sentence)
            )),
            Self::Internal(sentence) => {
                GuestError::Internal { plugin, message: sanitize_sentence(&sentence) }
            }
        }
    }
}

/// Place and sentence on one line.
fn describe_fault(fault: &guest::Fault) -> String {
    let guest::Fault { place, sentence } = fault;
    let path = sanitize(&place.path, PATH_BYTES);
    let parts = [
        place.line.map(|line| format!("line {line}")),
        place.byte.map(|byte| format!("byte {byte}")),
        (!path.is_empty()).then_some(path),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let sentence = sanitize_sentence(sentence);
    if parts.is_empty() { sentence } else { format!("{}: {sentence}", parts.join(", ")) }
}
