//! `yearbook signup`: the mails that wait for an operator (contract-10-outbox), and sign-up of a
//! server that starts.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use yearbook_catalog::Catalog;
use yearbook_signup::{OutboxMail, Signup, SignupMode, outbox};

use crate::arguments::SignupCommand;
use crate::context::CommandContext;
use crate::http_client;
use crate::output::TextTable;

pub(super) async fn run(context: &CommandContext, command: SignupCommand) -> anyhow::Result<()> {
    match command {
        SignupCommand::Outbox { id: Some(id), sent: true } => mark_sent(context, &id).await,
        SignupCommand::Outbox { id, .. } => show(context, id.as_deref()).await,
    }
}

/// Checks the settings of sign-up for a server that listens at `address`.
///
/// # Errors
/// Fails when they contradict each other.
pub(super) fn check(context: &CommandContext, address: SocketAddr) -> anyhow::Result<()> {
    let values = &context.settings.values;
    if values.pages.enabled {
        let public_url = values.server.public_url.as_ref().map(|url| url.as_str());
        values.signup.check(address, public_url)?;
    }
    Ok(())
}

/// Address that links and messages of a server begin with, which listens at `address`. Never the
/// host that a client names: it would decide where the link of another leads.
pub(super) fn base_url(context: &CommandContext, address: SocketAddr) -> String {
    let public_url = context.settings.values.server.public_url.as_ref();
    public_url.map_or_else(
        || format!("http://{}", http_client::connect_address(address)),
        |url| url.as_str().to_owned(),
    )
}

/// Starts sign-up for a server whose addresses begin with `base`; none where the settings have it
/// off.
///
/// # Errors
/// Fails when the catalog does not answer, or this build cannot send mails.
pub(super) async fn start(
    context: &CommandContext,
    store: &Arc<Catalog>,
    base: &str,
) -> anyhow::Result<Option<Arc<Signup>>> {
    let values = &context.settings.values;
    if values.signup.mode == SignupMode::Off || !values.pages.enabled {
        return Ok(None);
    }
    let signup = Signup::open(Arc::clone(store), values.signup.clone(), base)
        .await
        .context("sign-up cannot start")?;
    signup.start().context("sign-up cannot send mails")?;
    Ok(Some(signup))
}

async fn show(context: &CommandContext, id: Option<&str>) -> anyhow::Result<()> {
    let store = context.catalog().await?;
    let mails = outbox::list(&store, id).await.context("the outbox cannot be read")?;
    if let (Some(id), true) = (id, mails.is_empty()) {
        bail!("no mail {id:?} waits; `yearbook signup outbox` lists those that do");
    }
    let values: Vec<Value> = mails.iter().map(mail_json).collect();
    context.output.print_result(&values, || match (id, mails.as_slice()) {
        (Some(_), [mail]) => mail_text(mail),
        (_, []) => "No mails wait.".to_owned(),
        _ => {
            let rows = mails.iter().map(|mail| {
                [
                    mail.id.clone(),
                    mail.to.clone(),
                    mail.created_at.to_rfc3339(),
                    mail.expires_at.to_rfc3339(),
                    mail.subject.clone(),
                ]
            });
            let table =
                TextTable::new(&["id", "to", "created", "expires", "subject"]).with_rows(rows);
            format!(
                "{}\n\nRead one: yearbook signup outbox ID\nWhen it is passed on: yearbook signup outbox ID --sent",
                table.render().trim_end()
            )
        }
    })
}

async fn mark_sent(context: &CommandContext, id: &str) -> anyhow::Result<()> {
    let store = context.catalog().await?;
    if !outbox::mark_sent(&store, id).await.context("the mail was not marked; try again")? {
        bail!("no mail {id:?} waits; `yearbook signup outbox` lists those that do");
    }
    context.output.print_result(&json!({ "id": id, "sent": true }), || {
        format!("Mail {id} is handed over, and its address deleted.")
    })
}

fn mail_json(mail: &OutboxMail) -> Value {
    json!({
        "id": mail.id,
        "to": mail.to,
        "created_at": mail.created_at.to_rfc3339(),
        "expires_at": mail.expires_at.to_rfc3339(),
        "subject": mail.subject,
        "text": mail.text,
    })
}

fn mail_text(mail: &OutboxMail) -> String {
    format!("To: {}\nSubject: {}\n\n{}", mail.to, mail.subject, mail.text)
}
