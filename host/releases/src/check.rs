//! `yearbook plugin check`: everything that the host asks of a plugin, tried before anybody is
//! served by it. Finds all that is wrong, says where and what to do, and measures what the plugin
//! uses of its limits. Blocking; takes seconds of a core.

mod adapter;
mod advice;
mod allowed_values;
mod encoder;
mod generator;
mod reader;
mod report;
mod requests;
mod suitable_options;
mod transform;

use std::sync::Arc;
use std::time::{Duration, Instant};

use yearbook_sandbox::{ComponentRejection, FailureDump, Limits, Plugin, Sandbox};
use yearbook_workers::with_stack;

use crate::ComponentFile;

pub use report::{CheckReport, Finding, LimitUsage};
pub(crate) use suitable_options::{distinct_values, suitable_options};

use report::ReportBuilder;

/// A component that has been tried.
pub struct CheckResult {
    /// The report.
    pub report: CheckReport,
    /// The plugin, where it could be loaded at all.
    pub plugin: Option<Plugin>,
    /// Failures that can be replayed, one for each way in which it failed.
    pub dumps: Vec<FailureDump>,
}

/// Tries `component` in `sandbox`, whose limits it is measured against.
#[must_use]
pub fn check(sandbox: &Arc<Sandbox>, component: &ComponentFile) -> CheckResult {
    // One thread for all calls, rather than one for each.
    with_stack(sandbox.limits().thread_stack_bytes(), || run_checks(sandbox, component))
}

fn run_checks(sandbox: &Arc<Sandbox>, component: &ComponentFile) -> CheckResult {
    let mut tally = ReportBuilder::new(component, sandbox.limits());
    let plugin = load(sandbox, component, &mut tally);
    if let Some(plugin) = &plugin {
        tally.identify(plugin);
        check_stable_description(sandbox, component, plugin, &mut tally);
        match plugin {
            Plugin::Adapter(adapter) => adapter::check(adapter, &mut tally),
            Plugin::Encoder(encoder) => encoder::check(encoder, &mut tally),
            Plugin::Generator(generator) => generator::check(generator, &mut tally),
            Plugin::Reader(reader) => reader::check(reader, &mut tally),
            Plugin::Transform(transform) => transform::check(transform, &mut tally),
        }
    }
    let (report, dumps) = tally.finish();
    CheckResult { report, plugin, dumps }
}

/// Compiles, under the sandbox's limits, and asks for the description.
fn load(
    sandbox: &Arc<Sandbox>,
    component: &ComponentFile,
    tally: &mut ReportBuilder,
) -> Option<Plugin> {
    let begun = Instant::now();
    let loaded = sandbox.load_with_dump(&component.bytes);
    tally.record_compile(begun.elapsed(), Duration::from_millis(sandbox.limits().compile_ms));
    match loaded {
        Ok(plugin) => Some(plugin),
        Err((rejected, dump)) => {
            tally.add_dump(dump);
            tally.find(rejection_place(&rejected), rejected.to_string(), advice_on(&rejected));
            None
        }
    }
}

/// The description must be the same every time: the host asks once a load.
fn check_stable_description(
    sandbox: &Arc<Sandbox>,
    component: &ComponentFile,
    plugin: &Plugin,
    tally: &mut ReportBuilder,
) {
    let begun = Instant::now();
    let again = sandbox.load(&component.bytes);
    tally.record_reload(begun.elapsed());
    let same = match (plugin, &again) {
        (Plugin::Adapter(one), Ok(Plugin::Adapter(other))) => {
            one.description() == other.description()
        }
        (Plugin::Encoder(one), Ok(Plugin::Encoder(other))) => {
            one.description() == other.description()
        }
        (Plugin::Generator(one), Ok(Plugin::Generator(other))) => {
            one.description() == other.description()
        }
        (Plugin::Reader(one), Ok(Plugin::Reader(other))) => {
            one.description() == other.description()
        }
        (Plugin::Transform(one), Ok(Plugin::Transform(other))) => {
            one.description() == other.description()
        }
        _ => false,
    };
    if !same {
        tally.find(
            "describe",
            "it says something else the second time",
            "return the same description at every call",
        );
    }
}

fn rejection_place(rejected: &ComponentRejection) -> &'static str {
    match rejected {
        ComponentRejection::TooLarge { .. } | ComponentRejection::ComponentLimit { .. } => "size",
        ComponentRejection::Malformed(_) | ComponentRejection::CompileFailed(_) => "compiling",
        ComponentRejection::Imports(_) => "imports",
        ComponentRejection::Interface(_) => "exports",
        ComponentRejection::Trapped(_) | ComponentRejection::Description(_) => "describe",
        ComponentRejection::NameTaken(_)
        | ComponentRejection::Busy
        | ComponentRejection::CompilerUnavailable(_) => "loading",
    }
}

fn advice_on(rejected: &ComponentRejection) -> String {
    match rejected {
        ComponentRejection::TooLarge { .. } => "strip it (`strip = true` in the profile) and leave out dependencies, or raise the limit",
        ComponentRejection::ComponentLimit { .. } => "leave out dependencies, and generated code above all: compilers need more than linear time for it",
        ComponentRejection::CompileFailed(_) => {
            "make the component smaller, above all its largest functions; an operator can raise sandbox.compile_ms and compile_memory_bytes"
        }
        ComponentRejection::Malformed(_) => "build it again; a component must be valid WebAssembly without 64-bit memories, threads or garbage collection",
        ComponentRejection::Imports(_) => {
            "build for wasm32-unknown-unknown and leave out what asks for files, clocks, randomness or the network; a plugin sees only its input"
        }
        ComponentRejection::Interface(_) => "export one of the worlds of `wit` with `export_encoder!`, `export_generator!`, `export_reader!` or `export_transform!`",
        ComponentRejection::Trapped(_) => "describe must return at once, without looking at anything",
        ComponentRejection::Description(_) => "change the field that is named; the rules stand in `wit`",
        ComponentRejection::NameTaken(_) => "choose another name",
        ComponentRejection::Busy | ComponentRejection::CompilerUnavailable(_) => "try again",
    }
    .to_owned()
}

/// Limits for checking: those that hosts serve with, but few instances, so that little address
/// space is taken.
impl CheckReport {
    /// The limits to check with, from those that hosts serve with.
    #[must_use]
    pub fn limits(serving: Limits) -> Limits {
        Limits { instances: 4, ..serving }
    }
}
