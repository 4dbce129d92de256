//! Sign-up for Free keys (contract-10): from an address to a mail, from its link to an account and
//! a key. The only crate that sends mails. It never touches SQL, HTTP, the environment or
//! arguments.
//!
//! [`Signup`] is what a server asks; [`outbox`] is what an operator reads. An address leaves this
//! crate in two ways alone: sealed, into the queue of mails, and in a mail.

mod error;
mod mail;
mod metrics;
pub mod outbox;
mod retry;
mod sealed_mail;
mod secrets;
mod sender;
mod service;
mod settings;
#[cfg_attr(not(feature = "smtp"), path = "smtp_absent.rs")]
mod smtp;
mod token;
mod transport;

pub use error::SignupError;
pub use metrics::{MailFate, SignupMetrics, SignupStage};
pub use outbox::OutboxMail;
pub use secrets::FormFault;
pub use service::{AccountAction, LinkAnswer, LinkState, RequestAnswer, Signup};
pub use settings::{MailFrom, SignupMode, SignupSettings, SignupSettingsError, SmtpUrl};
pub use transport::{MailTransport, SendFailure, SendFuture};
