//! The program behind `cargo xtask`. Owns nothing: the library has the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    yearbook_xtask::main()
}
