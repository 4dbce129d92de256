//! SMTP by the library lettre: one connection a mail, TLS as the address says.

use std::time::Duration;

use lettre::address::Envelope;
use lettre::transport::smtp::Error;
use lettre::{Address, AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};
use yearbook_domain::MailAddress;

use crate::transport::{MailTransport, SendFailure, SendFuture};
use crate::{SignupError, SmtpUrl};

/// Longest wait for each answer of the server.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(20);

/// Enhanced statuses of a recipient that does not exist: mailbox, host, syntax and a mailbox that
/// has moved (RFC 3463, 3.2), a host that takes no mail (RFC 7505, 5.1). The other ones below 5.1
/// are about the sender. Many servers answer RCPT with those too, so the command says nothing.
const BAD_RECIPIENT: [&str; 5] = ["5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10"];

/// A server that takes mails.
struct SmtpServer(AsyncSmtpTransport<Tokio1Executor>);

/// The transport of `signup.smtp_url`.
pub(crate) fn transport(url: &SmtpUrl) -> Result<Box<dyn MailTransport>, SignupError> {
    Ok(Box::new(SmtpServer(server(url)?)))
}

/// Asks the server of `signup.smtp_url` for a greeting.
pub(crate) async fn greet(url: &SmtpUrl) -> Result<(), SignupError> {
    let why = match server(url)?.test_connection().await {
        Ok(true) => return Ok(()),
        Ok(false) => "it greets with an error".to_owned(),
        Err(error) => describe(&error),
    };
    Err(SignupError::Smtp(format!(
        "the SMTP server {} (signup.smtp_url) cannot be used: {why}",
        url.host()
    )))
}

fn server(url: &SmtpUrl) -> Result<AsyncSmtpTransport<Tokio1Executor>, SignupError> {
    let builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.expose()).map_err(|_| {
        SignupError::Smtp(format!(
            "signup.smtp_url ({}) is not understood; write smtps://user:password@host:465, or smtp://host:587?tls=required, with %40 for an @ in the user or password",
            url.host()
        ))
    })?;
    Ok(builder.timeout(Some(COMMAND_TIMEOUT)).build())
}

impl MailTransport for SmtpServer {
    fn send<'a>(
        &'a self,
        from: &'a MailAddress,
        to: &'a MailAddress,
        message: &'a [u8],
    ) -> SendFuture<'a> {
        Box::pin(async move {
            let sender = from.mailbox().parse::<Address>().map_err(|_| {
                SendFailure::Temporary("signup.mail_from is no address of SMTP".to_owned())
            })?;
            let recipient =
                to.mailbox().parse::<Address>().map_err(|_| SendFailure::NoSuchMailbox)?;
            let envelope = Envelope::new(Some(sender), vec![recipient])
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
    let enhanced = source.split_whitespace().next().unwrap_or_default();
    if error.is_permanent() && BAD_RECIPIENT.contains(&enhanced) {
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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    use tokio::net::TcpListener;

    use super::*;

    /// Sends a mail to a server that answers the command `refused` with `answer`, and every other
    /// one with consent.
    async fn send(refused: &'static str, answer: &'static str) -> Result<(), SendFailure> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("smtp://{}", listener.local_addr().unwrap());
        let server = tokio::spawn(async move {
            let mut lines = BufReader::new(listener.accept().await.unwrap().0);
            lines.write_all(b"220 mx.example.org ESMTP\r\n").await.unwrap();
            let (mut line, mut in_message) = (String::new(), false);
            while lines.read_line(&mut line).await.unwrap_or(0) > 0 {
                let reply = match line.trim_end() {
                    command if command.starts_with(refused) => answer,
                    "DATA" => "354 go on",
                    "." => "250 2.0.0 taken",
                    _ if in_message => "",
                    _ => "250 2.0.0 fine",
                };
                in_message = reply.starts_with("354") || (in_message && reply.is_empty());
                if !reply.is_empty() {
                    lines.write_all(format!("{reply}\r\n").as_bytes()).await.unwrap();
                }
                line.clear();
            }
        });
        let transport = transport(&SmtpUrl::try_from(url).unwrap()).unwrap();
        let from = MailAddress::parse("keys@data.example.org").unwrap();
        let to = MailAddress::parse("ann@example.org").unwrap();
        let sent = transport.send(&from, &to, b"Subject: key\r\n\r\nHere.\r\n").await;
        server.abort();
        sent
    }

    #[tokio::test]
    async fn a_code_of_a_recipient_alone_ends_the_attempts_contract_10() {
        assert_eq!(send("NONE", "").await, Ok(()));
        for (command, answer) in [
            ("RCPT", "550 5.1.1 <ann@example.org> does not exist"),
            ("RCPT", "550 5.1.2 no such host"),
            ("RCPT", "556 5.1.10 the host takes no mail"),
        ] {
            assert_eq!(send(command, answer).await, Err(SendFailure::NoSuchMailbox), "{answer}");
        }
        for (command, answer) in [
            ("MAIL", "550 5.1.8 sender's host unknown"),
            ("MAIL", "553 5.1.0 sender refused"),
            ("MAIL", "550 5.7.1 refused"),
            // Postfix tells of a bad sender when the recipient is named.
            ("RCPT", "550 5.1.7 sender's address refused"),
            ("RCPT", "550 5.1.8 sender's host unknown"),
            ("RCPT", "450 4.1.1 not now"),
            ("RCPT", "550 no such user, without an enhanced status"),
            ("DATA", "554 5.6.0 refused"),
        ] {
            let sent = send(command, answer).await;
            assert!(matches!(sent, Err(SendFailure::Temporary(_))), "{command} {answer}: {sent:?}");
        }
    }
}
