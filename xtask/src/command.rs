//! Running other programs: prints them first, and fails when they fail. Owns nothing else.

use std::process::{Command, Output};

use anyhow::{Context as _, Result, bail};

/// The command as a person would type it, without its environment.
pub fn display(command: &Command) -> String {
    let program = command.get_program().to_string_lossy();
    let program = program.rsplit('/').next().unwrap_or_default().to_owned();
    let words = command.get_args().map(|word| word.to_string_lossy().into_owned());
    std::iter::once(program).chain(words).collect::<Vec<_>>().join(" ")
}

/// Runs `command` with this process's output; fails unless it succeeds.
///
/// # Errors
/// Fails when the program cannot be run or does not succeed.
pub fn run(command: &mut Command) -> Result<()> {
    println!("$ {}", display(command));
    let status = command.status().with_context(|| format!("cannot run {}", display(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", display(command));
    }
    Ok(())
}

/// Runs `command` quietly and returns its standard output; fails, with its standard error, unless
/// it succeeds.
///
/// # Errors
/// Fails when the program cannot be run, does not succeed, or prints other text than UTF-8.
pub fn output(command: &mut Command) -> Result<String> {
    let Output { status, stdout, stderr } =
        command.output().with_context(|| format!("cannot run {}", display(command)))?;
    if !status.success() {
        bail!(
            "{} ended with {status}: {}",
            display(command),
            String::from_utf8_lossy(&stderr).trim()
        );
    }
    String::from_utf8(stdout)
        .with_context(|| format!("{} printed something that is not UTF-8", display(command)))
}

/// Returns true if `program` can be started with `arguments` and succeeds.
pub fn exists(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}
