//! SMTP by the library lettre: one connection a mail, TLS as the address says.

use std::time::Duration;

use lettre::address::Envelope;
use lettre::transport::smtp::Error;
use lettre::{Address, AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};
use yearbook_domain::MailAddress;

use crate::sender::SendFuture;
use crate::{MailTransport, SendFailure, SignupError, SmtpUrl};

/// Longest wait for each answer of the server.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(20);

/// Start of the enhanced status of an address that does not exist (RFC 3463, 3.2).
const BAD_ADDRESS: &str = "5.1.";

/// A server that takes mails.
struct SmtpServer(AsyncSmtpTransport<Tokio1Executor>);

/// The transport of `signup.smtp_url`.
pub(crate) fn transport(url: &SmtpUrl) -> Result<Box<dyn MailTransport>, SignupError> {
    let builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.expose()).map_err(|_| {
        SignupError::Smtp(format!(
            "signup.smtp_url ({}) is not understood; write smtps://user:password@host:465, or smtp://host:587?tls=required, with %40 for an @ in the user or password",
            url.host()
        ))
    })?;
    Ok(Box::new(SmtpServer(builder.timeout(Some(COMMAND_TIMEOUT)).build())))
}

/// Asks the server of `signup.smtp_url` for a greeting.
pub(crate) async fn greet(url: &SmtpUrl) -> Result<(), SignupError> {
    let unusable = |reason: String| {
        SignupError::Smtp(format!(
            "the SMTP server {} (signup.smtp_url) cannot be used: {reason}",
            url.host()
        ))
    };
    let builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.expose())
        .map_err(|_| unusable("the address is not understood".to_owned()))?;
    let server = builder.timeout(Some(COMMAND_TIMEOUT)).build::<Tokio1Executor>();
    match server.test_connection().await {
        Ok(true) => Ok(()),
        Ok(false) => Err(unusable("it greets with an error".to_owned())),
        Err(error) => Err(unusable(describe(&error))),
    }
}

impl MailTransport for SmtpServer {
    fn send<'a>(
        &'a self,
        from: &'a MailAddress,
        to: &'a MailAddress,
        message: &'a [u8],
    ) -> SendFuture<'a> {
        Box::pin(async move {
            let address = |address: &MailAddress| {
                let wrong = |_| SendFailure::NoSuchMailbox;
                address.mailbox().parse::<Address>().map_err(wrong)
            };
            let envelope = Envelope::new(Some(address(from)?), vec![address(to)?])
                .map_err(|_| SendFailure::NoSuchMailbox)?;
            match self.0.send_raw(&envelope, message).await {
                Ok(_) => Ok(()),
                Err(error) => Err(failure(&error)),
            }
        })
    }
}

fn failure(error: &Error) -> SendFailure {
    let source = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    if error.is_permanent() && source.trim_start().starts_with(BAD_ADDRESS) {
        SendFailure::NoSuchMailbox
    } else {
        SendFailure::Temporary(describe(error))
    }
}

/// Kind of an error and the status of its reply, without the words of the server.
fn describe(error: &Error) -> String {
    if let Some(status) = error.status() {
        return format!("the server answered {status}");
    }
    let kind = if error.is_timeout() {
        "no answer in time"
    } else if error.is_tls() {
        "TLS failed"
    } else if error.is_response() {
        "an answer that is not SMTP"
    } else if error.is_client() {
        "the server lacks an extension that is needed"
    } else {
        "the connection failed"
    };
    kind.to_owned()
}
