//! The page: tables of figures and targets as Markdown. Owns wording and layout; computes nothing
//! but ratios.

use super::growth::PUBLISH_MEMORY_BYTES;
use super::peers::YEARBOOK;
use super::plugins;
use super::targets::{PerformanceTarget, TargetBound};
use crate::machine::CoreAssignment;
use crate::measurements::{Measurement, Measurements};
use crate::page::ColumnAlign::{Left, Right};
use crate::page::{ReportPage, ReportTable, format_number};
use crate::wrk;

const HEAD: &str = "\
The same numbers stand in [benchmarks.json](benchmarks.json). Ratios are of one run on one machine,
in which all peers took turns; believe them before any absolute number. Tables are synthetic and the
same at every run: one number in five with every digit, notes with quotes, line breaks and scripts
beyond ASCII. Versions of the peers:
[tests/lab/peers/requirements.txt](../tests/lab/peers/requirements.txt).
A hundred million rows, published, compared and exported: see
[performance.md](performance.md#a-hundred-million-rows).
";

/// Renders everything that was measured.
pub(super) fn render(
    command: &str,
    machine: &str,
    cores: &CoreAssignment,
    figures: &Measurements,
    targets: &[PerformanceTarget],
) -> String {
    let mut page = ReportPage::new("Benchmarks", command, machine);
    page.text(HEAD);
    targets_section(&mut page, targets);
    encode_section(&mut page, figures);
    plugins_section(&mut page, figures);
    requests_section(&mut page, cores, figures);
    exports_section(&mut page, figures);
    growth_section(&mut page, figures);
    publishing_section(&mut page, figures);
    page.render()
}

fn targets_section(page: &mut ReportPage, targets: &[PerformanceTarget]) {
    let measured: Vec<&PerformanceTarget> =
        targets.iter().filter(|target| target.measured.is_some()).collect();
    let met = measured.iter().filter(|target| target.met == Some(true)).count();
    let mut table =
        ReportTable::new(&[("", Left), ("wanted", Right), ("measured", Right), ("", Left)]);
    page.section(&format!("Targets: {met} of {} met", measured.len()));
    for target in measured {
        let (sign, bound) = match target.bound {
            TargetBound::AtLeast(bound) => ("≥", bound),
            TargetBound::AtMost(bound) => ("≤", bound),
        };
        let verdict = if target.met == Some(true) { "met" } else { "**missed**" };
        let (unit, measured) =
            (target.unit, target.measured.map(format_number).unwrap_or_default());
        table.row([
            target.what.clone(),
            format!("{sign} {bound} {unit}"),
            format!("{measured} {unit}"),
            verdict.to_owned(),
        ]);
    }
    page.table(&table);
}

fn encode_section(page: &mut ReportPage, figures: &Measurements) {
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
        return;
    }
    page.section("Encoding");
    page.text(
        "Million rows a second; medians. One thread each, except where two instances share a\n\
        response on two threads. Everybody's output was read back\n\
        and held the table. arrow-rs and the peers are given plain text, our encoders few-valued\n\
        text as dictionaries, as they get it in the product.\n\
        Output leaves in chunks that the client owns and lets go, as a response does: of a\n\
        mebibyte from arrow-rs, of a part from our encoders. pyarrow and polars write to\n\
        /dev/null, DuckDB to a file in memory, which costs it under a tenth. pyarrow writes\n\
        Arrow without copying, so nothing is left of it. `arrow.dictionaries=true` keeps the\n\
        dictionaries that our encoder is given; arrow-rs writes plain text there too.\n\
        `long` has 1,000,000 rows of 7 columns, `wide` 200,000 of 31, `spatial` 20,000 areas of\n\
        250 corners, `boundaries` 500 areas of 200 bytes to 5 MB, half of them below 32 kB, as\n\
        real boundaries are, `small` 100 rows of `long`.",
    );
    let mut head = vec!["format, table"];
    head.extend(WHO.iter().map(|(_, name)| *name));
    head.extend(["sandbox : native", "sandbox : arrow-rs", "sandbox : best peer"]);
    let mut table = ReportTable::of_figures(&head);
    for case in cases {
        let speed = |who: &str| figures.value("encode", case, who, "million_rows_a_second");
        let mut cells = vec![case.to_owned()];
        cells.extend(
            WHO.iter()
                .map(|(who, _)| cell(figures.get("encode", case, who), "million_rows_a_second")),
        );
        let best =
            ["pyarrow", "polars", "duckdb"].into_iter().filter_map(speed).max_by(f64::total_cmp);
        cells.push(ratio_cell(speed("sandbox"), speed("native")));
        cells.push(ratio_cell(speed("sandbox"), speed("arrow-rs")));
        cells.push(ratio_cell(speed("sandbox"), best));
        table.row(cells);
    }
    page.table(&table);
}

