//! The page: tables of figures and targets as Markdown. Owns wording and layout; computes nothing
//! but ratios.

use std::fmt::Write as _;

use super::machine::CoreAssignment;
use super::measurements::{Measurement, Measurements};
use super::peers::YEARBOOK;
use super::targets::{PerformanceTarget, TargetBound};
use super::{plugins, wrk};

/// Everything that was measured.
pub(super) fn render(
    command: &str,
    machine: &str,
    cores: &CoreAssignment,
    figures: &Measurements,
    targets: &[PerformanceTarget],
) -> String {
    let mut page = format!(
        "# Benchmarks\n\
        Made by `{command}`, which replaces this page; the same numbers stand in [benchmarks.json](benchmarks.json). {machine}\n\n\
        Ratios are of one run on one machine, in which all contestants took turns; believe them before any absolute number. Tables are synthetic\n\
        and the same at every run: one number in five with every digit, notes with quotes, line breaks and scripts beyond ASCII. Versions of the\n\
        peers: [tests/lab/peers/requirements.txt](../tests/lab/peers/requirements.txt).\n"
    );
    page += &targets_section(targets);
    page += &encode_section(figures);
    page += &plugins_section(figures);
    page += &requests_section(cores, figures);
    page += &exports_section(figures);
    page += &growth_section(figures);
    page
}

fn targets_section(targets: &[PerformanceTarget]) -> String {
    let measured: Vec<&PerformanceTarget> =
        targets.iter().filter(|target| target.measured.is_some()).collect();
    let met = measured.iter().filter(|target| target.met == Some(true)).count();
    let mut text = format!(
        "\n## Targets: {met} of {} met\n| | wanted | measured | |\n|---|--:|--:|---|\n",
        measured.len()
    );
    for target in measured {
        let (sign, bound) = match target.bound {
            TargetBound::AtLeast(bound) => ("≥", bound),
            TargetBound::AtMost(bound) => ("≤", bound),
        };
        let verdict = if target.met == Some(true) { "met" } else { "**missed**" };
        let (unit, measured) = (target.unit, target.measured.map(number).unwrap_or_default());
        table_row(
            &mut text,
            &[
                target.what.clone(),
                format!("{sign} {bound} {unit}"),
                format!("{measured} {unit}"),
                verdict.to_owned(),
            ],
        );
    }
    text
}

fn encode_section(figures: &Measurements) -> String {
    const WHO: [(&str, &str); 7] = [
        ("arrow-rs", "arrow-rs native"),
        ("native", "ours native"),
        ("sandbox", "**ours in the sandbox**"),
        ("sandbox x2", "two instances"),
        ("pyarrow", "pyarrow"),
        ("polars", "polars"),
        ("duckdb", "DuckDB"),
    ];
    let cases = figures.cases("encode");
    if cases.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n## Encoding\n\
        Million rows a second; medians. One thread each, except where two instances share a response on two threads. Everybody's output was read back\n\
        and held the table. arrow-rs and the peers are given plain text, our encoders few-valued text as dictionaries, as they get it in the product.\n\
        Output leaves in chunks that the client owns and lets go, as a response does: of a mebibyte from arrow-rs, of a part from our encoders. pyarrow and polars write to\n\
        /dev/null, DuckDB to a file in memory, which costs it under a tenth. pyarrow writes Arrow without copying, so nothing is left of it. `long` has 1,000,000 rows of 7 columns, `wide` 200,000 of 31, `spatial` 20,000 areas of 250 corners, `small` 100 rows of `long`.\n\n",
    );
    let mut head = vec!["format, table".to_owned()];
    head.extend(WHO.iter().map(|(_, name)| (*name).to_owned()));
    head.push("sandbox : arrow-rs".to_owned());
    head.push("sandbox : best peer".to_owned());
    table_header(&mut text, &head);
    for case in cases {
        let speed = |who: &str| figures.value("encode", case, who, "million_rows_a_second");
        let mut cells = vec![case.to_owned()];
        cells.extend(
            WHO.iter()
                .map(|(who, _)| cell(figures.get("encode", case, who), "million_rows_a_second")),
        );
        let best =
            ["pyarrow", "polars", "duckdb"].into_iter().filter_map(speed).max_by(f64::total_cmp);
        cells.push(ratio_cell(speed("sandbox"), speed("arrow-rs")));
        cells.push(ratio_cell(speed("sandbox"), best));
        table_row(&mut text, &cells);
    }
    text
}

