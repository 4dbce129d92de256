//! `yearbook plugin bench`: a plugin's speed beside the built-in formats (contract-14-bench).

use std::sync::Arc;

use anyhow::{Context as _, bail};
use yearbook_releases::{BenchFigure, BenchPeer, ComponentFile, bench};
use yearbook_sandbox::{Plugin, PluginEncoder, Sandbox, SandboxConfig};

use super::check_limits;
use crate::arguments::PluginSource;
use crate::context::CommandContext;
use crate::output::TextTable;
use crate::{builtin, plugin_runtime};

pub(super) async fn run(
    context: &CommandContext,
    plugin: &PluginSource,
    runs: usize,
) -> anyhow::Result<()> {
    let component = plugin.load(context).await?;
    let built_in = builtin::components(context.plugins_dir.as_deref())?;
    let idle = builtin::idle(context.plugins_dir.as_deref())?;
    let limits = check_limits(context);
    let config = SandboxConfig { limits, ..SandboxConfig::default() };
    let sandbox = plugin_runtime::new_sandbox(config, context.workers())?;
    let name = plugin.to_string();
    let measured = tokio::task::spawn_blocking(move || {
        let tried =
            load_encoder(&sandbox, &component).with_context(|| format!("{name} is refused"))?;
        let mut peers = vec![BenchPeer { name: display_name(&tried), encoder: tried }];
        for peer in built_in.iter().filter(|peer| builtin::BENCH_PEERS.contains(&peer.name)) {
            let encoder = sandbox.load_encoder(&peer.bytes).with_context(|| {
                format!(
                    "the built-in plugin {} is refused; build it again with `cargo xtask plugins`",
                    peer.name
                )
            })?;
            peers.push(BenchPeer { name: peer.name.to_owned(), encoder });
        }
        let idle = sandbox
            .load_encoder(&idle)
            .context("the guest that measures the crossing is refused")?;
        Ok::<_, anyhow::Error>(bench(&peers, &idle, runs, limits.thread_stack_bytes())?)
    });
    let figures = measured.await??;
    context.output.print_result(&figures, || render(&figures))
}

/// Loads an output format; other plugins write no bytes of rows.
fn load_encoder(
    sandbox: &Arc<Sandbox>,
    component: &ComponentFile,
) -> anyhow::Result<Arc<PluginEncoder>> {
    match sandbox.load(&component.bytes)? {
        Plugin::Encoder(encoder) => Ok(encoder),
        Plugin::Generator(_) | Plugin::Reader(_) | Plugin::Transform(_) => bail!(
            "only output formats are measured: other plugins write no bytes of rows; `yearbook plugin check` shows the time and memory of their calls"
        ),
    }
}

/// Format of the plugin; with its digest where a built-in peer has the same name.
fn display_name(encoder: &PluginEncoder) -> String {
    let format = &encoder.description().format;
    if builtin::BENCH_PEERS.contains(&format.as_str()) {
        format!("{format}@{}", encoder.digest().short())
    } else {
        format.clone()
    }
}

fn render(figures: &[BenchFigure]) -> String {
    let columns =
        ["table", "plugin", "#rows/s", "#MB/s", "#fresh (us)", "#memory KiB", "#crossing %"];
    let rows = figures.iter().map(|figure| {
        [
            figure.table.clone(),
            figure.plugin.clone(),
            figure.rows_per_second.to_string(),
            format!("{:.1}", figure.bytes_per_second as f64 / 1e6),
            format!("{:.0}", figure.fresh_response_us),
            (figure.memory_bytes >> 10).to_string(),
            format!("{:.1}", 100.0 * figure.crossing_share),
        ]
    });
    TextTable::new(&columns).with_rows(rows).render()
}
