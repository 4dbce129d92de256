//! The wide shape: thirty series a row, days, a station to tell rows of one day apart.

use std::io::{Result, Write};

use jiff::civil::date;

use super::cell;
use super::random::SplitMix64;

/// Series a row.
const SERIES: u64 = 30;
/// Days in the table, from 2000-01-01; more rows mean more stations.
const DAYS: u64 = 9_000;

pub(super) fn write(rows: u64, seed: u64, out: &mut dyn Write) -> Result<()> {
    out.write_all(b"date,station")?;
    for series in 1..=SERIES {
        write!(out, ",series_{series:02}")?;
    }
    out.write_all(b"\n")?;
    let stations = rows.div_ceil(DAYS).max(1);
    let mut random = SplitMix64::new(seed);
    let mut day = date(2000, 1, 1);
    for row in 0..rows {
        // Rows of a day stand together.
        if row > 0 && row % stations == 0 {
            day = day.tomorrow().unwrap_or(day);
        }
        write!(out, "{day},station {:05}", row % stations)?;
        for series in 1..=SERIES {
            out.write_all(b",")?;
            // Every tenth series is mostly null, as wide tables of statistics are.
            if series % 10 != 0 || random.next_below(10) == 0 {
                cell::number(out, &mut random, 1_000.0)?;
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}
