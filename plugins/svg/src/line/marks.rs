//! Marks of a line: what the status of a value says of it (contract-21-chart-marks). Only the codes
//! of CL_OBS_STATUS are known; a list of the publisher's own has words alone, so nothing is drawn
//! of it.

use yearbook_sdk::Schema;

use crate::calendar::period_start;

/// Codes of values that are not final, with their words.
const TENTATIVE: [(&str, &str); 5] = [
    ("P", "provisional"),
    ("E", "estimated"),
    ("F", "forecast"),
    ("I", "imputed"),
    ("V", "unvalidated"),
];

/// Code of the first value after a break.
const BREAK: &str = "B";

/// The bit of a break; those of [`TENTATIVE`] are below it.
const BREAK_BIT: u8 = 1 << TENTATIVE.len();

/// Marks of a value, or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks(u8);

impl Marks {
    /// The marks of a code of CL_OBS_STATUS; most of them have none.
    #[must_use]
    pub fn of_status(code: &str) -> Self {
        let bit = TENTATIVE.iter().position(|(tentative, _)| *tentative == code);
        Self(match bit {
            Some(bit) => 1 << bit,
            None if code == BREAK => BREAK_BIT,
            None => 0,
        })
    }

    /// Returns whether a value is not final.
    #[must_use]
    pub fn is_tentative(self) -> bool {
        self.0 & !BREAK_BIT != 0
    }

    /// Returns whether the series breaks before a value.
    #[must_use]
    pub fn is_break(self) -> bool {
        self.0 & BREAK_BIT != 0
    }

    /// Marks of either.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Marks that remain where there is no value.
    #[must_use]
    pub fn without_value(self) -> Self {
        Self(self.0 & BREAK_BIT)
    }

    /// Says why values are not final: `provisional, estimated or forecast`.
    #[must_use]
    pub fn reasons(self) -> String {
        let said = TENTATIVE.iter().enumerate().filter(|(bit, _)| self.0 & 1 << bit != 0);
        let said: Vec<&str> = said.map(|(_, (_, word))| *word).collect();
        match said.as_slice() {
            [] => String::new(),
            [one] => (*one).to_owned(),
            [all @ .., last] => format!("{} or {last}", all.join(", ")),
        }
    }
}

/// Number of the rows with a mark, and where they lie.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MarkedRows {
    /// Number of them.
    pub count: u64,
    /// The first and the last place.
    pub extent: Option<(f64, f64)>,
}

impl MarkedRows {
    /// Adds a row.
    pub fn push(&mut self, x: f64) {
        self.push_rows(1, (x, x));
    }

    /// Adds rows, of which the first and the last are at these places.
    fn push_rows(&mut self, count: u64, (first, last): (f64, f64)) {
        self.count = self.count.saturating_add(count);
        let (low, high) = self.extent.unwrap_or((first, last));
        self.extent = Some((low.min(first), high.max(last)));
    }
}

/// Rows with a mark, of all rows of a series.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StatusTotals {
    /// Marks of any row.
    pub marks: Marks,
    /// Values that are not final.
    pub tentative: MarkedRows,
    /// Rows before which the series breaks.
    pub breaks: MarkedRows,
}

impl StatusTotals {
    /// Reads `P 12 2024-01-01 2024-12-01;B 1 …`: a code, the number of its rows, and the dates of
    /// the first and of the last. None for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut all = Self::default();
        for entry in text.split(';') {
            let mut words = entry.split(' ');
            let marks = Marks::of_status(words.next()?);
            let count: u64 = words.next()?.parse().ok()?;
            let mut date = || Some(crate::cells::float(period_start(words.next()?)?));
            let extent = (date()?, date()?);
            all.marks = all.marks.union(marks);
            if marks.is_tentative() {
                all.tentative.push_rows(count, extent);
            }
            if marks.is_break() {
                all.breaks.push_rows(count, extent);
            }
        }
        Some(all)
    }
}

/// Position of the column that tells of the value column `of` in codes of CL_OBS_STATUS.
#[must_use]
pub fn status_column(schema: &Schema, of: &str) -> Option<usize> {
    schema.fields.iter().position(|field| {
        // Names are snake_case, so nothing in this array of JSON is escaped.
        let mut names = field.metadata("yearbook.of").unwrap_or_default().split('"');
        field.metadata("yearbook.role") == Some("status")
            && field.metadata("yearbook.status") == Some("sdmx-obs")
            && names.any(|name| name == of)
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::super::samples::Bucket;
    use super::*;

    #[test]
    fn codes_of_sdmx_have_marks_and_no_other_text_has() {
        for (code, tentative, is_break) in [
            ("P", true, false),
            ("E", true, false),
            ("F", true, false),
            ("I", true, false),
            ("V", true, false),
            ("B", false, true),
            ("A", false, false),
            ("p", false, false),
            ("PB", false, false),
            ("", false, false),
        ] {
            let marks = Marks::of_status(code);
            assert_eq!((marks.is_tentative(), marks.is_break()), (tentative, is_break), "{code}");
            assert_eq!(marks.without_value().is_break(), is_break);
            assert!(!marks.without_value().is_tentative());
        }
        let both = Marks::of_status("F").union(Marks::of_status("P"));
        assert_eq!(both.union(Marks::of_status("B")).reasons(), "provisional or forecast");
    }

    #[test]
    fn totals_are_read_whole_or_not_at_all() {
        let text = "B 2 1970-01-03 1970-01-05;E 3 1970-01-02 1970-01-09;P 1 1970-01-01 1970-01-01;U 9 1960-01-01 1980-01-01";
        let all = StatusTotals::parse(text).unwrap();
        assert_eq!(all.tentative, MarkedRows { count: 4, extent: Some((0.0, 8.0)) });
        assert_eq!(all.breaks, MarkedRows { count: 2, extent: Some((2.0, 4.0)) });
        assert_eq!(all.marks.reasons(), "provisional or estimated");
        for wrong in
            ["", "P", "P x 1970-01-01 1970-01-01", "P 1 1970-01-01", "P 1 1970-02-30 1970-03-01"]
        {
            assert_eq!(StatusTotals::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn marks_take_no_memory_of_buckets() {
        assert_eq!(size_of::<Bucket>(), 72);
    }
}
