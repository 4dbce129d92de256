//! Refusals of transforms.

use crate::guest::GuestReport;
use crate::guest::bindings::transform::exports::yearbook::plugin::transform as guest;
use crate::guest_error::{CalledPlugin, GuestError};
use crate::limits::NAME_BYTES;
use crate::sanitize::{sanitize, sanitize_sentence};

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
