//! Refusals of transforms.

use yearbook_engine::{NAME_BYTES, sanitize, sanitize_sentence};

use crate::guest::GuestReport;
use crate::guest::bindings::transform::exports::yearbook::plugin::transform as guest;
use crate::guest_error::{CalledPlugin, GuestError};

impl GuestReport for guest::Refusal {
    fn into_error(self, plugin: CalledPlugin) -> GuestError {
        match self {
            Self::UnsupportedSchema(sentence) => GuestError::Declined(sanitize_sentence(&sentence)),
            Self::InvalidOption((option, sentence)) => GuestError::InvalidTransformOption {
                option: sanitize(&option, NAME_BYTES),
                sentence: sanitize_sentence(&sentence),
            },
            Self::TooLarge(sentence) => GuestError::TooManyRows(sanitize_sentence(&sentence)),
            Self::UnsupportedRows(sentence) => {
                GuestError::UnsupportedRows(sanitize_sentence(&sentence))
            }
            Self::Internal(sentence) => {
                GuestError::Internal { plugin, message: sanitize_sentence(&sentence) }
            }
        }
    }
}
