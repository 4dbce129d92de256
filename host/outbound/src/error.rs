//! Reasons why a request has no usable answer. No sentence holds a secret of an address.

use crate::address_rules::ForbiddenAddress;
use crate::{Url, redact};

/// No client can be made, for want of certificates above all.
#[derive(Debug, thiserror::Error)]
#[error(
    "no client for HTTPS can be made ({0}); install the system's certificates (Debian: ca-certificates)"
)]
pub struct ClientSetupError(pub(crate) reqwest::Error);

/// A request without a usable answer. `place` is an address for messages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutboundError {
    /// The address is none that this client asks or follows.
    #[error("leads to {place}, which {reason}")]
    Refused {
        /// Address.
        place: String,
        /// Rule that it breaks.
        reason: String,
    },
    /// The host leads to an address outside the rules.
    #[error(transparent)]
    Forbidden(#[from] ForbiddenAddress),
    /// The address wants TLS, which this program was built without.
    #[error(
        "{place} wants TLS, which this build of yearbook does not have: take a release build, or build it with `cargo build --release`"
    )]
    NoTls {
        /// Address.
        place: String,
    },
    /// No connection is made.
    #[error("cannot connect to {place}: {cause}")]
    Connect {
        /// Address.
        place: String,
        /// Innermost cause.
        cause: String,
    },
    /// No byte comes for longer than is allowed.
    #[error("nothing arrives from {place} any more")]
    Silent {
        /// Address.
        place: String,
    },
    /// The body ends before its end.
    #[error("the answer of {place} broke off: {cause}")]
    Cut {
        /// Address.
        place: String,
        /// Innermost cause.
        cause: String,
    },
    /// The answer is not HTTP.
    #[error("{place} does not answer as HTTP has it: {cause}")]
    NotHttp {
        /// Address.
        place: String,
        /// Innermost cause.
        cause: String,
    },
    /// The body is larger than its bound.
    #[error("the answer of {place} has {found} bytes, and {limit} are allowed")]
    TooLarge {
        /// Address.
        place: String,
        /// Bytes as announced, or `more than N` where counting ended.
        found: String,
        /// The bound.
        limit: u64,
    },
}

impl OutboundError {
    pub(crate) fn refused(url: &Url, reason: impl Into<String>) -> Self {
        Self::Refused { place: redact(url), reason: reason.into() }
    }

    pub(crate) fn silent(url: &Url) -> Self {
        Self::Silent { place: redact(url) }
    }

    /// An error of the library, without its layers.
    pub(crate) fn new(error: reqwest::Error, url: &Url) -> Self {
        let error = error.without_url();
        let mut cause: &dyn std::error::Error = &error;
        loop {
            if let Some(forbidden) = cause.downcast_ref::<ForbiddenAddress>() {
                return forbidden.clone().into();
            }
            match cause.source() {
                Some(deeper) => cause = deeper,
                None => break,
            }
        }
        let (place, cause) = (redact(url), cause.to_string());
        if error.is_timeout() {
            Self::Silent { place }
        } else if error.is_connect() {
            Self::Connect { place, cause }
        } else if error.is_body() || error.is_decode() {
            Self::Cut { place, cause }
        } else {
            Self::NotHttp { place, cause }
        }
    }
}
