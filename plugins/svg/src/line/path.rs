//! The line of one series: broken where there is no value, and with the smallest and the greatest
//! value of each pixel column where points outnumber pixels (contract-9-svg-min-max).

use std::fmt::Write as _;

use super::samples::{Bucket, SeriesSamples};
use crate::axis::Scale;
use crate::number::whole;
use crate::picture::{Picture, coordinate};

/// Pixels between two points from which on each of them has a dot.
const DOT_DISTANCE: f64 = 9.0;

/// Draws a series.
pub(super) fn draw(
    picture: &mut Picture,
    index: usize,
    samples: &SeriesSamples,
    x: &Scale,
    y: &Scale,
) {
    let columns = pixel_columns(samples.buckets(), x);
    let mut line = String::new();
    let mut dots = String::new();
    let (from, to) = x.range();
    let pixels = (x.pixel(to) - x.pixel(from)).abs();
    let count = u32::try_from(samples.buckets().len()).unwrap_or(u32::MAX);
    let dotted = f64::from(count.saturating_sub(1)) * DOT_DISTANCE <= pixels;
    for run in columns.split(|bucket| matches!(bucket, Bucket::Gap { .. })) {
        let mut before = None;
        let mut moves = 0;
        for point in run.iter().flat_map(Bucket::path) {
            let at = (coordinate(x.pixel(point.x)), coordinate(y.pixel(point.y)));
            if before.as_ref() == Some(&at) {
                continue;
            }
            let _ = write!(line, "{}{} {}", if moves == 0 { 'M' } else { 'L' }, at.0, at.1);
            if dotted {
                push_dot(&at, &mut dots);
            }
            moves += 1;
            before = Some(at);
        }
        // A line of one point would not be seen.
        if let (false, 1, Some(at)) = (dotted, moves, before) {
            push_dot(&at, &mut dots);
        }
    }
    let stroke = super::stroke(picture, index);
    let _ = write!(picture.svg, "<path{stroke} d=\"{line}\"/>");
    if !dots.is_empty() {
        let palette = picture.options.theme.palette();
        let colour = palette.series[index % palette.series.len()];
        let _ = write!(
            picture.svg,
            "<path class=\"s s{index}\" stroke=\"{colour}\" stroke-width=\"5\" stroke-linecap=\"round\" d=\"{dots}\"/>"
        );
    }
}

fn push_dot(at: &(String, String), dots: &mut String) {
    let _ = write!(dots, "M{} {}h0", at.0, at.1);
}

/// The buckets, joined where several lie in one pixel column and points outnumber the columns.
fn pixel_columns(buckets: &[Bucket], x: &Scale) -> Vec<Bucket> {
    let (from, to) = x.range();
    let columns = (x.pixel(to) - x.pixel(from)).abs();
    if u32::try_from(buckets.len()).is_ok_and(|count| f64::from(count) <= columns) {
        return buckets.to_vec();
    }
    let column = |bucket: &Bucket| whole(x.pixel(bucket.x()).floor());
    let mut joined: Vec<Bucket> = Vec::new();
    for bucket in buckets {
        match joined.last_mut() {
            Some(last) if column(last) == column(bucket) => last.join(bucket),
            _ => joined.push(*bucket),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_points_outnumber_pixels_each_column_shows_min_and_max_contract_9() {
        let mut samples = SeriesSamples::default();
        for row in 0..2_000u32 {
            samples.push(f64::from(row), Some(f64::from(row * 7 % 100)));
        }
        let x = Scale::new(0.0, 2_000.0, 0.0, 100.0);
        let columns = pixel_columns(samples.buckets(), &x);
        assert_eq!(columns.len(), 100);
        for (column, bucket) in columns.iter().enumerate() {
            let values = (0..2_000u32)
                .filter(|row| usize::try_from(row / 20).is_ok_and(|of| of == column))
                .map(|row| f64::from(row * 7 % 100));
            let least = values.clone().fold(f64::MAX, f64::min);
            let greatest = values.fold(f64::MIN, f64::max);
            let found: Vec<f64> = bucket.path().map(|point| point.y).collect();
            assert!(found.contains(&least) && found.contains(&greatest), "{column}: {found:?}");
        }
        let all = pixel_columns(samples.buckets(), &Scale::new(0.0, 2_000.0, 0.0, 2_000.0));
        assert_eq!(all.len(), 2_000);
    }
}
