//! The bound of stored facts, and the order in which they lose detail to keep it (decision 0250).

use super::{MAX_FACTS_BYTES, PreviewCell, PreviewFacts, cut_text};

/// Points of a line below which a series is left out instead of reduced further.
const FEWEST_POINTS: usize = 32;

/// Other series that keep their finer lines as long as they can.
const SERIES_BEFORE_DETAIL: usize = 8;

/// Characters of cells and of names of series, from whole to least.
const CELL_CHARACTERS: [usize; 4] = [100, 50, 25, 12];

impl PreviewFacts {
    /// Returns the facts with as little detail left out as [`MAX_FACTS_BYTES`] asks for. Series
    /// beyond the first nine go first, then points of all but the named one, then these series,
    /// then the ends of texts, then columns of the latest rows. The figures of value columns, the
    /// named series and the centroids always stay: their own bounds keep them below the limit.
    #[must_use]
    pub fn fit(mut self) -> Self {
        while self.to_json().len() > MAX_FACTS_BYTES {
            if !(self.drop_series(1 + SERIES_BEFORE_DETAIL)
                || self.thin_lines()
                || self.drop_series(1)
                || self.shorten_texts()
                || self.drop_columns())
            {
                break;
            }
        }
        self
    }

    /// Leaves out a quarter of the series, down to `keep`; false where there is nothing to do.
    fn drop_series(&mut self, keep: usize) -> bool {
        let Some(series) = &mut self.series else { return false };
        let count = series.drawn.len();
        series.drawn.truncate(keep.max(count - count.div_ceil(4)).min(count));
        series.drawn.len() < count
    }

    /// Halves the lines of all but the named series.
    fn thin_lines(&mut self) -> bool {
        let others = self.series.iter_mut().flat_map(|series| series.drawn.iter_mut().skip(1));
        let mut thinned = false;
        for series in others.filter(|series| series.line.len() / 2 >= FEWEST_POINTS) {
            let before = series.line.len();
            series.thin(before / 2);
            thinned |= series.line.len() < before;
        }
        thinned
    }

    /// Cuts every text at the next smaller number of characters.
    fn shorten_texts(&mut self) -> bool {
        let longest = self.longest_text();
        let Some(characters) = CELL_CHARACTERS.into_iter().find(|next| *next < longest) else {
            return false;
        };
        for cell in self.latest.rows.iter_mut().flatten() {
            if let PreviewCell::Text(text) | PreviewCell::CutText(text) = cell
                && cut_text(text, characters).len() < text.len()
            {
                *cell = PreviewCell::CutText(cut_text(text, characters).to_owned());
            }
        }
        for series in self.series.iter_mut().flat_map(|series| &mut series.drawn) {
            series.cut_key(characters);
        }
        true
    }

    /// Characters of the longest text.
    fn longest_text(&self) -> usize {
        let cells = self.latest.rows.iter().flatten().map(|cell| match cell {
            PreviewCell::Text(text) | PreviewCell::CutText(text) => text.chars().count(),
            _ => 0,
        });
        let series = self.series.iter().flat_map(|series| &series.drawn);
        let keys = series.flat_map(|series| series.key.iter().flatten());
        cells.chain(keys.map(|value| value.chars().count())).max().unwrap_or_default()
    }

    /// Leaves out the second half of the latest rows' columns.
    fn drop_columns(&mut self) -> bool {
        let count = self.latest.columns.len();
        let keep = count / 2;
        self.latest.columns.truncate(keep);
        self.latest.rows.iter_mut().for_each(|row| row.truncate(keep));
        self.latest.columns_left_out += (count - keep) as u64;
        keep < count
    }
}
