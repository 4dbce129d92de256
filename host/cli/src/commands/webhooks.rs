//! `yearbook webhooks`: addresses that are told of new versions, and the task of a server that does
//! (contract-21-webhooks).

use std::sync::Arc;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use yearbook_catalog::{Catalog, WebhookRecord};
use yearbook_domain::{DatasetName, Millis};
use yearbook_webhooks::{WebhookError, Webhooks};

use crate::arguments::WebhooksCommand;
use crate::context::CommandContext;
use crate::output::{TextTable, or_dash};

pub(super) async fn run(context: &CommandContext, command: WebhooksCommand) -> anyhow::Result<()> {
    match command {
        WebhooksCommand::Add { url, dataset } => add(context, &url, dataset).await,
        WebhooksCommand::List => list(context).await,
        WebhooksCommand::Remove { id } => remove(context, &id).await,
    }
}

/// Starts the task of a server whose addresses begin with `base`; none where the settings have it
/// off, or this machine can ask nobody.
///
/// # Errors
/// Fails when the catalog does not answer.
pub(super) async fn start(
    context: &CommandContext,
    catalog: &Arc<Catalog>,
    base: &str,
) -> anyhow::Result<Option<Arc<Webhooks>>> {
    let settings = context.settings.values.webhooks;
    if !settings.enabled {
        return Ok(None);
    }
    match Webhooks::open(Arc::clone(catalog), settings, base).await {
        Ok(webhooks) => {
            webhooks.start();
            Ok(Some(webhooks))
        }
        Err(WebhookError::Client(error)) => {
            tracing::warn!(%error, "webhooks: this host tells nobody of new versions");
            Ok(None)
        }
        Err(error) => Err(error).context("webhooks cannot start"),
    }
}

async fn add(
    context: &CommandContext,
    url: &str,
    dataset: Option<DatasetName>,
) -> anyhow::Result<()> {
    let catalog = Arc::new(context.catalog().await?);
    let settings = context.settings.values.webhooks;
    let base = context.settings.base_url();
    let webhooks = Webhooks::open(Arc::clone(&catalog), settings, &base).await?;
    let webhook = webhooks.make(url, dataset)?.with_context(|| {
        format!("{url:?} is told of nothing; webhooks.allow_private allows what is not public")
    })?;
    catalog.add_webhook(&webhook).await.context("the webhook was not added; try again")?;
    let secret = webhooks.secret(&webhook.id);
    let shown = json!({ "id": webhook.id, "url": webhook.url, "secret": secret });
    let printed = context.output.print_once(&shown, || {
        format!(
            "Webhook {}. Its secret is shown only now:\n\n    {secret}\n\nServers tell {} of what is published from now on.",
            webhook.id, webhook.url
        )
    });
    let Err(failure) = printed else { return Ok(()) };
    let id = webhook.id;
    Err(match catalog.remove_webhook(&id).await {
        Ok(_) => failure.context("the secret was not shown, and the webhook is not added"),
        Err(_) => failure.context(format!(
            "the secret of {id} was not shown; remove it with `yearbook webhooks remove {id}`"
        )),
    })
}

async fn list(context: &CommandContext) -> anyhow::Result<()> {
    let webhooks = context.catalog().await?.webhooks().await.context("cannot list webhooks")?;
    let values: Vec<Value> = webhooks.iter().map(webhook_json).collect();
    context.output.print_result(&values, || {
        let rows = webhooks.iter().map(|webhook| {
            [
                webhook.id.clone(),
                or_dash(webhook.account.as_deref()),
                or_dash(webhook.dataset.as_ref().map(DatasetName::as_str)),
                webhook.attempts.to_string(),
                or_dash(webhook.ended_at.map(Millis::to_rfc3339).as_deref()),
                or_dash(webhook.last_failure.as_deref()),
                webhook.url.clone(),
            ]
        });
        TextTable::new(&["id", "account", "dataset", "failed", "ended", "last failure", "url"])
            .with_rows(rows)
            .render_or("No webhooks yet. Add one: yearbook webhooks add https://example.org/hook")
    })
}

fn webhook_json(webhook: &WebhookRecord) -> Value {
    json!({
        "id": webhook.id,
        "account": webhook.account,
        "url": webhook.url,
        "dataset": webhook.dataset,
        "created_at": webhook.created_at.to_rfc3339(),
        "failed_attempts": webhook.attempts,
        "last_failure": webhook.last_failure,
        "ended_at": webhook.ended_at.map(Millis::to_rfc3339),
    })
}

async fn remove(context: &CommandContext, id: &str) -> anyhow::Result<()> {
    let catalog = context.catalog().await?;
    if !catalog.remove_webhook(id).await.context("the webhook was not removed; try again")? {
        bail!("no webhook {id:?}; `yearbook webhooks list` lists them");
    }
    context
        .output
        .print_result(&json!({ "id": id, "removed": true }), || format!("Webhook {id} is removed."))
}
