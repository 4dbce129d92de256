//! Names of series: at the ends of their lines where there is room, else in a key above the
//! drawing. The one line of a chart has its latest value at its end instead.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::legend::draw_rings;
use super::series_book::BookedSeries;
use crate::axis::Scale;
use crate::number::brief;
use crate::picture::{Area, Picture, coordinate};
use crate::typography::{text_width, truncate, truncate_start};

/// Font size of labels, pixels, and the least distance of two of them.
const SIZE: f64 = 12.0;
const LINE: f64 = 15.0;

/// Length of a sample of a line in the key.
const SAMPLE: f64 = 26.0;

/// Labels with their place chosen.
pub(super) enum SeriesLabels {
    /// At the ends of the lines, in a strip of this width.
    AtEnds {
        /// Text of each.
        texts: Vec<String>,
        /// Pixels beside the drawing.
        room: f64,
    },
    /// In the key, which is drawn.
    InKey,
}

impl SeriesLabels {
    /// Chooses the place, and draws the key where it is needed: the room of the drawing shrinks.
    pub(super) fn place(picture: &mut Picture, drawn: &[&BookedSeries], names: &[String]) -> Self {
        if let [one] = drawn {
            let text = one.samples.latest.map(|latest| brief(latest.y)).unwrap_or_default();
            let room = text_width(&text, SIZE) + 10.0;
            return Self::AtEnds { texts: vec![text], room };
        }
        let lines = f64::from(u32::try_from(names.len()).unwrap_or(u32::MAX));
        if picture.options.is_wide() && lines * LINE + 30.0 <= picture.area.height() {
            let most = picture.options.width * 0.27;
            let texts = shortened(names, most);
            let widest = texts.iter().map(|text| text_width(text, SIZE)).fold(0.0, f64::max);
            return Self::AtEnds { texts, room: widest + 16.0 };
        }
        draw_key(picture, names);
        Self::InKey
    }

    /// Pixels that are needed to the right of the drawing.
    pub(super) fn room(&self) -> f64 {
        match self {
            Self::AtEnds { room, .. } => *room,
            Self::InKey => 4.0,
        }
    }

    /// Writes the labels at the ends of the lines, moved apart where they would overlap.
    pub(super) fn draw(
        &self,
        picture: &mut Picture,
        drawn: &[&BookedSeries],
        x: &Scale,
        y: &Scale,
        area: &Area,
    ) {
        let Self::AtEnds { texts, room } = self else { return };
        let ends: Vec<(usize, f64, f64)> = drawn
            .iter()
            .enumerate()
            .filter_map(|(index, series)| {
                let latest = series.samples.latest?;
                Some((index, x.pixel(latest.x), y.pixel(latest.y)))
            })
            .collect();
        let places = apart(&ends.iter().map(|end| end.2).collect::<Vec<_>>(), area);
        let palette = picture.options.theme.palette();
        for ((index, end_x, end_y), place) in ends.into_iter().zip(places) {
            let colour = palette.series[index % palette.series.len()];
            let left = area.right + if *room < 60.0 { 4.0 } else { 12.0 };
            let _ = write!(
                picture.svg,
                "<path class=\"s s{index}\" stroke=\"{colour}\" stroke-width=\"6\" stroke-linecap=\"round\" d=\"M{} {}h0\"/>",
                coordinate(end_x),
                coordinate(end_y)
            );
            if drawn[index].samples.latest_marks.is_tentative() {
                let d = format!("M{} {}h0", coordinate(end_x), coordinate(end_y));
                draw_rings(picture, &format!("class=\"s s{index}\" stroke=\"{colour}\""), &d);
            }
            if drawn.len() > 1 && ((place - end_y).abs() > 3.0 || left - end_x > 20.0) {
                let _ = write!(
                    picture.svg,
                    "<path class=\"s{index}\" stroke=\"{colour}\" stroke-width=\".6\" fill=\"none\" d=\"M{} {}L{} {}H{}\"/>",
                    coordinate(end_x + 3.0),
                    coordinate(end_y),
                    coordinate((left - 6.0).max(end_x + 3.0)),
                    coordinate(place),
                    coordinate(left - 2.0)
                );
            }
            let Some(text) = texts.get(index) else { continue };
            let class = format!("t{index}");
            let weight = if drawn.len() == 1 { " font-weight=\"600\"" } else { "" };
            picture.text(&class, left, place + SIZE * 0.34, weight, text);
        }
    }
}

/// Heights for labels near the ends of their lines, in the same order from top to bottom and far
/// enough apart.
fn apart(ends: &[f64], area: &Area) -> Vec<f64> {
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by(|left, right| ends[*left].total_cmp(&ends[*right]));
    let mut places = ends.to_vec();
    let mut least = area.top;
    for index in &order {
        places[*index] = places[*index].max(least);
        least = places[*index] + LINE;
    }
    let mut most = area.bottom;
    for index in order.iter().rev() {
        places[*index] = places[*index].min(most);
        most = places[*index] - LINE;
    }
    places
}

/// Names that fit: cut at their ends, or at their beginnings where they would be the same then.
fn shortened(names: &[String], width: f64) -> Vec<String> {
    let cut: Vec<String> = names.iter().map(|name| truncate(name, SIZE, width)).collect();
    let distinct: BTreeSet<&String> = cut.iter().collect();
    if distinct.len() == cut.len() {
        return cut;
    }
    names.iter().map(|name| truncate_start(name, SIZE, width)).collect()
}

/// A row of samples with names, wrapped.
fn draw_key(picture: &mut Picture, names: &[String]) {
    let Area { left, right, .. } = picture.area;
    let mut x = left;
    let mut y = picture.area.top + 4.0;
    let names = shortened(names, right - left - SAMPLE - 6.0);
    for (index, name) in names.iter().enumerate() {
        let width = SAMPLE + 6.0 + text_width(name, SIZE) + 14.0;
        if x > left && x + width - 14.0 > right {
            x = left;
            y += LINE + 2.0;
        }
        let stroke = super::stroke(picture, index);
        let _ = write!(
            picture.svg,
            "<path{stroke} d=\"M{} {}h{SAMPLE}\"/>",
            coordinate(x),
            coordinate(y - SIZE * 0.34)
        );
        picture.text(&format!("t{index}"), x + SAMPLE + 6.0, y, "", name);
        x += width;
    }
    picture.area.top = y + 10.0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_begin_alike_are_cut_at_their_beginnings() {
        let names = ["a long common beginning, one", "a long common beginning, two"];
        let cut = shortened(&names.map(str::to_owned), 80.0);
        assert!(cut[0].starts_with('…') && cut[0].ends_with("one") && cut[0] != cut[1], "{cut:?}");
        let cut = shortened(&["one long name", "two long names"].map(str::to_owned), 60.0);
        assert!(cut[0].starts_with("one") && cut[0].ends_with('…'), "{cut:?}");
    }

    #[test]
    fn labels_keep_their_order_and_their_distance() {
        let area = Area { left: 0.0, top: 0.0, right: 100.0, bottom: 100.0 };
        let places = apart(&[50.0, 51.0, 52.0, 99.0], &area);
        let mut sorted = places.clone();
        sorted.sort_by(f64::total_cmp);
        assert_eq!(places, sorted);
        assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= LINE - 1e-9), "{places:?}");
        assert!(sorted.iter().all(|place| (0.0..=100.0).contains(place)));
        assert_eq!(apart(&[10.0, 90.0], &area), [10.0, 90.0]);
    }
}
