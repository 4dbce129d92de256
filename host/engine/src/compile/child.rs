//! The other side: this process as somebody's compiler. Reads a component from standard input,
//! writes machine code to standard output, and looks at nothing else.

use std::ffi::OsString;
use std::io::{Read, Write, stdin, stdout};
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, Signal};

use super::{ARGUMENT, DONE, REFUSED};

/// Compiles what stands on standard input, if `arguments` (the program's name first) say that this
/// process is a compiler; otherwise does nothing. A program that uses
/// [`super::Compiler::ChildProcess`] calls it before anything else.
#[must_use]
pub fn compile_as_child(arguments: &[OsString]) -> Option<ExitCode> {
    let [_, argument, memory_bytes, seconds] = arguments else { return None };
    if argument != ARGUMENT {
        return None;
    }
    let number = |text: &OsString| text.to_str()?.parse::<u64>().ok();
    let limits = number(memory_bytes).zip(number(seconds));
    let done = limits
        .is_some_and(|(memory_bytes, seconds)| set_resource_limits(memory_bytes, seconds).is_ok())
        && compile_stdin().is_ok();
    Some(if done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Gives up what compiling does not need. Fails where the kernel refuses: nothing is compiled
/// without limits.
fn set_resource_limits(memory_bytes: u64, seconds: u64) -> rustix::io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let most = |bytes| Rlimit { current: Some(bytes), maximum: Some(bytes) };
    rustix::process::setrlimit(Resource::As, most(memory_bytes))?;
    rustix::process::setrlimit(Resource::Fsize, most(0))?;
    rustix::process::setrlimit(Resource::Core, most(0))?;
    // At the first bound the signal says why; at the second the process ends whatever it thinks of
    // signals.
    rustix::process::setrlimit(
        Resource::Cpu,
        Rlimit { current: Some(seconds), maximum: Some(seconds.saturating_add(5)) },
    )
}

fn compile_stdin() -> std::io::Result<()> {
    let mut component = Vec::new();
    stdin().lock().read_to_end(&mut component)?;
    let made = crate::compiling_engine().and_then(|engine| engine.precompile_component(&component));
    let (lead, answer) = match made {
        Ok(artifact) => (DONE, artifact),
        Err(error) => (REFUSED, format!("{error:#}").into_bytes()),
    };
    let mut out = stdout().lock();
    out.write_all(&[lead])?;
    out.write_all(&answer)?;
    out.flush()
}
