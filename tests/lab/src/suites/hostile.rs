//! `cargo xtask hostile`: one client attacks a server in every way that the tests know while
//! another reads, and the page of what the other noticed. Owns the words of
//! `docs/hostile-clients.md`; the attacks are tests (`tests/cluster/hostile`).

use anyhow::{Result, bail};
use clap::Args;
use serde_json::Value;

use crate::page::{ReportPage, ReportTable};
use crate::process_suites::{ProcessSuite, TestFigures};

/// The suite. In `cargo xtask test` it takes about a minute and a half.
pub(crate) const SUITE: ProcessSuite = ProcessSuite {
    command: "hostile",
    binary: "hostile",
    page: "docs/hostile-clients.md",
    is_fleet: false,
    check_seconds: 2,
    render,
};

/// Arguments of `cargo xtask hostile`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct HostileArgs {
    /// Seconds that each attack lasts
    #[arg(long, default_value_t = 30)]
    pub(crate) seconds: u32,
    /// Use a debug build: minutes sooner, slower to answer
    #[arg(long)]
    pub(crate) debug: bool,
    /// Run the short form that `cargo xtask test` runs, and write no page
    #[arg(long, hide = true)]
    pub(crate) check: bool,
}

/// Attacks in the order of the page, with what happens.
const ATTACKS: [(&str, &str); 13] = [
    ("unread_streams", "550 exports on five HTTP/2 connections with one key, none of them read"),
    ("slow_readers", "200 exports of which a kilobyte a second is read"),
    ("unread_files", "300 downloads of a whole file, none of them read"),
    (
        "silent_connections",
        "2,000 connections with nothing, half of a preface, or a head that never ends",
    ),
    ("rapid_resets", "HTTP/2 streams that are given up as soon as they are opened"),
    ("long_lists", "requests with 3,000 names of columns that do not exist"),
    ("heavy_previews", "previews, without a key, of a table with cells of 4 MiB"),
    ("unknown_keys", "keys that look right and that nobody was given"),
    (
        "wide_pages",
        "pages of 5,000 rows of 504 columns, and option values of 12,000 characters, by two keys",
    ),
    ("small_ranges", "a stored file in a thousand ranges"),
    ("busy_exports", "32 compressed exports at a time, with two keys, read as fast as they come"),
    ("many_projects", "32 projects for Meltano at a time, with two keys"),
    ("sign_ups", "forms of sign-up, each for another address"),
];

/// Name of what the machine does to others while the attacker asks the server for nothing.
const CONTROL: (&str, &str) =
    ("computing", "*none: his two threads compute, and ask the server for nothing*");

/// Name of the figures that are of no attack.
const SIGN_UP_TIMES: &str = "sign_up_times";

const HEAD: &str = "\
One `yearbook serve` with the settings that it is shipped with, except that it keeps no answers, so
that each is made by a plugin. Four clients with a key each read a hundred rows as JSON, 25 times a
second, every other time over a new connection. Meanwhile somebody with other keys and another
address does what the table says, and begins again whenever the server ends it. Clients, attacker
and server share the machine. The attacker's threads have the lowest priority there, so that what is
measured is what he asks of the server, and little of his own processor time.

## What is promised, and held to by each test
- Nobody else is refused, cut off or held up.
- The server holds at most 512 MiB more than when it was idle.
";

const AFTER: &str = "
*Tries*: connections and requests of the attacker. *Refused*: requests of the polite clients that
were not answered with their rows.
*Quiet* is the same clients before and after the attack, and *ratio* that of the two p99.

The last row is no attack but the machine's own part: a thread that wakes up waits for a core, which
one that computes keeps until the kernel looks at the clock, some milliseconds, whatever their
priorities. *Beside computing* is the p99 by the one of that row: what the server's answers to the
attacker add.
";

/// Renders the whole page.
fn render(command: &str, machine: &str, figures: &[TestFigures]) -> Result<String> {
    let mut page = ReportPage::new("Hostile clients", command, machine);
    page.text(HEAD);
    let mut table = ReportTable::of_figures(&[
        "attack",
        "tries",
        "requests",
        "refused",
        "p50, quiet",
        "p50, attacked",
        "p99, quiet",
        "p99, attacked",
        "ratio",
        "beside computing",
        "idle, MiB",
        "at most",
    ]);
    let figures_of = |name: &str| match figures.iter().find(|(found, _)| found == name) {
        Some((_, figures)) => Ok(figures),
        None => bail!("no figures of {name}; did its test run?"),
    };
    let microseconds = |figures: &Value, field: &str| figures[field].as_f64().unwrap_or(f64::NAN);
    let alone = microseconds(figures_of(CONTROL.0)?, "p99_us");
    for (name, what) in ATTACKS.into_iter().chain([CONTROL]) {
        let figures = figures_of(name)?;
        let number = |field: &str| figures[field].as_u64().unwrap_or_default().to_string();
        let time = |field: &str| format!("{:.1} ms", microseconds(figures, field) / 1e3);
        let attacked = microseconds(figures, "p99_us");
        table.row([
            what.to_owned(),
            number("tries"),
            number("requests"),
            number("failed"),
            time("quiet_median_us"),
            time("median_us"),
            time("quiet_p99_us"),
            time("p99_us"),
            format!("{:.2} ×", attacked / microseconds(figures, "quiet_p99_us")),
            format!("{:.2} ×", attacked / alone),
            number("idle_mib"),
            number("most_mib"),
        ]);
    }
    page.section("Figures");
    page.table(&table);
    page.text(AFTER);
    page.section("Whose address has an account");
    page.text(&sign_up_times(figures_of(SIGN_UP_TIMES)?));
    Ok(page.render())
}

/// Words on the times of sign-up for addresses with an account and without.
fn sign_up_times(figures: &Value) -> String {
    let number = |field: &str| figures[field].as_f64().unwrap_or(f64::NAN);
    format!(
        "A form of sign-up takes {:.0} µs for an address with an account and {:.0} µs for one\n\
         without: {} of each, in turn, over one connection, each with its mail.\n\
         Welch's t is {:.2}; beyond 3 the times would tell who has an account.",
        number("known_us"),
        number("unknown_us"),
        figures["requests"],
        number("welch_t"),
    )
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use serde_json::json;

    use super::*;

    #[test]
    fn every_attack_has_its_row_and_none_is_left_out() {
        let figures = |name: &str| {
            (
                name.to_owned(),
                json!({"tries": 7, "requests": 8, "failed": 0, "p99_us": 3000, "quiet_p99_us":
                2000}),
            )
        };
        let mut all: Vec<_> =
            ATTACKS.into_iter().chain([CONTROL]).map(|(name, _)| figures(name)).collect();
        let times =
            json!({"requests": 9, "known_us": 500.4, "unknown_us": 501.0, "welch_t": -0.31});
        all.insert(0, (SIGN_UP_TIMES.to_owned(), times));
        let page = render("cargo xtask hostile", "Machine: none.", &all).unwrap();
        for (_, what) in ATTACKS.into_iter().chain([CONTROL]) {
            assert_eq!(page.matches(&format!("| {what} | 7 | 8 | 0 |")).count(), 1, "{what}");
        }
        assert!(page.contains("| 1.50 × | 1.00 × |"));
        assert!(page.contains("Welch's t is -0.31"));
        all.pop();
        assert!(
            render("cargo xtask hostile", "", &all).is_err(),
            "a test that did not run is no row of dashes"
        );
    }
}
