//! The spatial shape: areas of sixty-four corners spread over the whole globe, without dates.

use std::f64::consts::TAU;
use std::io::{Result, Write};

use super::cell;
use super::random::SplitMix64;

/// Corners of an area, the closing one not counted.
const CORNERS: u32 = 64;

pub(super) fn write(rows: u64, seed: u64, out: &mut dyn Write) -> Result<()> {
    write_areas(rows, seed, out, |_, random, out| geometry(out, random))
}

/// Writes a table of areas; `geometry` writes the quoted boundary of a row.
pub(super) fn write_areas(
    rows: u64,
    seed: u64,
    out: &mut dyn Write,
    mut geometry: impl FnMut(u64, &mut SplitMix64, &mut dyn Write) -> Result<()>,
) -> Result<()> {
    out.write_all(b"area_code,name,population,density,geometry_wkt\n")?;
    let mut random = SplitMix64::new(seed);
    for row in 0..rows {
        write!(out, "{row:08},")?;
        cell::text(out, &format!("Area {row}, \u{14d}-{}", row % 97))?;
        write!(out, ",{},", random.next_below(5_000_000))?;
        cell::number(out, &mut random, 10_000.0)?;
        out.write_all(b",")?;
        // One area in a thousand has no boundary.
        if random.next_below(1_000) != 0 {
            geometry(row, &mut random, out)?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// A `MULTIPOLYGON` around a random middle, far enough from the poles and the 180th meridian that
/// every corner stays in range.
fn geometry(out: &mut dyn Write, random: &mut SplitMix64) -> Result<()> {
    let (east, north) =
        (random.next_fraction() * 350.0 - 175.0, random.next_fraction() * 160.0 - 80.0);
    out.write_all(b"\"MULTIPOLYGON (((")?;
    let mut first = None;
    for corner in 0..CORNERS {
        let angle = f64::from(corner) / f64::from(CORNERS) * TAU;
        let radius = 1.0 + random.next_fraction();
        let point = (east + radius * angle.cos(), north + radius * angle.sin());
        first.get_or_insert(point);
        write!(out, "{:.6} {:.6}, ", point.0, point.1)?;
    }
    let (east, north) = first.unwrap_or((east, north));
    write!(out, "{east:.6} {north:.6})))\"")
}
