//! `cargo xtask fleet`: a fleet under load while something goes wrong, and the page of what became
//! of it. Owns the words of `docs/reliability.md`; the faults are tests
//! (`tests/cluster/reliability`).

use anyhow::{Result, bail};
use clap::Args;
use serde_json::Value;

use crate::page::{ReportPage, ReportTable};
use crate::process_suites::{ProcessSuite, TestFigures};

/// The suite. In `cargo xtask test` its nine faults last about a minute.
pub(crate) const SUITE: ProcessSuite = ProcessSuite {
    command: "fleet",
    binary: "reliability",
    page: "docs/reliability.md",
    is_fleet: true,
    check_seconds: 4,
    render,
};

/// Arguments of `cargo xtask fleet`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct FleetArgs {
    /// Seconds that each fault lasts
    #[arg(long, default_value_t = 20)]
    pub(crate) seconds: u32,
    /// Use a debug build: minutes sooner, slower to answer
    #[arg(long)]
    pub(crate) debug: bool,
    /// Run the short form that `cargo xtask test` runs, and write no page
    #[arg(long, hide = true)]
    pub(crate) check: bool,
}

/// Faults in the order of the page, with what happens.
const FAULTS: [(&str, &str); 10] = [
    ("refresh", "nothing but a new version of the dataset every second"),
    (
        "kill",
        "one host after the other is killed (SIGKILL), 0.3 s later started again, and so on \
        without a pause",
    ),
    ("swap", "a format is installed and removed, again and again"),
    (
        "keys",
        "keys are revoked; sixty requests at once with a quota of ten, while the host that \
        counts them is killed",
    ),
    ("database-gone", "connections to the database are refused"),
    ("database-silent", "the network swallows what goes to and from the database"),
    ("store-slow", "each answer of the store begins 0.3 s late"),
    ("store-errors", "the store answers 503"),
    (
        "store-truncated",
        "each body of the store ends after 1,000 bytes, and the connection with it",
    ),
    ("store-flipped", "each body of the store has one wrong byte"),
];

const HEAD: &str = "\
Three `yearbook serve`, one PostgreSQL, one S3 server, and nginx with
[deploy/nginx/yearbook.conf](../deploy/nginx/yearbook.conf), all on one machine. Eight clients ask
nginx without a pause for a table of 10,000 rows as CSV, JSON, Arrow, Parquet and bulk file, for its
first rows and for its preview. Every body that comes whole is compared with what the version that
its headers name has to be, byte for byte or row for row. In the store's faults a version is
published every second in a moment when the store is well, so that hosts have to read while it is
not.

## What is promised, and held to by each test
- No wrong byte: a body that comes whole belongs wholly to one snapshot. *Wrong* below is 0, or the
  test fails.
- Nothing hangs: every request ends, within bounds that are settings.
- A quota is never exceeded, whatever dies while it is counted.
- Without the database, keys of unlimited plans read on for `database.stale_keys_s` (300 s); others
  are told 503 at once.
- A refresh, a swap of plugins, an outage of the database and a slow store refuse nobody who has no
  quota.
- All of it recovers by itself.
";

const AFTER: &str = "
*503*: honest, with `Retry-After`. *502, 504*: nginx found no host. *500*: stored bytes that are
damaged whenever they are read. *Cut*: the body visibly ended too early, which a client notices.
*Lost*: no answer. *Back after*: from the end of the fault to the last answer that was not data; 0
where there was none.

A kill cuts what that host was sending; nginx asks another host for everything that had not begun. A
client that asks again after a cut, 502 or 503 gets its data: everything is a GET.
";

/// Renders the whole page.
fn render(command: &str, machine: &str, figures: &[TestFigures]) -> Result<String> {
    let mut page = ReportPage::new("Reliability", command, machine);
    page.text(HEAD);
    let mut table = ReportTable::of_figures(&[
        "while",
        "requests",
        "right",
        "wrong",
        "503",
        "502, 504",
        "500",
        "cut",
        "lost",
        "p50",
        "p99",
        "slowest",
        "back after",
    ]);
    let mut more = Vec::new();
    for (name, what) in FAULTS {
        let Some((_, figures)) = figures.iter().find(|(found, _)| found == name) else {
            bail!("no figures of {name}; did its test run?")
        };
        let number = |field: &str| {
            figures[field].as_u64().map_or("–".to_owned(), |number| number.to_string())
        };
        let time = |field: &str| {
            figures[field].as_u64().map_or("–".to_owned(), |number| format!("{number} ms"))
        };
        let mut cells = vec![what.to_owned()];
        cells.extend(
            ["requests", "right", "wrong", "unavailable", "gateway", "other", "cut", "lost"]
                .map(number),
        );
        cells.extend(["median_ms", "p99_ms", "slowest_ms", "recovery_ms"].map(time));
        table.row(cells);
        let said: Vec<String> =
            figures["more"].as_array().into_iter().flatten().map(key_value).collect();
        if !said.is_empty() {
            more.push(format!("- {what}: {}", said.join("; ")));
        }
    }
    page.section("Figures");
    page.table(&table);
    page.text(AFTER);
    page.section("Besides");
    page.text(&more.join("\n"));
    Ok(page.render())
}

/// `what: number`.
fn key_value(value: &Value) -> String {
    let text = |index: usize| value[index].as_str().unwrap_or_default();
    format!("{} {}", text(0), text(1))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use serde_json::json;

    use super::*;

    #[test]
    fn every_fault_has_its_row_and_none_is_left_out() {
        let figures = |name: &str| {
            (
                name.to_owned(),
                json!({"requests": 7, "right": 7, "recovery_ms": null, "more": [["kills", "3"]]}),
            )
        };
        let mut all: Vec<_> = FAULTS.iter().map(|(name, _)| figures(name)).collect();
        let page = render("cargo xtask fleet", "Machine: none.", &all).unwrap();
        for (_, what) in FAULTS {
            assert_eq!(page.matches(&format!("| {what} | 7 | 7 |")).count(), 1, "{what}");
            assert!(page.contains(&format!("- {what}: kills 3")), "{what}");
        }
        all.pop();
        assert!(
            render("cargo xtask fleet", "", &all).is_err(),
            "a test that did not run is no row of dashes"
        );
    }
}
