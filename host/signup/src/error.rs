//! Failures of sign-up. None of them holds an address, a link or a key.

use yearbook_catalog::CatalogError;

/// Reason for which sign-up does not work, which is our fault.
#[derive(Debug, thiserror::Error)]
pub enum SignupError {
    /// The database does not answer.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// Other sign-ups have taken all turns for too long; try again in a moment.
    #[error("too many sign-ups wait for their turn")]
    Busy,
    /// The operating system gives no random numbers.
    #[error("the operating system gave no random numbers: {0}")]
    Random(#[from] getrandom::Error),
    /// A mail in the queue cannot be read with the secret of this installation.
    #[error("mail {id} cannot be opened with the secret of this catalog")]
    Unreadable {
        /// Identifier of the mail.
        id: String,
    },
    /// The settings of SMTP make no sense, or this build has no SMTP.
    #[error("{0}")]
    Smtp(String),
}
