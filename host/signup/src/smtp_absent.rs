//! Stand-in for SMTP where the feature `smtp` is off: an error that names the build that has it.

use crate::transport::MailTransport;
use crate::{SignupError, SmtpUrl};

/// No transport.
pub(crate) fn transport(_url: &SmtpUrl) -> Result<Box<dyn MailTransport>, SignupError> {
    Err(absent())
}

/// No greeting.
#[expect(clippy::unused_async, reason = "the signature is that of the real thing")]
pub(crate) async fn greet(_url: &SmtpUrl) -> Result<(), SignupError> {
    Err(absent())
}

fn absent() -> SignupError {
    SignupError::Smtp(
        "this build of yearbook cannot send mail: take a release build, build with `cargo build --release --features smtp`, or set signup.mode to outbox".to_owned(),
    )
}
