//! A whole table in every format: time, size and what it costs the server in memory.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::command;

/// A Markdown table; `process` is the server's id.
pub(super) fn table(dataset: &str, key: &str, rows: u64, process: u32) -> Result<String> {
    let mut table = String::from("| format | seconds | million rows/s | MB | memory above idle |\n|---|---:|---:|---:|---:|\n");
    let idle = kilobytes(process, "VmRSS:")?;
    for format in ["json", "csv", "arrow", "parquet"] {
        println!("-- {rows} rows, {format}");
        // "5" sets the high-water mark back to the present size; see proc_pid_clear_refs(5).
        fs::write(format!("/proc/{process}/clear_refs"), "5").context("cannot reset the server's high-water mark")?;
        let (seconds, bytes) = download(&format!("{dataset}/data?start=0001-01-01&limit=0&format={format}"), key)?;
        let above = kilobytes(process, "VmHWM:")?.saturating_sub(idle) / 1024;
        #[expect(clippy::cast_precision_loss, reason = "rounded to two digits for print")]
        let (rate, megabytes) = (rows as f64 / seconds / 1e6, bytes as f64 / 1e6);
        writeln!(table, "| {format} | {seconds:.2} | {rate:.2} | {megabytes:.1} | {above} MiB |").context("cannot format the table")?;
    }
    Ok(table)
}

/// Seconds and bytes of a response that must be 200.
fn download(address: &str, key: &str) -> Result<(f64, u64)> {
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--show-error", "--fail", "--output", "/dev/null", "--write-out", "%{time_total} %{size_download}"]);
    let said = command::output(curl.args(["--header", &format!("X-API-Key: {key}")]).arg(address))?;
    let Some((seconds, bytes)) = said.split_once(' ') else { bail!("curl printed {said:?}") };
    Ok((seconds.parse().context("curl's time")?, bytes.trim().parse().context("curl's size")?))
}

/// A line of `/proc/<process>/status` that is in kilobytes.
fn kilobytes(process: u32, name: &str) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).context("cannot read the server's status")?;
    let value = status.lines().find_map(|line| line.strip_prefix(name)).and_then(|rest| rest.split_whitespace().next());
    value.and_then(|value| value.parse().ok()).with_context(|| format!("no {name} in the server's status"))
}
