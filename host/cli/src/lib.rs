//! The binary `yearbook`: the composition root. The only crate that reads arguments and
//! environment, and the only one that knows all the others; it holds no rule of its own.

pub mod arguments;
pub mod builtin;
pub mod commands;
pub mod context;
mod descriptors;
mod http_client;
pub mod logging;
mod memory_return;
pub mod output;
mod plugin_runtime;
mod readers;
pub mod settings;
#[cfg_attr(not(feature = "otlp"), path = "traces/absent.rs")]
mod traces;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use serde_json::json;

use arguments::{Arguments, Command};
use context::CommandContext;
pub use memory_return::{MemoryReturn, SetMemoryReturn};
use output::Output;
use settings::{RunSettings, SettingSources};

/// Exit code of a command line that makes no sense.
const EXIT_USAGE: u8 = 2;

/// Runs one command: `arguments` with the program's name first, `variables` as the environment has
/// them.
#[must_use]
pub fn run(
    arguments: Vec<OsString>,
    variables: Vec<(String, String)>,
    set_memory_return: SetMemoryReturn,
) -> ExitCode {
    if let Some(code) = yearbook_sandbox::compile_as_child(&arguments) {
        return code;
    }
    let wants_json = arguments
        .iter()
        .take_while(|argument| *argument != "--")
        .any(|argument| argument == "--json");
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return report_usage_error(&error, wants_json),
    };
    let output = Output { json: arguments.shared.json };
    match run_command(arguments, variables, output, set_memory_return) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output.print_error(&error);
            ExitCode::FAILURE
        }
    }
}

fn run_command(
    arguments: Arguments,
    variables: Vec<(String, String)>,
    output: Output,
    set_memory_return: SetMemoryReturn,
) -> anyhow::Result<()> {
    let Arguments { shared, command } = arguments;
    let plugins_dir = shared
        .plugins
        .or_else(|| settings::variable(&variables, "YEARBOOK_PLUGINS_DIR").map(Into::into));
    let mut sources = SettingSources {
        data_dir: shared.data_dir,
        config: shared.config,
        variables,
        flags: Vec::new(),
    };
    if let Command::Serve { listen, admin_listen } = &command {
        let flags = [
            ("server.listen", "--listen", listen),
            ("server.admin_listen", "--admin-listen", admin_listen),
        ];
        sources.flags.extend(
            flags
                .into_iter()
                .filter_map(|(key, flag, address)| Some((key, flag, address.clone()?))),
        );
    }
    if let Command::Publish { memory_bytes: Some(bytes), .. } = &command {
        sources.flags.push(("publish.memory_bytes", "--memory-bytes", bytes.clone()));
    }
    let settings = RunSettings::load(&sources)?;
    let traces = logging::start(&settings.values.log, matches!(command, Command::Serve { .. }))?;
    let variables = sources.variables;
    let context = CommandContext { settings, variables, plugins_dir, output, set_memory_return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(commands::run(&context, command));
    if let Some(traces) = traces {
        traces.stop();
    }
    done
}

/// Prints a message of clap: help and version are results, anything else is a wrong use.
fn report_usage_error(error: &clap::Error, json: bool) -> ExitCode {
    if json && error.use_stderr() {
        let text = error.to_string();
        let sentence = text.trim().trim_start_matches("error: ");
        eprintln!("{}", json!({ "error": sentence }));
    } else {
        let _ = error.print();
    }
    if error.use_stderr() { ExitCode::from(EXIT_USAGE) } else { ExitCode::SUCCESS }
}
