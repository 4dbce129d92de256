//! `yearbook openapi`: the machine description, for code generators and reviews, without a server
//! (contract-4-openapi).

use crate::context::CommandContext;
use crate::plugin_runtime;

pub(super) async fn run(context: &CommandContext) -> anyhow::Result<()> {
    // Compiled plugins of a server are used where there are any; a data directory is not made for a
    // look at the interface.
    let cached =
        context.settings.cache_dir().is_dir() && context.settings.cache_key_file().is_file();
    let registry = plugin_runtime::load(context, context.workers(), cached).await?;
    let document =
        yearbook_server::openapi(&context.settings.values.http_settings(), &registry.current());
    let text = serde_json::to_string_pretty(&document)?;
    context.output.print_result(&document, || text)
}
