//! Colours and patterns of a map's classes, and the key above it. Patterns become denser as colours
//! do, so that classes are told apart on grey paper and by those who do not see colours.

use std::fmt::Write as _;

use super::classes::{Class, MOST_CLASSES};
use crate::palette::{DARK, Palette, Theme};
use crate::picture::{Picture, coordinate};
use crate::typography::text_width;

/// Font size of labels, height of a line of the key, and size of a sample, pixels.
const SIZE: f64 = 11.5;
const LINE: f64 = 20.0;
const SAMPLE: [f64; 2] = [24.0, 12.0];

/// Width of the line of each shade, where there are no areas, pixels.
pub(super) const LINE_WIDTHS: [f64; MOST_CLASSES] = [1.0, 1.7, 2.5, 3.4, 4.6];

/// Side of each shade's pattern, and its marks in tenths of a pixel; the first and the last shade
/// are plain and as light and as dark as can be.
const PATTERNS: [(u32, &str); MOST_CLASSES] = [
    (60, ""),
    (60, "M15 15h0M45 45h0"),
    (60, "M-5 65L65 -5M-5 5L5 -5M55 65L65 55"),
    (40, "M-5 -5L45 45M-5 35L5 45M35 -5L45 5"),
    (60, ""),
];

/// Marks where there is no value.
const NOTHING: (u32, &str) = (70, "M20 35h30M35 20v30");

/// Writes patterns and their colours: `k0` to `k4`, and `kn` for no value.
pub(super) fn define(picture: &mut Picture) {
    let theme = picture.options.theme;
    let palette = theme.palette();
    let svg = &mut picture.svg;
    svg.push_str("<style>");
    if theme == Theme::Auto {
        svg.push_str("@media (prefers-color-scheme:dark){");
        for (shade, (fill, mark)) in shades(&DARK).into_iter().enumerate() {
            let _ = write!(svg, ".k{shade}{{fill:{fill}}}.j{shade}{{stroke:{mark}}}");
            let _ = write!(svg, ".w{shade}{{stroke:{}}}", line_colour(&DARK, shade));
        }
        let Palette { paper, muted, .. } = DARK;
        let _ = write!(svg, ".kn{{fill:{paper}}}.jn{{stroke:{muted}}}.b{{stroke:{paper}}}}}");
    }
    svg.push_str("@media (forced-colors:active){.k{fill:Canvas}.k4{fill:CanvasText}.j{stroke:CanvasText}.b{stroke:GrayText}}</style><defs>");
    let shaded = shades(palette).into_iter().zip(PATTERNS).enumerate();
    for (shade, ((fill, mark), pattern)) in shaded {
        push_pattern(&shade.to_string(), fill, mark, pattern, svg);
    }
    push_pattern("n", palette.paper, palette.muted, NOTHING, svg);
    svg.push_str("</defs>");
}

/// Colour of a shade's area, and of its marks.
fn shades(palette: &Palette) -> [(&'static str, &'static str); MOST_CLASSES] {
    let [a, b, c, d, e] = palette.shades;
    [(a, a), (b, d), (c, a), (d, b), (e, e)]
}

/// Colour of a line: the lightest would not be seen on land.
pub(super) fn line_colour(palette: &Palette, shade: usize) -> &'static str {
    palette.shades[(shade + 2).min(MOST_CLASSES - 1)]
}

fn push_pattern(name: &str, fill: &str, mark: &str, (side, marks): (u32, &str), svg: &mut String) {
    let _ = write!(
        svg,
        "<pattern id=\"k{name}\" width=\"{side}\" height=\"{side}\" patternUnits=\"userSpaceOnUse\"><path class=\"k k{name}\" fill=\"{fill}\" stroke=\"none\" d=\"M0 0h{side}v{side}h-{side}z\"/>"
    );
    if !marks.is_empty() {
        let width = if marks.contains("h0") { 12 } else { 6 };
        let _ = write!(
            svg,
            "<path class=\"j j{name}\" stroke=\"{mark}\" stroke-width=\"{width}\" stroke-linecap=\"round\" d=\"{marks}\"/>"
        );
    }
    svg.push_str("</pattern>");
}

/// Draws the key at the top of the room, which shrinks.
pub(super) fn draw(picture: &mut Picture, classes: &[Class], without: usize, has_areas: bool) {
    let mut entries: Vec<(String, Option<usize>)> =
        classes.iter().map(|class| (class.label(), Some(class.shade))).collect();
    if without > 0 {
        entries.push(("no data".to_owned(), None));
    }
    let (left, right) = (picture.area.left, picture.area.right);
    let mut x = left;
    let mut y = picture.area.top - 4.0;
    for (text, shade) in entries {
        let width = SAMPLE[0] + 6.0 + text_width(&text, SIZE);
        if x > left && x + width > right {
            (x, y) = (left, y + LINE);
        }
        sample(picture, x, y, shade, has_areas);
        let size = format!(" font-size=\"{SIZE}\"");
        picture.text("i", x + SAMPLE[0] + 6.0, y + SAMPLE[1] / 2.0 + SIZE * 0.36, &size, &text);
        x += width + 12.0;
    }
    picture.area.top = y + SAMPLE[1] + 9.0;
}

fn sample(picture: &mut Picture, x: f64, y: f64, shade: Option<usize>, has_areas: bool) {
    let [width, height] = SAMPLE;
    let palette = picture.options.theme.palette();
    let (left, middle) = (coordinate(x), coordinate(y + height / 2.0));
    if !has_areas {
        let (class, colour, thickness) = line_style(palette, shade);
        let _ = write!(
            picture.svg,
            "<path class=\"{class}\" stroke=\"{colour}\" stroke-width=\"{thickness}\" d=\"M{left} {middle}h{width}\"/>"
        );
        return;
    }
    let name = shade.map_or_else(|| "n".to_owned(), |shade| shade.to_string());
    // The same units as the map has, so that patterns are as dense.
    let _ = write!(
        picture.svg,
        "<rect class=\"c\" transform=\"translate({left} {}) scale(.1)\" width=\"{}\" height=\"{}\" fill=\"url(#k{name})\" stroke=\"{}\" stroke-width=\"7\"/>",
        coordinate(y),
        width * 10.0,
        height * 10.0,
        palette.coast
    );
}

/// Class, colour and width of a line with a value, or without one.
pub(super) fn line_style(palette: &Palette, shade: Option<usize>) -> (String, &'static str, f64) {
    match shade {
        Some(shade) => (format!("s w{shade}"), line_colour(palette, shade), LINE_WIDTHS[shade]),
        None => ("c".to_owned(), palette.coast, LINE_WIDTHS[0]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::LIGHT;

    #[test]
    fn shades_have_patterns_of_their_own() {
        let mut marks: Vec<_> = PATTERNS.iter().map(|(_, marks)| *marks).collect();
        marks.push(NOTHING.1);
        marks.sort_unstable();
        marks.dedup();
        // Two are plain: the lightest and the darkest.
        assert_eq!(marks.len(), MOST_CLASSES);
        assert!(PATTERNS[0].1.is_empty() && PATTERNS[MOST_CLASSES - 1].1.is_empty());
        for palette in [&LIGHT, &DARK] {
            assert_eq!(shades(palette).len(), palette.shades.len());
        }
    }
}
