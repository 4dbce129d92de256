//! Hands arguments and environment to [`yearbook_cli::run`].

use std::process::ExitCode;

fn main() -> ExitCode {
    let variables = std::env::vars_os().map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()));
    yearbook_cli::run(std::env::args_os().collect(), variables.collect())
}
