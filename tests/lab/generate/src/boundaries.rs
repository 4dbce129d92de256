//! The boundaries shape: areas whose boundaries have the sizes of real ones, from an islet of 200
//! bytes to a coastline of 5 MB. Owns the sizes and the rings; columns are those of `spatial`.

use std::f64::consts::TAU;
use std::fmt::Write as _;
use std::io::{Result, Write};

use super::random::SplitMix64;
use super::spatial::write_areas;

/// Bytes of the smallest and of the largest boundary, nearly: each ends with a whole corner.
const LEAST_BYTES: f64 = 200.0;
const MOST_BYTES: f64 = 5e6;

/// Natural logarithm of the median size, and standard deviation of the logarithms: half of all
/// boundaries have less than 32 kB, the mean has some 110.
const LOG_MEDIAN: f64 = 10.36;
const LOG_DEVIATION: f64 = 1.6;

/// Bytes of a corner: two numbers of ten characters, a space, a comma and a space.
const CORNER_BYTES: u64 = 23;

/// Bytes around the corners of one ring.
const FRAME_BYTES: u64 = 17;

/// Corners of a ring at least, the closing one counted.
const RING_CORNERS: u64 = 4;

/// Corners of a boundary from which on islands lie around the main land.
const MAINLAND_CORNERS: u64 = 64;

pub(super) fn write(rows: u64, seed: u64, out: &mut dyn Write) -> Result<()> {
    write_areas(rows, seed, out, |row, random, out| {
        write!(out, "\"{}\"", boundary(row, rows, random))
    })
}

/// The boundary of row `row` of `rows` as WKT: a `MULTIPOLYGON` of one large ring and of islands.
/// Sizes are those of a log-normal distribution, cut off at both ends. The row after a third of
/// the table has the smallest, the row after two thirds the largest, so that no table of three rows
/// or more lacks them.
#[must_use]
pub fn boundary(row: u64, rows: u64, random: &mut SplitMix64) -> String {
    let drawn = log_normal_bytes(random.next_fraction());
    let bytes = match row {
        row if row == rows * 2 / 3 => MOST_BYTES,
        row if row == rows / 3 => LEAST_BYTES,
        _ => drawn,
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 200 to 5,000,000"
    )]
    let bytes = bytes as u64;
    multipolygon((bytes - FRAME_BYTES).div_ceil(CORNER_BYTES).max(RING_CORNERS), random)
}

/// Bytes of the boundary at a share of all, by size. In place of the quantile of the normal
/// distribution stands that of Tukey's lambda distribution with 0.14, which is larger by 3 % where
/// the normal one is 1.
fn log_normal_bytes(share: f64) -> f64 {
    let normal = (share.powf(0.14) - (1.0 - share).powf(0.14)) / 0.1975;
    (LOG_MEDIAN + LOG_DEVIATION * normal).exp().clamp(LEAST_BYTES, MOST_BYTES)
}

/// A text with so many corners, those that close rings counted.
fn multipolygon(corners: u64, random: &mut SplitMix64) -> String {
    let mut text = String::from("MULTIPOLYGON (((");
    let middle = (167.0 + random.next_fraction() * 10.0, -46.0 + random.next_fraction() * 10.0);
    let mut left = corners;
    let mut ring_corners = if corners < MAINLAND_CORNERS { corners } else { corners * 3 / 4 };
    let (mut at, mut radius) = (middle, 0.4);
    loop {
        ring(&mut text, ring_corners, at, radius, random);
        left -= ring_corners;
        if left == 0 {
            break;
        }
        text += ")), ((";
        ring_corners = (8 + random.next_below(33)).min(left);
        if left - ring_corners < RING_CORNERS {
            ring_corners = left;
        }
        let around = random.next_fraction() * TAU;
        at = (middle.0 + 0.48 * around.cos(), middle.1 + 0.48 * around.sin());
        radius = 0.01;
    }
    text + ")))"
}

/// Appends the corners of a ring, counterclockwise; neighbours lie as near to each other as the
/// number of corners makes them, so that their digits begin alike.
fn ring(text: &mut String, corners: u64, middle: (f64, f64), radius: f64, random: &mut SplitMix64) {
    let sides = corners - 1;
    let mut first = None;
    for corner in 0..sides {
        #[expect(clippy::cast_precision_loss, reason = "some hundred thousand corners")]
        let (angle, rough) =
            (corner as f64 / sides as f64 * TAU, radius / sides as f64 * random.next_fraction());
        let from_middle = radius * (0.9 + 0.1 * (5.0 * angle).sin()) + rough;
        let point = (middle.0 + from_middle * angle.cos(), middle.1 + from_middle * angle.sin());
        first.get_or_insert(point);
        // Writing to a string cannot fail.
        let _ = write!(text, "{:.6} {:.6}, ", point.0, point.1);
    }
    let (east, north) = first.unwrap_or(middle);
    let _ = write!(text, "{east:.6} {north:.6}");
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn sizes_reach_from_200_bytes_to_5_megabytes_in_one_column() {
        let mut random = SplitMix64::new(4);
        let mut sizes: Vec<usize> =
            (0..60).map(|row| boundary(row, 60, &mut random).len()).collect();
        sizes.sort_unstable();
        assert!((200..250).contains(&sizes[0]), "{sizes:?}");
        assert!((5_000_000..5_050_000).contains(&sizes[59]), "{sizes:?}");
        let median = sizes[30];
        assert!((10_000..100_000).contains(&median), "{sizes:?}");
    }

    #[test]
    fn every_ring_ends_where_it_begins_and_every_number_has_ten_characters() {
        let mut random = SplitMix64::new(4);
        for corners in [4, 8, 63, 64, 65, 1_000] {
            let text = multipolygon(corners, &mut random);
            let inner = text.strip_prefix("MULTIPOLYGON (((").unwrap().strip_suffix(")))").unwrap();
            let mut found = 0;
            for ring in inner.split(")), ((") {
                let points: Vec<&str> = ring.split(", ").collect();
                assert_eq!(points.first(), points.last(), "{text}");
                assert!(points.len() >= 4, "{text}");
                assert!(points.iter().all(|point| point.len() == 21), "{text}");
                found += points.len() as u64;
            }
            assert_eq!(found, corners);
        }
    }
}
