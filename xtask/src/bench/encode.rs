//! Encoding alone, native and in the sandbox, measured by the benchmark `encode` of the package
//! `yearbook-tests`, which prints a Markdown table. Owns only that it is run.

use anyhow::Result;

use crate::command;
use crate::repository::Repository;

pub(super) fn table(repository: &Repository) -> Result<String> {
    if !repository.root().join("tests/benches/encode.rs").exists() {
        return Ok("Not measured yet.\n".to_owned());
    }
    let printed = command::output(repository.cargo().args(["bench", "--package", "yearbook-tests", "--bench", "encode"]))?;
    // Whatever else cargo or the benchmark says, the table and the sentences around it stand after a line of dashes.
    Ok(printed.split_once("---\n").map_or(printed.clone(), |(_, table)| table.to_owned()))
}
