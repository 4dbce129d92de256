//! Check of sign-up: whether its mode can work, whether mails wait for the operator, and whether
//! the mail server greets (contract-10-outbox).

use yearbook_catalog::Catalog;
use yearbook_signup::{SignupMode, outbox};

use super::{Finding, Status};
use crate::settings::SettingsDocument;

/// Checks the settings of sign-up; `store` is the catalog, where it answers.
///
/// # Errors
/// Fails when the catalog does not answer, or the mail server does not greet.
pub(super) async fn check_signup(
    values: &SettingsDocument,
    store: Option<&Catalog>,
) -> anyhow::Result<Finding> {
    let settings = &values.signup;
    if settings.mode == SignupMode::Off || !values.pages.enabled {
        return Ok((Status::Ok, "off: keys are issued by `yearbook keys create` alone".to_owned()));
    }
    let public_url = values.server.public_url.as_ref().map(|url| url.as_str());
    settings.check(values.server.listen, public_url)?;
    let waiting = match store {
        Some(store) => store.waiting_mails(yearbook_catalog::clock::now()).await?,
        None => 0,
    };
    Ok(match (settings.mode, &settings.smtp_url) {
        (SignupMode::Smtp, Some(url)) => {
            outbox::greet_mail_server(url).await?;
            let host = url.host();
            if url.is_clear_text() {
                let advice = "add ?tls=required, or use smtps://";
                (
                    Status::Warn,
                    format!(
                        "{host} greets, but links of accounts cross the network in clear text; {advice}"
                    ),
                )
            } else {
                (Status::Ok, format!("{host} greets; mails that wait: {waiting}"))
            }
        }
        (SignupMode::Show, _) => (
            Status::Warn,
            "anybody who reaches the service gets a key for any address (signup.mode is show)"
                .to_owned(),
        ),
        _ => (
            Status::Warn,
            format!(
                "no mail is sent (signup.mode is outbox); mails that wait for you: {waiting}; `yearbook signup outbox` shows them; set signup.mode to smtp with signup.smtp_url and signup.mail_from, or to off"
            ),
        ),
    })
}
