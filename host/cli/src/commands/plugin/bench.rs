//! `yearbook plugin bench`: a plugin's speed beside the built-in formats (contract-14-bench), or
//! that of an adapter's examples (contract-17-bench).

use anyhow::{Context as _, bail};
use serde::Serialize;
use yearbook_releases::{BenchFigure, BenchPeer, BenchPlugin, ExampleFigure, bench, bench_adapter};
use yearbook_sandbox::{Plugin, SandboxConfig};

use super::check_limits;
use crate::arguments::PluginSource;
use crate::context::CommandContext;
use crate::output::TextTable;
use crate::{builtin, plugin_runtime};

/// Figures of a plugin.
#[derive(Serialize)]
#[serde(untagged)]
enum Figures {
    /// Of what takes rows, table by table.
    Tables(Vec<BenchFigure>),
    /// Of an adapter, example by example.
    Examples(Vec<ExampleFigure>),
}

pub(super) async fn run(
    context: &CommandContext,
    plugin: &PluginSource,
    runs: usize,
) -> anyhow::Result<()> {
    let component = plugin.load(context).await?;
    let built_in = builtin::components(context.plugins_dir.as_deref())?;
    let [idle, idle_transform] = builtin::idle(context.plugins_dir.as_deref())?;
    let limits = check_limits(context);
    let config = SandboxConfig { limits, ..SandboxConfig::default() };
    let sandbox = plugin_runtime::new_sandbox(config, context.workers())?;
    let name = plugin.to_string();
    let measured = tokio::task::spawn_blocking(move || {
        let tried = sandbox.load(&component.bytes);
        let tried = tried.with_context(|| format!("{name} is refused"))?;
        if let Plugin::Adapter(adapter) = &tried {
            let figures = bench_adapter(adapter, runs, limits.thread_stack_bytes())?;
            return Ok(Figures::Examples(figures));
        }
        let own = display_name(tried.name(), tried.digest().short());
        let Some(tried) = BenchPlugin::new(tried) else {
            bail!(
                "only output formats, transforms and adapters are measured: no other plugin takes rows or requests; `yearbook plugin check` shows the time and memory of its calls"
            );
        };
        let (names, idle) = match tried {
            BenchPlugin::Encoder(_) => (builtin::BENCH_PEERS, idle),
            BenchPlugin::Transform(_) => (builtin::BENCH_TRANSFORMS, idle_transform),
        };
        let peer = |name: &str, bytes: &[u8]| {
            let plugin = sandbox.load(bytes).ok().and_then(BenchPlugin::new).with_context(|| {
                format!(
                    "the built-in plugin {name} is refused; build it again with `cargo xtask plugins`"
                )
            })?;
            Ok::<_, anyhow::Error>(BenchPeer { name: name.to_owned(), plugin })
        };
        let mut peers = vec![BenchPeer { name: own, plugin: tried }];
        for built_in in built_in.iter().filter(|peer| names.contains(&peer.name)) {
            peers.push(peer(built_in.name, &built_in.bytes)?);
        }
        let idle = peer("idle", &idle)?;
        Ok(Figures::Tables(bench(&peers, &idle, runs, limits.thread_stack_bytes())?))
    });
    let figures = measured.await??;
    context.output.print_result(&figures, || match &figures {
        Figures::Tables(figures) => render(figures),
        Figures::Examples(figures) => render_examples(figures),
    })
}

/// Name of the plugin; with its digest where a built-in peer has the same name.
fn display_name(name: &str, digest: &str) -> String {
    if builtin::BENCH_PEERS.contains(&name) || builtin::BENCH_TRANSFORMS.contains(&name) {
        format!("{name}@{digest}")
    } else {
        name.to_owned()
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

fn render_examples(figures: &[ExampleFigure]) -> String {
    let columns = ["example", "#requests/s", "#call (us)", "#calls", "#facts bytes", "#memory KiB"];
    let rows = figures.iter().map(|figure| {
        [
            figure.example.clone(),
            figure.requests_per_second.to_string(),
            format!("{:.0}", figure.call_us),
            figure.calls.to_string(),
            figure.fact_bytes.to_string(),
            (figure.memory_bytes >> 10).to_string(),
        ]
    });
    TextTable::new(&columns).with_rows(rows).render()
}
