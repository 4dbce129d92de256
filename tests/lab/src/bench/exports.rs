//! Whole tables, one download after the other: time, first byte, processor time, memory. Each peer
//! has all cores, one at a time.

use anyhow::Result;

use super::cases::BenchCase;
use super::equivalence::{self, EquivalenceResult};
use super::peers::{PeerServers, YEARBOOK};
use crate::http::{self, Download, HttpRequest};
use crate::measurements::{Measurements, median};
use crate::process::MeasuredProcess;

/// Part of every figure here.
const PART: &str = "exports";

/// A peer that takes longer is measured once: its median would tell no more.
const SLOW_EXPORT_SECONDS: f64 = 8.0;

/// A peer whose files are larger than ours by more has done less work.
const COMPARABLE_SIZE: f64 = 1.1;

/// Measures every case, each peer in turn.
pub(super) fn measure(
    runs: u32,
    all: &PeerServers,
    cases: &[BenchCase],
    found: &[EquivalenceResult],
    figures: &mut Measurements,
) -> Result<()> {
    for case in cases {
        let BenchCase { name, rows, .. } = case;
        println!("-- {name}");
        let mut peers: Vec<_> =
            case.asked().map(|(who, ask)| (who, ask, ExportRuns::default())).collect();
        for run in 0..=runs {
            for (who, ask, exports) in &mut peers {
                if run < 2 || exports.first_run < SLOW_EXPORT_SECONDS {
                    exports.run_once(all.get(who)?, ask, run > 0)?;
                }
            }
        }
        for (who, _, exports) in &peers {
            let values = exports.values(*rows);
            let [_, _, (_, speed), (_, megabytes), ..] = values;
            let ours = figures.value(PART, name, YEARBOOK, "megabytes");
            let comparable = ours.is_none_or(|ours| megabytes <= ours * COMPARABLE_SIZE);
            let comparable = comparable.then_some(("comparable_million_rows_a_second", speed));
            figures.add(PART, name, who, values.into_iter().chain(comparable));
            let slow = (exports.downloads.len() == 1 && runs > 1).then(|| "one run".to_owned());
            let remarks: Vec<String> =
                equivalence::remark(found, name, who).into_iter().chain(slow).collect();
            figures.note((!remarks.is_empty()).then(|| remarks.join("; ")));
        }
        case.add_reasons(PART, figures);
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
    pub(super) fn values(&self, rows: u64) -> [(&'static str, f64); 7] {
        let of = |value: fn(&Download) -> f64| {
            median(&self.downloads.iter().map(value).collect::<Vec<_>>())
        };
        let (rows, runs) = (rows as f64, self.downloads.len() as f64);
        let seconds = of(|download| download.seconds);
        [
            ("seconds", seconds),
            ("first_byte_ms", of(|download| download.first_byte) * 1e3),
            ("million_rows_a_second", rows / seconds / 1e6),
            ("megabytes", of(|download| download.bytes as f64) / 1e6),
            ("cpu_s_a_million_rows", self.cpu / runs / rows * 1e6),
            ("peak_mib", self.peak),
            ("above_idle_mib", self.peak - self.idle),
        ]
    }
}