fn plugins_section(figures: &Measurements) -> String {
    let cases = figures.cases(plugins::PART);
    if cases.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n## Plugins\n\
        A fresh instance is a response without a row: instance, calls, and clearing it away. Crossing alone is a guest that looks at no cell, one worker: converting, copying into the guest, the calls; its share\n\
        of a format is its time by that format's. A swap is `yearbook plugin install --now` of a release that differs in nothing but its digest, and then the time until a running host serves it.\n\n",
    );
    let head = [
        "case",
        "p50, µs",
        "p99, µs",
        "M rows/s",
        "crossing, %",
        "compiled, ms",
        "from cache, ms",
        "install, ms",
        "served after, ms",
    ];
    table_header(&mut text, &head.map(str::to_owned));
    for case in cases {
        let figure = figures.get(plugins::PART, case, YEARBOOK);
        let mut cells = vec![case.to_owned()];
        cells.extend(plugins::VALUES.map(|name| cell(figure, name)));
        table_row(&mut text, &cells);
    }
    text
}

fn requests_section(cores: &CoreAssignment, figures: &Measurements) -> String {
    let cases = figures.cases("requests");
    if cases.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n## Requests under load\n\
        `wrk` with {} connections on core {}, the server on {}; medians. Every answer of Yearbook goes through a fresh sandbox unless it says\n\
        cached. A million rows in `long`, 20,000 areas of 64 corners; before anything was measured, each answer was compared with the published rows.\n\n\
        - ROAPI holds its tables in memory and promises no order of rows. Its addresses know no search in text, so it is sent SQL.\n\
        - Datasette reads an immutable SQLite file with primary keys, and is told not to count rows or suggest facets.\n\
        - FastAPI + DuckDB is [a page of Python](../tests/lab/peers/fastapi_duckdb.py): tables compressed in DuckDB's memory, orjson, one worker.\n\n",
        wrk::CONNECTIONS,
        cores.generator,
        cores.server
    );
    let head = [
        "request",
        "who",
        "requests/s",
        "p50, ms",
        "p99, ms",
        "rows/s",
        "CPU s per M rows",
        "peak MiB",
        "Yearbook is",
    ];
    table_header(&mut text, &head.map(str::to_owned));
    peer_rows(
        &mut text,
        figures,
        "requests",
        &[
            "requests_a_second",
            "median_ms",
            "p99_ms",
            "rows_a_second",
            "cpu_s_a_million_rows",
            "peak_mib",
        ],
        |ours, theirs| {
            Some(ours.values.get("requests_a_second")? / theirs.values.get("requests_a_second")?)
        },
    );
    text
}

fn exports_section(figures: &Measurements) -> String {
    if figures.cases("exports").is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n## Whole tables\n\
        One download after the other, each server with all cores, the client among them; medians. First byte is that of the body: headers may be early.\n\
        Peak memory is the server's highest resident size during a download; idle is what it held when it was ready. ROAPI sends `Content-Length`: it makes the whole answer before it sends any of it.\n\
        FastAPI streams batches of 65,536 rows through orjson and pyarrow.\n\n",
    );
    let head = [
        "export",
        "who",
        "s",
        "first byte, ms",
        "M rows/s",
        "MB",
        "CPU s per M rows",
        "peak MiB",
        "above idle",
        "Yearbook is",
    ];
    table_header(&mut text, &head.map(str::to_owned));
    let names = [
        "seconds",
        "first_byte_ms",
        "million_rows_a_second",
        "megabytes",
        "cpu_s_a_million_rows",
        "peak_mib",
        "above_idle_mib",
    ];
    peer_rows(&mut text, figures, "exports", &names, |ours, theirs| {
        Some(theirs.values.get("seconds")? / ours.values.get("seconds")?)
    });
    text
}

