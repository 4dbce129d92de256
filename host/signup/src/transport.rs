//! Transports of mails, as the sender uses them and SMTP is one. Knows no protocol.

use std::pin::Pin;

use yearbook_domain::MailAddress;

/// Reason for which a mail was not taken. Holds nothing of what the server said: servers repeat
/// addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendFailure {
    /// The mailbox does not exist (enhanced status 5.1.x of RFC 3463): no attempt can help.
    NoSuchMailbox,
    /// Anything else: another attempt may help.
    Temporary(String),
}

/// Future of an attempt.
pub type SendFuture<'a> = Pin<Box<dyn Future<Output = Result<(), SendFailure>> + Send + 'a>>;

/// Hands mails to a server.
pub trait MailTransport: Send + Sync {
    /// Hands one message over. Dropping the future ends the attempt.
    fn send<'a>(
        &'a self,
        from: &'a MailAddress,
        to: &'a MailAddress,
        message: &'a [u8],
    ) -> SendFuture<'a>;
}
