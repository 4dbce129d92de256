//! Marks of a line as they are drawn, and the legend that says in words what they mean.

use std::fmt::Write as _;

use super::marks::Marks;
use super::series_book::BookedSeries;
use crate::axis::Scale;
use crate::picture::{Area, Picture, coordinate};
use crate::typography::{text_width, wrap};

/// Dashes of a line that leads to a value that is not final, in pixels: of no series.
pub(super) const TENTATIVE_DASHES: &str = "3 3";

/// Font size of the legend, pixels, the height of its lines, and the length of its samples.
const SIZE: f64 = 10.5;
const LINE: f64 = 15.0;
const SAMPLE: f64 = 26.0;

/// Lines that the words of one mark take in the legend at most.
const MOST_LINES: usize = 3;

/// Pixels between two lines of breaks at least: nearer ones are one line.
const BREAK_DISTANCE: f64 = 3.0;

/// Marks of all series that are drawn.
pub(super) fn drawn_marks(drawn: &[&BookedSeries]) -> Marks {
    drawn.iter().fold(Marks::default(), |all, series| all.union(series.samples.marks))
}

/// Sentences of what the marks mean, for readers who do not see them.
pub(super) fn sentences(marks: Marks) -> Vec<String> {
    legend(marks).into_iter().map(|(_, words)| capitalised(&words) + ".").collect()
}

/// Marks of a legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sample {
    Dashes,
    Break,
}

/// Samples with their words, of the marks that there are.
fn legend(marks: Marks) -> Vec<(Sample, String)> {
    let dashes = (Sample::Dashes, format!("dashed with rings: {}", marks.reasons()));
    let breaks = (Sample::Break, "vertical line: break in a series".to_owned());
    let there = [marks.is_tentative().then_some(dashes), marks.is_break().then_some(breaks)];
    there.into_iter().flatten().collect()
}

fn capitalised(text: &str) -> String {
    let (first, rest) = text.split_at_checked(1).unwrap_or_default();
    first.to_uppercase() + rest
}

/// The same in fewer words, where the picture is small.
fn short_legend(marks: Marks) -> Vec<(Sample, String)> {
    let short = |(sample, _)| match sample {
        Sample::Dashes => (sample, "not final".to_owned()),
        Sample::Break => (sample, "break".to_owned()),
    };
    legend(marks).into_iter().map(short).collect()
}

/// Writes below the drawing what its marks mean, and the room of the drawing shrinks: by half of
/// its height above its axis at most, so that the words are fewer, or none, where it is small.
pub(super) fn draw_legend(picture: &mut Picture, marks: Marks, axis: f64) {
    let most = (picture.area.height() - axis) / 2.0;
    for words in [legend(marks), short_legend(marks)] {
        let (entries, lines) = arrange(picture.area, words);
        if !entries.is_empty() && lines * LINE + 2.0 <= most {
            return write_legend(picture, entries, lines);
        }
    }
}

/// A sample with the place and the line at which it begins, and the lines of its words.
type Entry = (Sample, f64, f64, Vec<String>);

/// Arranges a legend: its entries, and the number of lines that it takes.
fn arrange(area: Area, legend: Vec<(Sample, String)>) -> (Vec<Entry>, f64) {
    let Area { left, right, .. } = area;
    let room = right - left - SAMPLE - 6.0;
    let (mut x, mut line) = (left, 0.0);
    let mut entries = Vec::new();
    for (sample, words) in legend {
        let texts = wrap(&words, SIZE, room, MOST_LINES);
        let widest = texts.iter().map(|text| text_width(text, SIZE)).fold(0.0, f64::max);
        if x > left && x + SAMPLE + 6.0 + widest > right {
            (x, line) = (left, line + 1.0);
        }
        let below = f64::from(u32::try_from(texts.len().saturating_sub(1)).unwrap_or(0));
        entries.push((sample, x, line, texts));
        x += SAMPLE + 6.0 + widest + 18.0;
        line += below;
    }
    (entries, line + 1.0)
}

fn write_legend(picture: &mut Picture, entries: Vec<Entry>, lines: f64) {
    let first = picture.area.bottom - (lines - 1.0) * LINE - 3.0;
    for (sample, x, line, texts) in entries {
        let mut y = first + line * LINE;
        draw_sample(picture, sample, x, y - SIZE * 0.34);
        for text in texts {
            let size = format!(" font-size=\"{SIZE}\"");
            picture.text("m", x + SAMPLE + 6.0, y, &size, &text);
            y += LINE;
        }
    }
    picture.area.bottom = first - LINE + 1.0;
}

fn draw_sample(picture: &mut Picture, sample: Sample, x: f64, y: f64) {
    let palette = picture.options.theme.palette();
    let stroke = format!("class=\"r s\" stroke=\"{}\"", palette.ink);
    let middle = x + SAMPLE / 2.0;
    match sample {
        Sample::Break => {
            let (x, y) = (coordinate(middle), coordinate(y - 6.0));
            let _ = write!(picture.svg, "<path {stroke} stroke-width=\".75\" d=\"M{x} {y}v12\"/>");
        }
        Sample::Dashes => {
            let (left, y) = (coordinate(x), coordinate(y));
            let _ = write!(
                picture.svg,
                "<path {stroke} stroke-width=\"1.75\" stroke-dasharray=\"{TENTATIVE_DASHES}\" d=\"M{left} {y}h{SAMPLE}\"/>"
            );
            draw_rings(picture, &stroke, &format!("M{} {y}h0", coordinate(middle)));
        }
    }
}

/// Draws rings around the places of `d`, with the class and the colour of `stroke`: dots with dots
/// of paper within.
pub(super) fn draw_rings(picture: &mut Picture, stroke: &str, d: &str) {
    let paper = picture.options.theme.palette().paper;
    for (stroke, width) in [(stroke, "7.5"), (&*format!("class=\"h\" stroke=\"{paper}\""), "4")] {
        let _ = write!(
            picture.svg,
            "<path {stroke} stroke-width=\"{width}\" stroke-linecap=\"round\" d=\"{d}\"/>"
        );
    }
}

/// Draws a thin line from top to bottom at each break.
pub(super) fn draw_breaks(picture: &mut Picture, drawn: &[&BookedSeries], x: &Scale, area: &Area) {
    let buckets = drawn.iter().flat_map(|series| series.samples.buckets());
    let breaks = buckets.filter(|bucket| bucket.marks().is_break());
    let mut places: Vec<f64> = breaks.map(|bucket| x.pixel(bucket.x())).collect();
    places.sort_by(f64::total_cmp);
    places.dedup_by(|place, before| *place - *before < BREAK_DISTANCE);
    let Area { top, bottom, .. } = area;
    let line =
        |place| format!("M{} {}V{}", coordinate(place), coordinate(*top), coordinate(*bottom));
    let path: String = places.into_iter().map(line).collect();
    if !path.is_empty() {
        let ink = picture.options.theme.palette().ink;
        let _ = write!(
            picture.svg,
            "<path class=\"r s\" stroke=\"{ink}\" stroke-width=\".75\" fill=\"none\" d=\"{path}\"/>"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::DASHES;

    #[test]
    fn no_series_has_the_dashes_of_values_that_are_not_final() {
        assert!(DASHES.iter().all(|dashes| *dashes != TENTATIVE_DASHES));
    }
}
