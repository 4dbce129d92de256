//! `yearbook migrate`: bring the database up to date, as a step of its own (contract-6-fresh).

use serde_json::json;

use crate::context::{CommandContext, redact_password};

pub(super) async fn run(context: &CommandContext) -> anyhow::Result<()> {
    let store = context.catalogue().await?;
    store.close().await;
    let url = redact_password(&context.settings.database_url());
    context.output.print_result(&json!({ "database": url, "migrated": true }), || {
        format!("The catalogue {url} is up to date.")
    })
}