fn plugins_section(page: &mut ReportPage, figures: &Measurements) {
    let cases = figures.cases(plugins::PART);
    if cases.is_empty() {
        return;
    }
    page.section("Plugins");
    page.text(
        "A fresh instance is a response without a row: instance, calls, and clearing it away.\n\
        Crossing alone is a guest that looks at no cell, one worker: converting, copying into\n\
        the guest, the calls; its share\n\
        of a format is its time by that format's. A swap is `yearbook plugin install --now` of a\n\
        release that differs in nothing but its digest, and then the time until a running host\n\
        serves it.",
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
    let mut table = ReportTable::of_figures(&head);
    for case in cases {
        let figure = figures.get(plugins::PART, case, YEARBOOK);
        let mut cells = vec![case.to_owned()];
        cells.extend(plugins::VALUES.map(|name| cell(figure, name)));
        table.row(cells);
    }
    page.table(&table);
}

fn requests_section(page: &mut ReportPage, cores: &CoreAssignment, figures: &Measurements) {
    let cases = figures.cases("requests");
    if cases.is_empty() {
        return;
    }
    page.section("Requests under load");
    page.text(&format!(
        "`wrk` with {} connections on core {}, the server on {}; medians. Every answer of\n\
        Yearbook goes through a fresh sandbox unless it says\n\
        cached. A million rows in `long`, 20,000 areas of 64 corners; before anything was\n\
        measured, each answer was compared with the published rows.\n\n\
        - ROAPI holds its tables in memory and promises no order of rows. Its addresses know no\n\
        search in text, so it is sent SQL.\n\
        - Datasette reads an immutable SQLite file with primary keys, and is told not to count\n\
        rows or suggest facets.\n\
        - FastAPI + DuckDB is [a page of Python](../tests/lab/peers/fastapi_duckdb.py): tables\n\
        compressed in DuckDB's memory, orjson, one worker.",
        wrk::CONNECTIONS,
        cores.generator,
        cores.server
    ));
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
    let mut table = ReportTable::of_figures(&head);
    peer_rows(
        &mut table,
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
    page.table(&table);
}

fn exports_section(page: &mut ReportPage, figures: &Measurements) {
    if figures.cases("exports").is_empty() {
        return;
    }
    page.section("Whole tables");
    page.text(
        "One download after the other, each server with all cores, the client among them;\n\
        medians. First byte is that of the body: headers may be early.\n\
        Peak memory is the server's highest resident size during a download; idle is what it\n\
        held when it was ready. ROAPI sends `Content-Length`: it makes the whole answer before\n\
        it sends any of it.\n\
        FastAPI streams batches of 65,536 rows through orjson and pyarrow. `boundaries` are 250\n\
        areas, some 33 MB, the largest of them 5 MB.",
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
    let mut table = ReportTable::of_figures(&head);
    let names = [
        "seconds",
        "first_byte_ms",
        "million_rows_a_second",
        "megabytes",
        "cpu_s_a_million_rows",
        "peak_mib",
        "above_idle_mib",
    ];
    peer_rows(&mut table, figures, "exports", &names, |ours, theirs| {
        Some(theirs.values.get("seconds")? / ours.values.get("seconds")?)
    });
    page.table(&table);
}

fn growth_section(page: &mut ReportPage, figures: &Measurements) {
    let cases = figures.cases("growth");
    if cases.is_empty() {
        return;
    }
    page.section("Growth");
    page.text(
        "Whole tables of `long` from Yearbook, all cores. Idle is what the server held when it\n\
        was ready. The last line is a quarter in each format.",
    );
    let mut table = ReportTable::of_figures(&[
        "export",
        "s",
        "first byte, ms",
        "M rows/s",
        "MB",
        "peak MiB",
        "above idle",
    ]);
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
        table.row(cells);
    }
    page.table(&table);
}

fn publishing_section(page: &mut ReportPage, figures: &Measurements) {
    let cases = figures.cases("publishing");
    if cases.is_empty() {
        return;
    }
    page.section("Publishing");
    page.text(&format!(
        "`long` published from CSV with `--memory-bytes {PUBLISH_MEMORY_BYTES}` ({} MiB), one run each:\n\
        read, checked, sorted in files where it is larger than that, and written. *Revised* is the same\n\
        table once more with another value in one row of a hundred thousand: it is also compared\n\
        with the snapshot before, and the changes are stored for `/changes`.",
        PUBLISH_MEMORY_BYTES >> 20
    ));
    let mut table = ReportTable::of_figures(&["publication", "s", "M rows/s", "peak MiB"]);
    for case in cases {
        let figure = figures.get("publishing", case, YEARBOOK);
        let names = ["seconds", "million_rows_a_second", "peak_mib"];
        let mut cells = vec![case.to_owned()];
        cells.extend(names.map(|name| cell(figure, name)));
        table.row(cells);
    }
    page.table(&table);
}

/// Adds a row for each peer, with the ratio to Yearbook in the last column.
fn peer_rows(
    table: &mut ReportTable,
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
                cells.push(
                    better.map_or_else(String::new, |ratio| format!("{} ×", format_number(ratio))),
                );
            }
            if let Some(note) = &figure.note {
                cells[1] = format!("{} ({note})", cells[1]);
            }
            table.row(cells);
        }
    }
}

fn cell(figure: Option<&Measurement>, name: &str) -> String {
    let Some(figure) = figure else { return String::new() };
    figure
        .cannot
        .clone()
        .or_else(|| figure.values.get(name).copied().map(format_number))
        .unwrap_or_default()
}

fn ratio_cell(over: Option<f64>, under: Option<f64>) -> String {
    over.zip(under)
        .map(|(over, under)| format!("{} ×", format_number(over / under)))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_says_what_a_peer_cannot_do() {
        let mut figures = Measurements::default();
        figures.add("exports", "long, JSON", YEARBOOK, [("seconds", 1.0)]);
        figures.add_unsupported("exports", "long, JSON", "abacus", "has no memory");
        let page = render("bench", "", &crate::machine::shared(), &figures, &[]);
        assert!(page.contains("| long, JSON | abacus | has no memory |"), "{page}");
        assert!(!page.contains("## Encoding"), "{page}");
    }
}
