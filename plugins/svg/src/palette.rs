//! Colours and dash patterns. Text has a contrast of 4.5 : 1 on the paper, lines and dots of 3 : 1
//! at least (WCAG 2.2, 1.4.3 and 1.4.11), and a series is distinguished by its dashes too.

use std::fmt::Write as _;

/// Most series of one chart.
pub const MOST_SERIES: usize = 8;

/// Shades of a map's classes.
pub const SHADES: usize = 5;

/// Dash pattern of each series, in pixels.
pub const DASHES: [&str; MOST_SERIES] =
    ["", "7 3", "2 3", "10 3 2 3", "14 4", "5 2 1 2 1 2", "1 2", "10 2 4 2"];

/// Colours of one theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    /// The background.
    pub paper: &'static str,
    /// Titles and numbers.
    pub ink: &'static str,
    /// Words beside these: units, notes, the credit.
    pub muted: &'static str,
    /// Lines of the grid.
    pub grid: &'static str,
    /// Land of a map.
    pub land: &'static str,
    /// Its coast.
    pub coast: &'static str,
    /// Series in their order; the first is the accent.
    pub series: [&'static str; MOST_SERIES],
    /// Classes of a map, from the one that is most like the paper on.
    pub shades: [&'static str; SHADES],
}

/// Ink on light paper.
pub const LIGHT: Palette = Palette {
    paper: "#fbfaf6",
    ink: "#1d1c1a",
    muted: "#5b564b",
    grid: "#ddd7c9",
    land: "#ece6d7",
    coast: "#b3a98f",
    series: [
        "#8c2a1c", "#0b5c8a", "#2f6f3e", "#7a5600", "#7a3b8f", "#006a66", "#a8326b", "#4d4d4d",
    ],
    shades: ["#f7e3cf", "#ecb892", "#d98a62", "#b5523a", "#6f1d14"],
};

/// Light ink on dark paper.
pub const DARK: Palette = Palette {
    paper: "#17181a",
    ink: "#ebe7dd",
    muted: "#b3ada0",
    grid: "#34363a",
    land: "#26282c",
    coast: "#5c5f63",
    series: [
        "#f0a08a", "#6cb6e8", "#7cc58c", "#d9b24c", "#c99be0", "#5fc4bd", "#f08fb3", "#bdbdbd",
    ],
    shades: ["#43302c", "#6f4338", "#a3604c", "#d68a6e", "#fbd3bd"],
};

/// The chosen colours of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// Light wherever it is shown.
    Light,
    /// Dark wherever it is shown.
    Dark,
    /// Light, or dark where the reader prefers that.
    Auto,
}

impl Theme {
    /// Names that a client may write.
    pub const NAMES: [&str; 3] = ["auto", "light", "dark"];

    /// The theme of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "light" => Some(Self::Light),
            "dark" => Some(Self::Dark),
            "auto" => Some(Self::Auto),
            _ => None,
        }
    }

    /// Colours that stand in the picture's attributes, for readers without style sheets.
    #[must_use]
    pub fn palette(self) -> &'static Palette {
        if self == Self::Dark { &DARK } else { &LIGHT }
    }

    /// The style sheet: dark colours where they are preferred, and the system's own colours where
    /// the reader forces them.
    #[must_use]
    pub fn style_sheet(self) -> String {
        let mut css = String::new();
        if self == Self::Auto {
            css.push_str("@media (prefers-color-scheme:dark){");
            push_rules(&DARK, &mut css);
            css.push('}');
        }
        css.push_str(
            "@media (forced-colors:active){.p{fill:Canvas}.i,.m,.t{fill:CanvasText}.g,.c{stroke:GrayText}.l{fill:Canvas}.s{stroke:CanvasText}.h{stroke:Canvas}}",
        );
        css
    }
}

fn push_rules(palette: &Palette, css: &mut String) {
    let Palette { paper, ink, muted, grid, land, coast, series, .. } = palette;
    // Writing to a string cannot fail.
    let _ = write!(
        css,
        ".p{{fill:{paper}}}.h{{stroke:{paper}}}.i{{fill:{ink}}}.r{{stroke:{ink}}}.m{{fill:{muted}}}.g{{stroke:{grid}}}.l{{fill:{land}}}.c{{stroke:{coast}}}"
    );
    for (index, colour) in series.iter().enumerate() {
        let _ = write!(css, ".s{index}{{stroke:{colour}}}.t{index}{{fill:{colour}}}");
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// Relative luminance (WCAG 2.2).
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_has_four_and_a_half_and_lines_have_three_to_one_wcag_1_4_3() {
        for palette in [&LIGHT, &DARK] {
            // Labels have the colour of their series.
            for text in [palette.ink, palette.muted].iter().chain(&palette.series) {
                assert!(contrast(text, palette.paper) >= 4.5, "{text} on {}", palette.paper);
            }
            assert!(contrast(palette.series[0], palette.land) >= 3.0, "dots on {}", palette.land);
        }
    }

    #[test]
    fn each_series_has_its_own_colour_and_dashes() {
        for list in [&DASHES, &LIGHT.series, &DARK.series] {
            let mut sorted = list.to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), MOST_SERIES);
        }
    }

    #[test]
    fn shades_grow_and_their_ends_are_told_apart_without_colour() {
        for palette in [&LIGHT, &DARK] {
            let [lightest, .., last] = palette.shades;
            assert!(contrast(lightest, last) >= 7.0);
            for pair in palette.shades.windows(2) {
                assert!(contrast(pair[0], pair[1]) >= 1.3, "{pair:?}");
                assert!(contrast(pair[1], palette.paper) > contrast(pair[0], palette.paper));
            }
        }
    }

    #[test]
    fn a_chosen_theme_does_not_follow_the_reader() {
        assert!(!Theme::Light.style_sheet().contains("prefers-color-scheme"));
        assert!(!Theme::Dark.style_sheet().contains("prefers-color-scheme"));
        assert!(Theme::Auto.style_sheet().contains(DARK.paper));
        assert!(Theme::NAMES.iter().all(|name| Theme::parse(name).is_some()));
    }
}
