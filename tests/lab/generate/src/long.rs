//! The long shape: one value a row, months, four text columns to filter on.

use std::io::{Result, Write};

use super::cell;
use super::random::SplitMix64;

/// Months in the table, from 1976-01; more rows mean more series, not a longer history.
const MONTHS: u64 = 600;
const REGIONS: [&str; 8] = [
    "Northland",
    "Auckland",
    "Hawke's Bay",
    "Manawatū-Whanganui",
    "Wellington",
    "Canterbury",
    "Otago",
    "\"Rest\", n.e.c.",
];
const INDUSTRIES: [&str; 6] =
    ["Agriculture", "Manufacturing", "Construction", "Retail trade", "Café & tourism", "Health"];
const MEASURES: [&str; 3] = ["count", "index", "rate"];

pub(super) fn write(rows: u64, seed: u64, out: &mut dyn Write) -> Result<()> {
    out.write_all(
        b"date,period,series_code,region,industry,measure,value,count,is_provisional,note\n",
    )?;
    let series = rows.div_ceil(MONTHS).max(1);
    let mut random = SplitMix64::new(seed);
    for row in 0..rows {
        let (month, series) = (row / series, row % series);
        let (year, month) = (1976 + month / 12, month % 12 + 1);
        write!(out, "{year:04}-{month:02}-01,{year:04}-{month:02},S{series:07},")?;
        let of = |list: &[&'static str], at: u64| {
            list[usize::try_from(at).unwrap_or_default() % list.len()]
        };
        cell::text(out, of(&REGIONS, series))?;
        out.write_all(b",")?;
        cell::text(out, of(&INDUSTRIES, series / 8))?;
        out.write_all(b",")?;
        cell::text(out, of(&MEASURES, series / 48))?;
        out.write_all(b",")?;
        cell::number(out, &mut random, 100_000.0)?;
        out.write_all(b",")?;
        match random.next_below(1_000) {
            0 => write!(out, "{}", i64::MIN)?,
            1 => write!(out, "{}", i64::MAX)?,
            2..40 => {}
            _ => write!(out, "{}", random.next_below(1_000_000))?,
        }
        write!(out, ",{},", if random.next_below(10) == 0 { "true" } else { "false" })?;
        cell::note(out, &mut random)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
