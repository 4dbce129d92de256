//! `yearbook plugin profile`: the functions in which a plugin spends its time, over the rows of
//! `plugin bench`, and a profile that browsers open (decision 0459).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use yearbook_releases::{BenchPeer, BenchPlugin, bench};
use yearbook_sandbox::{GuestSample, GuestSamples, SandboxConfig};

use super::check_limits;
use crate::arguments::PluginSource;
use crate::context::CommandContext;
use crate::output::TextTable;
use crate::plugin_runtime;

/// Functions that are shown.
const SHOWN: usize = 12;

/// A function below one caller, with the places among all nodes of those that it called.
struct CallNode {
    function: String,
    callees: Vec<usize>,
    hits: usize,
}

impl CallNode {
    fn new(function: String) -> Self {
        Self { function, callees: Vec::new(), hits: 0 }
    }
}

pub(super) async fn run(
    context: &CommandContext,
    plugin: &PluginSource,
    to: Option<PathBuf>,
    runs: usize,
) -> anyhow::Result<()> {
    let component = plugin.load(context).await?;
    let limits = check_limits(context);
    let samples = Arc::new(GuestSamples::default());
    let config =
        SandboxConfig { limits, samples: Some(Arc::clone(&samples)), ..SandboxConfig::default() };
    let sandbox = plugin_runtime::new_sandbox(config, context.workers())?;
    let source = plugin.to_string();
    let name = tokio::task::spawn_blocking(move || {
        let loaded = sandbox.load(&component.bytes);
        let loaded = loaded.with_context(|| format!("{source} is refused"))?;
        let name = loaded.name().to_owned();
        let Some(plugin) = BenchPlugin::new(loaded) else {
            bail!("only output formats and transforms are profiled: no other plugin takes rows");
        };
        let peer = BenchPeer { name: name.clone(), plugin };
        // In the place of the idle plugin too: nothing else runs.
        bench(std::slice::from_ref(&peer), &peer, runs, limits.thread_stack_bytes())?;
        Ok(name)
    });
    let name = name.await??;
    let samples = samples.take();
    let functions = functions(&samples);
    if functions.is_empty() {
        bail!(
            "the functions of {plugin} have no names, so a profile would say nothing; build it with them: cargo wasm --config 'profile.release.strip=\"debuginfo\"'"
        );
    }
    let path = to.unwrap_or_else(|| plugin.folder().join(format!("{name}.cpuprofile")));
    std::fs::write(&path, cpu_profile(&samples).to_string())
        .with_context(|| format!("cannot write {}", path.display()))?;
    let function = |(name, count): &(String, usize)| json!({ "name": name, "samples": count });
    let value = json!({
        "profile": path,
        "samples": samples.len(),
        "functions": functions.iter().map(function).collect::<Vec<_>>(),
    });
    context.output.print_result(&value, || {
        let share = |count: usize| format!("{:.1}", 100.0 * count as f64 / samples.len() as f64);
        let rows = functions.iter().take(SHOWN);
        let rows = rows.map(|(name, count)| [share(*count), name.clone()]);
        let table = TextTable::new(&["#own %", "function"]).with_rows(rows).render();
        format!(
            "{table}\n\n{} has all of {} samples; open it at https://profiler.firefox.com or in a browser's developer tools",
            path.display(),
            samples.len()
        )
    })
}

/// Name for people.
fn demangle(name: Option<&str>) -> String {
    name.map_or("(unnamed)".to_owned(), |name| format!("{:#}", rustc_demangle::demangle(name)))
}

/// Each function with the number of stacks in which it ran itself, most first; none where no
/// function has a name.
fn functions(samples: &[GuestSample]) -> Vec<(String, usize)> {
    let mut counts = BTreeMap::new();
    for function in samples.iter().filter_map(|sample| sample.stack.last()) {
        *counts.entry(function.as_deref()).or_default() += 1;
    }
    if counts.keys().all(Option::is_none) {
        return Vec::new();
    }
    let mut counts: Vec<(String, usize)> =
        counts.into_iter().map(|(name, count)| (demangle(name), count)).collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// A CPU profile as the developer tools of browsers write and read it (`.cpuprofile`).
fn cpu_profile(samples: &[GuestSample]) -> Value {
    let mut nodes = vec![CallNode::new("(root)".to_owned())];
    let mut places = BTreeMap::new();
    let (mut leaves, mut deltas) = (Vec::new(), Vec::new());
    let mut before = samples.first().map(|sample| sample.at);
    for sample in samples {
        let mut at = 0;
        for name in &sample.stack {
            at = *places.entry((at, name.as_deref())).or_insert_with(|| {
                let callee = nodes.len();
                nodes[at].callees.push(callee);
                nodes.push(CallNode::new(demangle(name.as_deref())));
                callee
            });
        }
        nodes[at].hits += 1;
        leaves.push(at);
        let elapsed = before.replace(sample.at).map(|before| sample.at - before);
        deltas.push(elapsed.unwrap_or_default().as_micros());
    }
    let node = |(at, node): (usize, &CallNode)| {
        json!({
            "id": at,
            "callFrame": {
                "functionName": node.function,
                "scriptId": "0",
                "url": "",
                "lineNumber": -1,
                "columnNumber": -1,
            },
            "hitCount": node.hits,
            "children": node.callees,
        })
    };
    json!({
        "nodes": nodes.iter().enumerate().map(node).collect::<Vec<_>>(),
        "startTime": 0,
        "endTime": deltas.iter().sum::<u128>(),
        "samples": leaves,
        "timeDeltas": deltas,
    })
}
