//! The sheet that every picture is drawn on: size, style sheet, title and description for readers
//! who do not see it, heading, notes, and the credit line. What is drawn between heading and notes
//! is another file's.

use std::fmt::Write as _;

use crate::number::whole;
use crate::options::PictureOptions;
use crate::typography::{truncate, wrap};
use crate::xml::push_text;

/// Fonts of titles and of everything else.
const SERIF: &str = "'Iowan Old Style',Charter,Palatino,Georgia,serif";
const SANS: &str = "system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif";

/// Width of the letters of a title, beside those of other texts.
const SERIF_WIDTH: f64 = 1.06;

/// Font size of notes and of the credit, pixels, and the height of their lines.
const SMALL: f64 = 10.5;
const SMALL_LINE: f64 = 14.0;

/// Lines that the credit may take; all of it stands in the description too.
const CREDIT_LINES: usize = 6;

/// Height below which a picture has half of these, and one line of a title.
const LOW: f64 = 340.0;

/// Words around a drawing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// Agency, above the title.
    pub source: String,
    /// The title.
    pub title: String,
    /// Below the title: what is measured, in which unit.
    pub subtitle: String,
    /// Notes below the drawing, a sentence each.
    pub notes: Vec<String>,
    /// The credit line.
    pub credit: String,
    /// The picture in words.
    pub description: String,
}

/// A rectangle in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Area {
    /// Width in pixels.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    /// Height in pixels.
    #[must_use]
    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }
}

/// A picture in the making.
#[derive(Debug)]
pub struct Picture {
    /// The document so far.
    pub svg: String,
    /// Size and colours.
    pub options: PictureOptions,
    /// Room for the drawing.
    pub area: Area,
}

impl Picture {
    /// Writes everything around the drawing.
    #[must_use]
    pub fn begin(options: PictureOptions, words: &Words) -> Self {
        let PictureOptions { width, height, theme } = options;
        let palette = theme.palette();
        let (width_text, height_text) = (whole(width), whole(height));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width_text}\" height=\"{height_text}\" viewBox=\"0 0 {width_text} {height_text}\" role=\"img\" aria-labelledby=\"title desc\" font-family=\"{SANS}\" font-size=\"12\"><title id=\"title\">"
        );
        push_text(&words.title, &mut svg);
        svg.push_str("</title><desc id=\"desc\">");
        push_text(&words.description, &mut svg);
        svg.push_str("</desc><style>");
        svg.push_str("text{font-variant-numeric:tabular-nums}");
        svg.push_str(&theme.style_sheet());
        svg.push_str("</style>");
        let _ = write!(
            svg,
            "<rect class=\"p\" width=\"{width_text}\" height=\"{height_text}\" fill=\"{}\"/>",
            palette.paper
        );
        let margin = if options.is_wide() { 24.0 } else { 14.0 };
        let area = Area { left: margin, top: 0.0, right: width - margin, bottom: height };
        let mut picture = Self { svg, options, area };
        picture.area.top = picture.heading(words);
        picture.area.bottom = picture.footing(words);
        picture
    }

    /// The finished document.
    #[must_use]
    pub fn end(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }

    /// Writes a text of a class, with further attributes.
    pub fn text(&mut self, class: &str, x: f64, y: f64, attributes: &str, text: &str) {
        let palette = self.options.theme.palette();
        let colour = match class.as_bytes() {
            b"m" => palette.muted,
            [b't', digit] => palette.series[usize::from(digit - b'0') % palette.series.len()],
            _ => palette.ink,
        };
        let _ = write!(
            self.svg,
            "<text class=\"{class}\" x=\"{}\" y=\"{}\" fill=\"{colour}\"{attributes}>",
            coordinate(x),
            coordinate(y)
        );
        push_text(text, &mut self.svg);
        self.svg.push_str("</text>");
    }

    /// Writes a horizontal rule in ink.
    pub fn rule(&mut self, y: f64, thickness: f64) {
        let Area { left, right, .. } = self.area;
        let (from, to, y) = (coordinate(left), coordinate(right), coordinate(y));
        let ink = self.options.theme.palette().ink;
        let _ = write!(
            self.svg,
            "<path class=\"r\" d=\"M{from} {y}H{to}\" stroke=\"{ink}\" stroke-width=\"{thickness}\"/>"
        );
    }

    /// Rules, agency, title and subtitle. Returns where the room below begins.
    fn heading(&mut self, words: &Words) -> f64 {
        let Area { left, .. } = self.area;
        let room = self.area.width();
        let (size, line) = if self.options.is_wide() { (21.0, 25.0) } else { (17.0, 21.0) };
        self.rule(12.0, 2.0);
        self.rule(15.5, 0.75);
        let mut y = 20.0;
        if !words.source.is_empty() {
            y += 14.0;
            let source = words.source.to_uppercase();
            // Letters stand apart, which takes a seventh more.
            let source = truncate(&source, 9.5 * 1.15, room);
            self.text("m", left, y, " font-size=\"9.5\" letter-spacing=\".09em\"", &source);
        }
        y += 3.0;
        let lines = if self.options.height < LOW { 1 } else { 2 };
        for text in wrap(&words.title, size * SERIF_WIDTH, room, lines) {
            y += line - 2.0;
            self.text(
                "i",
                left,
                y,
                &format!(" font-size=\"{size}\" font-family=\"{SERIF}\""),
                &text,
            );
        }
        for text in wrap(&words.subtitle, 12.5, room, 2) {
            y += 17.0;
            self.text("m", left, y, " font-size=\"12.5\"", &text);
        }
        y + 12.0
    }

    /// Notes and credit, from the bottom up. Returns where the room above ends.
    fn footing(&mut self, words: &Words) -> f64 {
        let Area { left, .. } = self.area;
        let room = self.area.width();
        let small = format!(" font-size=\"{SMALL}\"");
        let most = if self.options.height < LOW { CREDIT_LINES / 2 } else { CREDIT_LINES };
        let credit = wrap(&words.credit, SMALL, room, most);
        let notes = wrap(&words.notes.join(" "), SMALL, room, 2);
        let lines = |count: usize| f64::from(u32::try_from(count).unwrap_or(0)) * SMALL_LINE;
        let rule = self.options.height - 13.0 - lines(credit.len());
        let top = rule - 7.0 - lines(notes.len());
        let mut y = top;
        for text in notes {
            y += SMALL_LINE;
            self.text("m", left, y, &format!("{small} font-style=\"italic\""), &text);
        }
        self.rule(rule, 0.75);
        let mut y = rule + 1.0;
        for text in credit {
            y += SMALL_LINE;
            self.text("m", left, y, &small, &text);
        }
        top
    }
}

/// A coordinate with one digit after the point at most.
#[must_use]
pub fn coordinate(pixels: f64) -> String {
    let tenths = whole(pixels * 10.0);
    let (sign, tenths) = if tenths < 0 { ("-", tenths.saturating_neg()) } else { ("", tenths) };
    match (tenths / 10, tenths % 10) {
        (pixels, 0) => format!("{sign}{pixels}"),
        (pixels, tenth) => format!("{sign}{pixels}.{tenth}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_have_one_digit_after_the_point() {
        for (pixels, expected) in [(1.0, "1"), (1.25, "1.3"), (-0.04, "0"), (-0.31, "-0.3")] {
            assert_eq!(coordinate(pixels), expected);
        }
    }
}
