//! The contents of a waiting mail: address, token and the start of the link, sealed while they lie
//! in the queue. The text is written when the mail leaves, since only then is known whether the
//! address has an account; so the request for it costs the same for every address
//! (contract-10-same-answer).

use serde::{Deserialize, Serialize};
use yearbook_catalog::{Catalog, LINK_LIFETIME_MS, QueuedMail};
use yearbook_domain::{MailAddress, Millis};

use crate::SignupError;
use crate::mail::{Mail, MailPurpose};
use crate::secrets::SignupSecrets;
use crate::token::LinkToken;

/// As it is sealed.
#[derive(Serialize, Deserialize)]
struct Contents {
    to: String,
    token: String,
    base: String,
}

/// Seals a mail to `to` with a link that begins with `base`.
pub(crate) fn seal(
    secrets: &SignupSecrets,
    to: &MailAddress,
    token: &LinkToken,
    base: &str,
    now: Millis,
) -> Result<QueuedMail, SignupError> {
    let id = yearbook_catalog::key::new_record_id("mail")?;
    let contents =
        Contents { to: to.mailbox().to_owned(), token: token.expose(), base: base.to_owned() };
    let text = serde_json::to_vec(&contents).unwrap_or_default();
    Ok(QueuedMail {
        sealed: secrets.seal(&id, &text)?,
        address: secrets.address(to),
        created_at: now,
        expires_at: Millis(now.0.saturating_add(LINK_LIFETIME_MS)),
        attempts: 0,
        id,
    })
}

/// Opens a mail and writes its text.
pub(crate) async fn open(
    catalog: &Catalog,
    secrets: &SignupSecrets,
    queued: &QueuedMail,
    now: Millis,
) -> Result<Mail, SignupError> {
    let unreadable = || SignupError::Unreadable { id: queued.id.clone() };
    let text = secrets.unseal(&queued.id, &queued.sealed).ok_or_else(unreadable)?;
    let Contents { to, token, base } = serde_json::from_slice(&text).map_err(|_| unreadable())?;
    let purpose = match catalog.account(&queued.address, now).await? {
        Some(_) => MailPurpose::Account,
        None => MailPurpose::NewKey,
    };
    Ok(Mail {
        id: queued.id.clone(),
        to: MailAddress::parse(&to).map_err(|_| unreadable())?,
        purpose,
        link: format!("{base}{}?token={token}", purpose.path()),
        created_at: queued.created_at,
        expires_at: queued.expires_at,
    })
}
