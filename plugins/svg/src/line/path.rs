//! The line of one series: broken where there is no value, and with the smallest and the greatest
//! value of each pixel column where points outnumber pixels (contract-9-svg-min-max).

use std::fmt::Write as _;

use super::legend::{TENTATIVE_DASHES, draw_rings};
use super::marks::Marks;
use super::samples::{Bucket, SeriesSamples};
use crate::axis::Scale;
use crate::number::whole;
use crate::picture::{Picture, coordinate};

/// Pixels between two points from which on each of them has a dot.
const DOT_DISTANCE: f64 = 9.0;

/// Pixels between two rings where points have no dots.
const RING_DISTANCE: f64 = 18.0;

/// Draws a series.
pub(super) fn draw(
    picture: &mut Picture,
    index: usize,
    samples: &SeriesSamples,
    x: &Scale,
    y: &Scale,
) {
    let columns = pixel_columns(samples.buckets(), x);
    let (mut solid, mut dashed) = (Pen::default(), Pen::default());
    let (mut dots, mut rings) = (String::new(), String::new());
    let (from, to) = x.range();
    let pixels = (x.pixel(to) - x.pixel(from)).abs();
    let count = u32::try_from(samples.buckets().len()).unwrap_or(u32::MAX);
    let dotted = f64::from(count.saturating_sub(1)) * DOT_DISTANCE <= pixels;
    let mut last_ring = f64::NEG_INFINITY;
    for run in runs(&columns) {
        let mut before = None;
        let mut moves = 0;
        let mut end = Marks::default();
        let points = run.iter().flat_map(|bucket| bucket.path().map(|at| (at, bucket.marks())));
        for (point, marks) in points {
            let pixel = x.pixel(point.x);
            let at = (coordinate(pixel), coordinate(y.pixel(point.y)));
            if before.as_ref() == Some(&at) {
                continue;
            }
            let tentative = marks.is_tentative();
            let pen = if tentative { &mut dashed } else { &mut solid };
            pen.draw(before.as_ref(), &at);
            if tentative && (dotted || pixel - last_ring >= RING_DISTANCE) {
                push_dot(&at, &mut rings);
                last_ring = pixel;
            } else if dotted {
                push_dot(&at, &mut dots);
            }
            moves += 1;
            (before, end) = (Some(at), marks);
        }
        // A line of one point would not be seen.
        if let (false, 1, Some(at)) = (dotted, moves, before) {
            push_dot(&at, if end.is_tentative() { &mut rings } else { &mut dots });
        }
    }
    let stroke = super::stroke(picture, index);
    let _ = write!(picture.svg, "<path{stroke} d=\"{}\"/>", solid.d);
    if !dashed.d.is_empty() {
        let stroke = super::dashed_stroke(picture, index, TENTATIVE_DASHES);
        let _ = write!(picture.svg, "<path{stroke} d=\"{}\"/>", dashed.d);
    }
    let palette = picture.options.theme.palette();
    let colour = palette.series[index % palette.series.len()];
    let stroke = format!("class=\"s s{index}\" stroke=\"{colour}\"");
    if !dots.is_empty() {
        let _ = write!(
            picture.svg,
            "<path {stroke} stroke-width=\"5\" stroke-linecap=\"round\" d=\"{dots}\"/>"
        );
    }
    if !rings.is_empty() {
        draw_rings(picture, &stroke, &rings);
    }
}

/// Pieces of a line: it ends where there is no value, and begins anew at a break.
fn runs(columns: &[Bucket]) -> impl Iterator<Item = &[Bucket]> {
    let valued = columns.split(|bucket| matches!(bucket, Bucket::Gap { .. }));
    valued.flat_map(|run| run.chunk_by(|_, next| !next.marks().is_break()))
}

/// A path in the making, and where it has come to.
#[derive(Debug, Default)]
struct Pen {
    d: String,
    at: Option<(String, String)>,
}

impl Pen {
    /// Draws to a point, from the one before it where there is one.
    fn draw(&mut self, from: Option<&(String, String)>, to: &(String, String)) {
        if let Some((x, y)) = from
            && self.at.as_ref() != from
        {
            let _ = write!(self.d, "M{x} {y}");
        }
        let command = if from.is_some() { 'L' } else { 'M' };
        let _ = write!(self.d, "{command}{} {}", to.0, to.1);
        self.at = Some(to.clone());
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
            samples.push(f64::from(row), Some(f64::from(row * 7 % 100)), Marks::default());
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
