//! `yearbook keys`: issue, list and revoke, and end links (contract-5-hash, contract-6-keys,
//! contract-15-link-ends).

use anyhow::{Context as _, anyhow};
use serde_json::{Value, json};
use yearbook_catalog::{Catalog, IssuedKey, KeyRecord, key};
use yearbook_domain::{KeyId, Millis, Plan};

use crate::arguments::KeysCommand;
use crate::context::CommandContext;
use crate::output::{TextTable, or_dash};

pub(super) async fn run(context: &CommandContext, command: KeysCommand) -> anyhow::Result<()> {
    match command {
        KeysCommand::Create { plan, label } => create(context, plan, label).await,
        KeysCommand::List => list(context).await,
        KeysCommand::Revoke { id } => revoke(context, &id).await,
        KeysCommand::EndLinks { id } => end_links(context, &id).await,
    }
}

/// Makes a key and stores it.
pub(super) async fn issue(
    store: &Catalog,
    plan: Plan,
    label: Option<String>,
) -> anyhow::Result<(KeyRecord, IssuedKey)> {
    let (issued, hash) = key::issue()?;
    let record = KeyRecord {
        id: key::new_id()?,
        label,
        plan,
        created_at: yearbook_catalog::clock::now(),
        revoked_at: None,
    };
    store
        .insert_key(&record, &hash)
        .await
        .context("the key was not stored and is therefore not valid; try again")?;
    Ok((record, issued))
}

async fn create(context: &CommandContext, plan: Plan, label: Option<String>) -> anyhow::Result<()> {
    let store = context.catalog().await?;
    let (record, issued) = issue(&store, plan, label).await?;
    let text = issued.expose();
    let shown = json!({ "id": record.id, "key": text, "plan": plan });
    let printed = context.output.print_once(&shown, || {
        format!(
            "Key {} for the plan {plan}. It is shown only now and cannot be recovered:\n\n    {text}\n\nTry it:\n\n    curl -H 'X-API-Key: {text}' {}/v1/datasets",
            record.id,
            context.settings.base_url()
        )
    });
    revoke_unless(&store, &record.id, printed).await
}

/// Revokes the key `id` where what shows it could not be printed: nobody has it.
pub(super) async fn revoke_unless(
    store: &Catalog,
    id: &KeyId,
    printed: anyhow::Result<()>,
) -> anyhow::Result<()> {
    let Err(failure) = printed else { return Ok(()) };
    let revoked = store.revoke_key(id, yearbook_catalog::clock::now()).await;
    Err(match revoked {
        Ok(_) => failure.context(format!("the key {id} was not shown, and is revoked")),
        Err(_) => failure.context(format!(
            "the key {id} was not shown and is valid; revoke it with `yearbook keys revoke {id}`"
        )),
    })
}

async fn list(context: &CommandContext) -> anyhow::Result<()> {
    let store = context.catalog().await?;
    let keys = store.keys().await.context("cannot list keys")?;
    let uses = store.key_uses().await.context("cannot read when keys were used")?;
    let last_use = |key: &KeyRecord| uses.get(&key.id).copied().map(Millis::to_rfc3339);
    let values: Vec<Value> = keys.iter().map(|key| key_json(key, last_use(key))).collect();
    context.output.print_result(&values, || {
        let rows = keys.iter().map(|key| {
            [
                key.id.to_string(),
                key.plan.to_string(),
                key.created_at.to_rfc3339(),
                or_dash(last_use(key).as_deref()),
                or_dash(key.revoked_at.map(Millis::to_rfc3339).as_deref()),
                key.label.clone().unwrap_or_default(),
            ]
        });
        TextTable::new(&["id", "plan", "created", "last used", "revoked", "label"])
            .with_rows(rows)
            .render_or("No keys yet. Issue one: yearbook keys create --plan free")
    })
}

async fn revoke(context: &CommandContext, id: &str) -> anyhow::Result<()> {
    let unknown = || unknown_key(id);
    let id = KeyId::parse(id).ok_or_else(unknown)?;
    let store = context.catalog().await?;
    if !store
        .revoke_key(&id, yearbook_catalog::clock::now())
        .await
        .context("the key was not revoked; try again")?
    {
        // Asking twice is no mistake, a wrong id is.
        let known =
            store.keys().await.context("cannot list keys")?.into_iter().any(|key| key.id == id);
        if !known {
            return Err(unknown());
        }
    }
    context.output.print_result(&json!({ "id": id, "revoked": true }), || {
        format!("Key {id} is revoked; running servers refuse it within 2 seconds.")
    })
}

async fn end_links(context: &CommandContext, id: &str) -> anyhow::Result<()> {
    let key = KeyId::parse(id).ok_or_else(|| unknown_key(id))?;
    let store = context.catalog().await?;
    if !store.end_links(&key).await.context("the links were not ended; try again")? {
        return Err(unknown_key(id));
    }
    context.output.print_result(&json!({ "id": key, "links_ended": true }), || {
        format!("Every link of key {key} so far has ended; running servers refuse them within 2 seconds.")
    })
}

fn unknown_key(id: &str) -> anyhow::Error {
    anyhow!("there is no key with the id {id:?}; `yearbook keys list` shows them")
}

fn key_json(key: &KeyRecord, last_used_at: Option<String>) -> Value {
    json!({
        "id": key.id,
        "label": key.label,
        "plan": key.plan,
        "created_at": key.created_at.to_rfc3339(),
        "last_used_at": last_used_at,
        "revoked_at": key.revoked_at.map(Millis::to_rfc3339),
    })
}