fn growth_section(figures: &Measurements) -> String {
    let cases = figures.cases("growth");
    if cases.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n## Growth\nWhole tables of `long` from Yearbook, all cores. Idle is what the server held when it was ready. The last line is a quarter in each format.\n\n",
    );
    table_header(
        &mut text,
        &["export", "s", "first byte, ms", "M rows/s", "MB", "peak MiB", "above idle"]
            .map(str::to_owned),
    );
    for case in cases {
        let figure = figures.get("growth", case, YEARBOOK);
        let first =
            if figure.is_some_and(|figure| figure.values.contains_key("slowest_first_byte_ms")) {
                "slowest_first_byte_ms"
            } else {
                "first_byte_ms"
            };
        let names =
            ["seconds", first, "million_rows_a_second", "megabytes", "peak_mib", "above_idle_mib"];
        let mut cells = vec![case.to_owned()];
        cells.extend(names.map(|name| cell(figure, name)));
        table_row(&mut text, &cells);
    }
    text
}

/// A line a contestant, with how much better we are by `ratio` in the last column.
fn peer_rows(
    text: &mut String,
    figures: &Measurements,
    part: &str,
    names: &[&str],
    ratio: impl Fn(&Measurement, &Measurement) -> Option<f64>,
) {
    for case in figures.cases(part) {
        let ours = figures.get(part, case, YEARBOOK);
        for figure in figures.in_case(part, case) {
            let mut cells = vec![case.to_owned(), figure.who.clone()];
            if let Some(reason) = &figure.cannot {
                cells.push(reason.clone());
                cells.resize(names.len() + 3, String::new());
            } else {
                cells.extend(names.iter().map(|name| cell(Some(figure), name)));
                let better =
                    ours.filter(|ours| ours.who != figure.who).and_then(|ours| ratio(ours, figure));
                cells.push(better.map_or_else(String::new, |ratio| format!("{} ×", number(ratio))));
            }
            if let Some(note) = &figure.note {
                cells[1] = format!("{} ({note})", cells[1]);
            }
            table_row(text, &cells);
        }
    }
}

fn cell(figure: Option<&Measurement>, name: &str) -> String {
    let Some(figure) = figure else { return String::new() };
    figure
        .cannot
        .clone()
        .or_else(|| figure.values.get(name).copied().map(number))
        .unwrap_or_default()
}

fn ratio_cell(over: Option<f64>, under: Option<f64>) -> String {
    over.zip(under).map(|(over, under)| format!("{} ×", number(over / under))).unwrap_or_default()
}

/// Three digits that count.
/// With the digits that count.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        0.0..0.1 => format!("{value:.3}"),
        0.1..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn table_header(text: &mut String, cells: &[String]) {
    table_row(text, cells);
    let rule: Vec<String> = cells
        .iter()
        .enumerate()
        .map(|(at, _)| if at == 0 { "---".to_owned() } else { "--:".to_owned() })
        .collect();
    table_row(text, &rule);
}

fn table_row(text: &mut String, cells: &[String]) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_count() {
        for (value, expected) in
            [(0.0123, "0.012"), (0.5, "0.50"), (9.876, "9.88"), (12.34, "12.3"), (1234.6, "1235")]
        {
            assert_eq!(number(value), expected);
        }
    }

    #[test]
    fn a_cell_says_what_a_peer_cannot_do() {
        let mut figures = Measurements::default();
        figures.add("exports", "long, JSON", YEARBOOK, [("seconds", 1.0)]);
        figures.add_unsupported("exports", "long, JSON", "abacus", "has no memory");
        let page = render("bench", "", &crate::bench::machine::shared(), &figures, &[]);
        assert!(page.contains("| long, JSON | abacus | has no memory |"), "{page}");
        assert!(!page.contains("## Encoding"), "{page}");
    }
}
