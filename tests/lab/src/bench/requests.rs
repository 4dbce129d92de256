//! Requests under load. All peers are asked for the same rows, in turn, on the cores that the
//! caller chose.

use anyhow::Result;

use super::Bench;
use super::cases::BenchCase;
use super::equivalence::{self, EquivalenceResult};
use super::peers::PeerServers;
use crate::http::HttpRequest;
use crate::load::{LoadGenerator, LoadRuns};
use crate::measurements::Measurements;

/// Seconds of a run of a peer that answers nothing in the second of warming up.
const SLOW_SECONDS: u32 = 15;

/// The runs of one peer.
struct PeerRuns<'a> {
    who: &'static str,
    ask: &'a HttpRequest,
    /// True if it is measured once, for long enough that there is something to count.
    slow: bool,
    runs: LoadRuns,
}

/// Measures every case, each peer in turn, as figures of `part`.
pub(super) fn measure(
    bench: &Bench<'_>,
    part: &'static str,
    all: &PeerServers,
    cases: &[BenchCase],
    found: &[EquivalenceResult],
    figures: &mut Measurements,
) -> Result<()> {
    let generator = LoadGenerator::new(bench.repository, bench.args.cores().generator);
    for case in cases {
        let BenchCase { name, rows, .. } = case;
        println!("-- {name}");
        let mut peers = Vec::new();
        for (who, ask) in case.asked() {
            all.settle()?;
            let slow = generator.run(ask.into(), 1)?.requests == 0.0;
            all.get(who)?.reset_peak()?;
            peers.push(PeerRuns { who, ask, slow, runs: LoadRuns::default() });
        }
        for run in 0..bench.args.runs {
            for peer in peers.iter_mut().filter(|peer| run == 0 || !peer.slow) {
                all.settle()?;
                let seconds = if peer.slow { SLOW_SECONDS } else { bench.args.seconds };
                peer.runs.run(&generator, all.get(peer.who)?, peer.ask.into(), seconds)?;
            }
        }
        for PeerRuns { who, runs, .. } in &peers {
            if runs.requests() == 0.0 {
                let reason = format!("no answer within {SLOW_SECONDS} s");
                figures.add_unsupported(part, name, who, &reason);
                continue;
            }
            let peak = all.get(who)?.peak_mebibytes()?;
            figures.add(part, name, who, values(runs, *rows, peak));
            figures.note(equivalence::remark(found, name, who));
        }
        case.add_reasons(part, figures);
    }
    Ok(())
}

/// Values of the runs of one peer, whose answers have so many rows.
fn values(runs: &LoadRuns, rows: u64, peak: f64) -> Vec<(&'static str, f64)> {
    let values = runs.values();
    let [(_, rate), _, _, (_, cpu)] = values;
    let mut values = Vec::from(values);
    values.push(("peak_mib", peak));
    if rows > 0 {
        let rows = rows as f64;
        values.push(("rows_a_second", rate * rows));
        values.push(("cpu_s_a_million_rows", cpu / rows * 1e3));
    }
    values
}
