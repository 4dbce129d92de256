//! `yearbook share`: profile files for clients of the warehouse share (contract-12-profile).

use std::io::Read as _;

use anyhow::{Context as _, anyhow, bail};
use serde_json::{Value, json};
use yearbook_catalog::{Catalog, key};
use yearbook_domain::Plan;

use super::keys;
use crate::arguments::ShareCommand;
use crate::context::CommandContext;

/// Version of profile files that every client reads.
const PROFILE_VERSION: u32 = 1;

/// Longest text that is read as a key, bytes.
const MAX_KEY_BYTES: u64 = 1_024;

pub(super) async fn run(context: &CommandContext, command: ShareCommand) -> anyhow::Result<()> {
    match command {
        ShareCommand::Profile { label, key: None } => issue(context, label).await,
        ShareCommand::Profile { key: Some(_), .. } => {
            let text = read_key()?;
            check(&*context.catalog().await?, &text).await?;
            print(context, &text)
        }
    }
}

async fn issue(context: &CommandContext, label: Option<String>) -> anyhow::Result<()> {
    let store = context.catalog().await?;
    let (record, issued) = keys::issue(&store, Plan::Enterprise, label).await?;
    context.output.note(&format!(
        "Key {} is in this profile file, which is shown only now. Revoke it with: yearbook keys revoke {}",
        record.id, record.id
    ));
    let printed = print(context, issued.expose());
    keys::revoke_unless(&store, &record.id, printed).await
}

/// Reads a key from standard input.
fn read_key() -> anyhow::Result<String> {
    let mut text = String::new();
    std::io::stdin()
        .take(MAX_KEY_BYTES)
        .read_to_string(&mut text)
        .context("cannot read the key from standard input")?;
    Ok(text.trim().to_owned())
}

/// Checks that the key would open the share now.
async fn check(store: &Catalog, text: &str) -> anyhow::Result<()> {
    let hash = key::parse(text)
        .ok_or_else(|| anyhow!("standard input is no key; write the whole key, yb_ included"))?;
    let found = store.key(&hash).await.context("cannot look the key up")?;
    let record = found.map(|found| found.record);
    let now = yearbook_catalog::clock::now();
    match record {
        None => bail!("there is no such key; issue one: yearbook share profile --label TEXT"),
        Some(record) if record.revoked_at.is_some_and(|at| at <= now) => {
            bail!("key {} is revoked; issue one: yearbook share profile --label TEXT", record.id)
        }
        Some(record) if record.plan != Plan::Enterprise => bail!(
            "key {} is of the plan {}, and the share takes Enterprise keys; issue one: yearbook share profile --label TEXT",
            record.id,
            record.plan
        ),
        Some(_) => Ok(()),
    }
}

fn print(context: &CommandContext, key: &str) -> anyhow::Result<()> {
    let settings = &context.settings;
    if settings.values.server.public_url.is_none() {
        context.output.note(
            "server.public_url is not set, so the endpoint is the address that this machine listens at; set it where recipients are elsewhere.",
        );
    }
    let profile = profile(&settings.base_url(), key, settings.values.share.iceberg);
    let pretty = serde_json::to_string_pretty(&profile)?;
    context.output.print_once(&profile, || pretty)
}

/// Profile of the holder of `key`. `has_iceberg`: the tables are served for readers of Iceberg too.
fn profile(base: &str, key: &str, has_iceberg: bool) -> Value {
    let mut profile = json!({
        "shareCredentialsVersion": PROFILE_VERSION,
        "endpoint": format!("{base}/share/delta"),
        "bearerToken": key,
    });
    if has_iceberg {
        profile["icebergEndpoint"] = json!(format!("{base}/share/iceberg"));
    }
    profile
}
