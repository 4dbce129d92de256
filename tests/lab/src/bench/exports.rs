//! Whole tables, one download after the other: time, first byte, processor time, memory. Each peer
//! has all cores, one at a time.

use anyhow::Result;
use serde_json::json;

use super::BenchCase;
use super::equivalence::{self, EquivalenceResult};
use super::peers::{DATASETTE, FASTAPI, PeerServers, ROAPI, YEARBOOK};
use super::tables::{AREA_ROWS, BOUNDARY_ROWS, LONG_ROWS};
use crate::http::HttpRequest;
use crate::http::{self, Download};
use crate::measurements::{Measurements, median};
use crate::process::MeasuredProcess;

/// Part of every figure here.
const PART: &str = "exports";

/// A peer that takes longer is measured once: its median would tell no more.
const SLOW_EXPORT_SECONDS: f64 = 8.0;

/// Returns the exports that are measured.
pub(super) fn cases(all: &PeerServers) -> Result<Vec<BenchCase>> {
    let base = |who: &str| all.get(who).map(|process| process.base.clone());
    let (ours, roapi, datasette, fastapi) =
        (base(YEARBOOK)?, base(ROAPI)?, base(DATASETTE)?, base(FASTAPI)?);
    let no_csv = Err("streams whole tables as CSV only");
    let mut cases = Vec::new();
    for (name, format, media_type) in [
        ("long, JSON", "json", "application/json"),
        ("long, CSV", "csv", "application/csv"),
        ("long, Arrow", "arrow", "application/vnd.apache.arrow.stream"),
        ("long, Parquet", "parquet", "application/vnd.apache.parquet"),
    ] {
        // Any start lifts the guard against unbounded pulls.
        let whole = HttpRequest::get(format!(
            "{ours}/v1/datasets/long/data?start=0001-01-01&limit=0&format={format}"
        ));
        let stream =
            Ok(HttpRequest::get(format!("{datasette}/tables/long.csv?_stream=on&_size=max")));
        cases.push(BenchCase {
            name,
            rows: LONG_ROWS,
            question: json!({ "table": "long" }),
            format,
            ways: vec![
                (YEARBOOK, Ok(whole.with("X-API-Key", &all.key))),
                (
                    ROAPI,
                    Ok(HttpRequest::get(format!("{roapi}/api/tables/long"))
                        .with("Accept", media_type)),
                ),
                (DATASETTE, if format == "csv" { stream } else { no_csv.clone() }),
                (
                    FASTAPI,
                    Ok(HttpRequest::get(format!("{fastapi}/data/long?limit=0&format={format}"))),
                ),
            ],
        });
    }
    for (name, table, omitted, format) in [
        ("areas with geometry, JSON", "areas", "", "json"),
        ("areas with geometry, CSV", "areas", "", "csv"),
        ("areas, geometry=false, CSV", "areas", "&geometry=false", "csv"),
        ("areas that never had geometry, CSV", "places", "", "csv"),
        ("areas with geometry, Parquet", "areas", "", "parquet"),
        ("areas, geometry=false, Parquet", "areas", "&geometry=false", "parquet"),
        ("areas that never had geometry, Parquet", "places", "", "parquet"),
        ("boundaries of 200 B to 5 MB, JSON", "boundaries", "", "json"),
        ("boundaries of 200 B to 5 MB, CSV", "boundaries", "", "csv"),
        ("boundaries of 200 B to 5 MB, Parquet", "boundaries", "", "parquet"),
    ] {
        let rows = if table == "boundaries" { BOUNDARY_ROWS } else { AREA_ROWS };
        let ask = HttpRequest::get(format!(
            "{ours}/v1/datasets/{table}/data?limit={rows}&format={format}{omitted}"
        ));
        let columns =
            if omitted.is_empty() { "" } else { "?columns=area_code,name,population,density" };
        let media_type = match format {
            "json" => "application/json",
            "csv" => "application/csv",
            _ => "application/vnd.apache.parquet",
        };
        let hidden = if omitted.is_empty() { "" } else { "&_nocol=geometry_wkt" };
        let stream = Ok(HttpRequest::get(format!(
            "{datasette}/tables/{table}.csv?_stream=on&_size=max{hidden}"
        )));
        cases.push(BenchCase {
            name,
            rows,
            question: json!({ "table": table, "geometry": omitted.is_empty() }),
            format,
            ways: vec![
                (YEARBOOK, Ok(ask.with("X-API-Key", &all.key))),
                (
                    ROAPI,
                    Ok(HttpRequest::get(format!("{roapi}/api/tables/{table}{columns}"))
                        .with("Accept", media_type)),
                ),
                (DATASETTE, if format == "csv" { stream } else { no_csv.clone() }),
                (
                    FASTAPI,
                    Ok(HttpRequest::get(format!(
                        "{fastapi}/data/{table}?limit=0&format={format}{omitted}"
                    ))),
                ),
            ],
        });
    }
    Ok(cases)
}

