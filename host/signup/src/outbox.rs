//! Sign-up as an operator sees it: the mails that wait, and whether the mail server greets
//! (contract-10-outbox).

use yearbook_catalog::{Catalog, CatalogError, clock};
use yearbook_domain::Millis;

use crate::secrets::SignupSecrets;
use crate::{SignupError, SmtpUrl, sealed_mail, smtp};

/// A waiting mail, with its address and its link.
#[derive(Clone, PartialEq, Eq)]
pub struct OutboxMail {
    /// Identifier.
    pub id: String,
    /// Address that it goes to.
    pub to: String,
    /// Time of the request.
    pub created_at: Millis,
    /// Time from which its link does not work any more.
    pub expires_at: Millis,
    /// Subject.
    pub subject: String,
    /// Text, with the link on a line of its own.
    pub text: String,
}

/// Lists the mails that wait, oldest first, or the one called `id`. Deletes what has expired
/// before.
///
/// # Errors
/// [`SignupError`] when the database fails, or a mail belongs to another installation.
pub async fn list(catalog: &Catalog, id: Option<&str>) -> Result<Vec<OutboxMail>, SignupError> {
    let now = clock::now();
    catalog.purge_signup(now).await?;
    let secrets = SignupSecrets::read(catalog).await?;
    let mut mails = Vec::new();
    for queued in catalog.mails(now).await? {
        if id.is_some_and(|id| id != queued.id) {
            continue;
        }
        let mail = sealed_mail::open(catalog, &secrets, &queued, now).await?;
        mails.push(OutboxMail {
            to: mail.to.mailbox().to_owned(),
            subject: mail.subject().to_owned(),
            text: mail.text(),
            created_at: mail.created_at,
            expires_at: mail.expires_at,
            id: mail.id,
        });
    }
    Ok(mails)
}

/// Marks a mail as handed over, which deletes it. False when there is none.
///
/// # Errors
/// [`CatalogError`] when the database fails.
pub async fn mark_sent(catalog: &Catalog, id: &str) -> Result<bool, CatalogError> {
    catalog.delete_mail(id).await
}

/// Connects to the mail server and waits for its greeting.
///
/// # Errors
/// [`SignupError::Smtp`] with the reason.
pub async fn greet_mail_server(url: &SmtpUrl) -> Result<(), SignupError> {
    smtp::greet(url).await
}
