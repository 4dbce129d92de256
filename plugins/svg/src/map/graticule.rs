//! Lines of longitude and latitude at round degrees, and their labels at the frame.

use std::fmt::Write as _;

use super::view::MapView;
use crate::number::{decimal_exponent, fixed, power_of_ten, whole};
use crate::picture::{Picture, coordinate};
use crate::typography::text_width;

/// Degrees between two lines, for maps of more than a few degrees.
const STEPS: [f64; 6] = [2.0, 5.0, 10.0, 15.0, 30.0, 60.0];

/// Least pixels between two lines of longitude, and of latitude, whose labels stand above each
/// other.
const COLUMNS_APART: f64 = 64.0;
const ROWS_APART: f64 = 40.0;

/// Draws the lines.
pub(super) fn draw(picture: &mut Picture, view: &MapView) {
    let mut path = String::new();
    for longitude in longitudes(view) {
        let [x, _] = view.pixel_at(longitude, 0.0);
        let (top, bottom) = (coordinate(view.frame.top), coordinate(view.frame.bottom));
        let _ = write!(path, "M{} {top}V{bottom}", coordinate(x));
    }
    for latitude in latitudes(view) {
        let [_, y] = view.pixel_at(view.bounds.west, latitude);
        let (left, right) = (coordinate(view.frame.left), coordinate(view.frame.right));
        let _ = write!(path, "M{left} {}H{right}", coordinate(y));
    }
    let coast = picture.options.theme.palette().coast;
    let _ = write!(
        picture.svg,
        "<path class=\"c\" d=\"{path}\" stroke=\"{coast}\" stroke-width=\".5\" stroke-dasharray=\"1 3\" fill=\"none\"/>"
    );
}

/// Writes the labels: longitudes below the frame, latitudes beside it.
pub(super) fn label(picture: &mut Picture, view: &MapView, size: f64) {
    let frame = view.frame;
    let decimals = decimals(column_step(view));
    let mut free_from = 0.0;
    for degrees in longitudes(view) {
        let [x, _] = view.pixel_at(degrees, 0.0);
        let text = longitude(degrees, |value| fixed(value, decimals));
        let half = text_width(&text, size) / 2.0;
        let fits = x - half >= free_from && x + half <= picture.options.width;
        if fits {
            free_from = x + half + 6.0;
            let attributes = format!(" text-anchor=\"middle\" font-size=\"{size}\"");
            picture.text("m", x, frame.bottom + size + 4.0, &attributes, &text);
        }
    }
    let decimals = self::decimals(row_step(view));
    for degrees in latitudes(view) {
        let [_, y] = view.pixel_at(view.bounds.west, degrees);
        let text = latitude(degrees, |value| fixed(value, decimals));
        let attributes = format!(" text-anchor=\"end\" font-size=\"{size}\"");
        picture.text("m", frame.left - 5.0, y + size * 0.36, &attributes, &text);
    }
}

fn longitudes(view: &MapView) -> Vec<f64> {
    multiples(view.bounds.west, view.bounds.east, column_step(view))
}

fn latitudes(view: &MapView) -> Vec<f64> {
    multiples(view.bounds.south, view.bounds.north, row_step(view))
}

fn column_step(view: &MapView) -> f64 {
    step(COLUMNS_APART / (view.pixels_per_degree * view.shrink))
}

fn row_step(view: &MapView) -> f64 {
    step(ROWS_APART / view.pixels_per_degree)
}

/// Round degrees between two lines that are `least` degrees apart at least.
fn step(least: f64) -> f64 {
    if least > 1.0 {
        return STEPS.into_iter().find(|step| *step >= least).unwrap_or(90.0);
    }
    let power = power_of_ten(decimal_exponent(least));
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|digit| digit * power)
        .find(|step| *step >= least)
        .unwrap_or(1.0)
}

fn decimals(step: f64) -> usize {
    usize::try_from(-decimal_exponent(step)).unwrap_or(0)
}

/// Multiples of `step` between two bounds, these left out.
fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    let first = (low / step).floor() + 1.0;
    (0..200u32)
        .map(|index| (first + f64::from(index)) * step)
        .take_while(|at| *at < high - step * 1e-9)
        .collect()
}

/// A longitude as maps write it, whichever way around the world it was counted.
pub(super) fn longitude(degrees: f64, write: impl Fn(f64) -> String) -> String {
    let around = (degrees + 180.0).rem_euclid(360.0) - 180.0;
    // Nearest millionth: 180 may be a hair off after the turn.
    match whole(around.abs() * 1e6) {
        0 | 180_000_000 => format!("{}°", write(around.abs())),
        _ if around > 0.0 => format!("{}° E", write(around)),
        _ => format!("{}° W", write(-around)),
    }
}

/// A latitude as maps write it.
pub(super) fn latitude(degrees: f64, write: impl Fn(f64) -> String) -> String {
    match whole(degrees * 1e6) {
        0 => "0°".to_owned(),
        north if north > 0 => format!("{}° N", write(degrees)),
        _ => format!("{}° S", write(-degrees)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_are_written_as_on_maps() {
        let whole = |value: f64| fixed(value, 0);
        for (degrees, expected) in [
            (175.0, "175° E"),
            (185.0, "175° W"),
            (180.0, "180°"),
            (-180.0, "180°"),
            (0.0, "0°"),
            (-30.0, "30° W"),
        ] {
            assert_eq!(longitude(degrees, whole), expected);
        }
        assert_eq!(
            [latitude(-41.0, whole), latitude(0.0, whole), latitude(5.0, whole)],
            ["41° S", "0°", "5° N"]
        );
    }

    #[test]
    fn lines_are_round_and_far_enough_apart() {
        for (pixels, expected) in [
            (1.8, 60.0),
            (5.0, 15.0),
            (35.0, 2.0),
            (64.0, 1.0),
            (100.0, 1.0),
            (640.0, 0.1),
            (900.0, 0.1),
            (2_000.0, 0.05),
        ] {
            let found = step(COLUMNS_APART / pixels);
            assert!((found - expected).abs() < 1e-9, "{pixels}: {found}");
        }
        assert_eq!(multiples(-1.0, 11.0, 5.0), [0.0, 5.0, 10.0]);
    }
}