/// Measures every case, each peer in turn.
pub(super) fn measure(
    runs: u32,
    all: &PeerServers,
    cases: &[BenchCase],
    found: &[EquivalenceResult],
    figures: &mut Measurements,
) -> Result<()> {
    for case in cases {
        println!("-- {}", case.name);
        let mut entries: Vec<(&str, &HttpRequest, ExportRuns)> = Vec::new();
        for (who, way) in &case.ways {
            if let Ok(ask) = way {
                entries.push((who, ask, ExportRuns::default()));
            }
        }
        for run in 0..=runs {
            for (who, ask, exports) in &mut entries {
                if run < 2 || exports.first_run < SLOW_EXPORT_SECONDS {
                    exports.run_once(all.get(who)?, ask, run > 0)?;
                }
            }
        }
        for (who, _, exports) in &entries {
            figures.add(PART, case.name, who, exports.values(case.rows));
            let slow = (exports.downloads.len() == 1 && runs > 1).then(|| "one run".to_owned());
            let remarks: Vec<String> =
                equivalence::remark(found, case.name, who).into_iter().chain(slow).collect();
            figures.note((!remarks.is_empty()).then(|| remarks.join("; ")));
        }
        for (who, way) in &case.ways {
            if let Err(reason) = way {
                figures.add_unsupported(PART, case.name, who, reason);
            }
        }
    }
    Ok(())
}

/// Downloads of one table from one server.
#[derive(Debug, Default)]
pub(super) struct ExportRuns {
    /// Seconds of the run that is not counted.
    first_run: f64,
    downloads: Vec<Download>,
    /// Seconds of processor time in all of them.
    cpu: f64,
    /// Mebibytes: the highest of the peaks, and what was resident before the first request of all.
    peak: f64,
    idle: f64,
}

impl ExportRuns {
    /// One more download; not `counted` is what warms up.
    pub(super) fn run_once(
        &mut self,
        server: &MeasuredProcess,
        ask: &HttpRequest,
        counted: bool,
    ) -> Result<()> {
        server.reset_peak()?;
        let cpu = server.cpu_time()?;
        let download = http::get(ask)?;
        if !counted {
            self.first_run = download.seconds;
            return Ok(());
        }
        self.cpu += server.cpu_time()?.since(cpu);
        (self.peak, self.idle) = (self.peak.max(server.peak_mebibytes()?), server.idle);
        self.downloads.push(download);
        Ok(())
    }

    /// Medians, and the highest peak.
    pub(super) fn values(&self, rows: u64) -> Vec<(&'static str, f64)> {
        let of = |value: fn(&Download) -> f64| {
            median(&self.downloads.iter().map(value).collect::<Vec<_>>())
        };
        #[expect(clippy::cast_precision_loss, reason = "for print")]
        let (rows, runs) = (rows as f64, self.downloads.len() as f64);
        #[expect(clippy::cast_precision_loss, reason = "for print")]
        let bytes = of(|download| download.bytes as f64);
        let seconds = of(|download| download.seconds);
        vec![
            ("seconds", seconds),
            ("first_byte_ms", of(|download| download.first_byte) * 1e3),
            ("million_rows_a_second", rows / seconds / 1e6),
            ("megabytes", bytes / 1e6),
            ("cpu_s_a_million_rows", self.cpu / runs / rows * 1e6),
            ("peak_mib", self.peak),
            ("above_idle_mib", self.peak - self.idle),
        ]
    }
}
