//! Measurements as one flat list, so that tables, targets and JSON all read the same numbers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Between the names of several peers, of which the best counts.
const OR: &str = " or ";

/// Measurement of one peer in one case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measurement {
    /// Kind of work, such as `encode`, `requests` or `publishing`.
    pub(crate) part: String,
    /// The work, such as `csv long`.
    pub(crate) case: String,
    /// The peer that did it.
    pub(crate) who: String,
    /// Reason why there is no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cannot: Option<String>,
    /// Name (which gives the unit) and value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) values: BTreeMap<String, f64>,
    /// Remark for readers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

impl Measurement {
    /// A value with the three digits that count, or why there is none; empty if it is not known.
    pub(crate) fn number(&self, name: &str) -> String {
        let number = || self.values.get(name).copied().map(format_number);
        self.cannot.clone().or_else(number).unwrap_or_default()
    }

    /// Cells of a table: values, nothing for each that is not known, or why there is none.
    pub(crate) fn cells<N: AsRef<str>>(&self, names: impl IntoIterator<Item = N>) -> String {
        let cells = names.into_iter().enumerate().map(|(at, name)| match &self.cannot {
            Some(reason) if at == 0 => reason.clone(),
            Some(_) => String::new(),
            None => self.number(name.as_ref()),
        });
        cells.collect::<Vec<_>>().join(" | ")
    }

    /// The peer, with the remark.
    pub(crate) fn noted_peer(&self) -> String {
        let Self { who, note, .. } = self;
        note.as_ref().map_or_else(|| who.clone(), |note| format!("{who} ({note})"))
    }
}

/// All of them, in the order in which they were measured.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Measurements(Vec<Measurement>);

impl Measurements {
    /// Adds values.
    pub(crate) fn add<'a>(
        &mut self,
        part: &str,
        case: &str,
        who: &str,
        values: impl IntoIterator<Item = (&'a str, f64)>,
    ) {
        self.push(Measurement {
            part: part.to_owned(),
            case: case.to_owned(),
            who: who.to_owned(),
            values: values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            ..Measurement::default()
        });
    }

    /// Adds a case that a peer cannot do, with the reason.
    pub(crate) fn add_unsupported(&mut self, part: &str, case: &str, who: &str, reason: &str) {
        self.push(Measurement {
            part: part.to_owned(),
            case: case.to_owned(),
            who: who.to_owned(),
            cannot: Some(reason.to_owned()),
            ..Measurement::default()
        });
    }

    /// Adds one, and prints it at once, for a person who watches, and in case the rest never ends.
    pub(crate) fn push(&mut self, measurement: Measurement) {
        let Measurement { case, who, cannot, values, .. } = &measurement;
        let numbers = || serde_json::json!(values).to_string();
        println!("   {case}: {who}: {}", cannot.clone().unwrap_or_else(numbers));
        self.0.push(measurement);
    }

    /// Adds a remark to the last measurement.
    pub(crate) fn note(&mut self, note: Option<String>) {
        if let (Some(figure), Some(note)) = (self.0.last_mut(), note) {
            figure.note = Some(note);
        }
    }

    /// Returns everything about one peer in one case.
    pub(crate) fn get(&self, part: &str, case: &str, who: &str) -> Option<&Measurement> {
        self.of_part(part).into_iter().find(|figure| figure.case == case && figure.who == who)
    }

    /// A value, where it was measured; of `A or B`, the highest.
    pub(crate) fn value(&self, part: &str, case: &str, who: &str, name: &str) -> Option<f64> {
        let of = |who| self.get(part, case, who)?.values.get(name).copied();
        who.split(OR).filter_map(of).max_by(f64::total_cmp)
    }

    /// Cell of a table with one value.
    pub(crate) fn cell(&self, part: &str, case: &str, who: &str, name: &str) -> String {
        self.get(part, case, who).map(|figure| figure.number(name)).unwrap_or_default()
    }

    /// Cell of a table with the ratio of one peer's value to another's.
    pub(crate) fn ratio_cell(
        &self,
        part: &str,
        case: &str,
        over: &str,
        under: &str,
        name: &str,
    ) -> String {
        let value = |who| self.value(part, case, who, name);
        let ratio = value(over).zip(value(under)).map(|(over, under)| over / under);
        ratio.map(|ratio| format!("{} ×", format_number(ratio))).unwrap_or_default()
    }

    /// Figures of a part, in the order in which they were measured.
    pub(crate) fn of_part(&self, part: &str) -> Vec<&Measurement> {
        self.0.iter().filter(|figure| figure.part == part).collect()
    }

    /// Cases of a part, in order.
    pub(crate) fn cases(&self, part: &str) -> Vec<&str> {
        let mut cases: Vec<&str> = Vec::new();
        for figure in self.of_part(part) {
            if !cases.contains(&figure.case.as_str()) {
                cases.push(&figure.case);
            }
        }
        cases
    }

    /// Figures of a part, case by case.
    pub(crate) fn by_case(&self, part: &str) -> Vec<&Measurement> {
        let figures = self.of_part(part);
        let cases = self.cases(part);
        let of_case = |case| figures.iter().filter(move |figure| figure.case == case).copied();
        cases.into_iter().flat_map(of_case).collect()
    }
}

/// Formats a number with the three digits that count.
pub(crate) fn format_number(value: f64) -> String {
    match value.abs() {
        0.0..0.1 => format!("{value:.3}"),
        0.1..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// The middle one.
pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The value that so large a part of `values` lies below, 0 to 1; not a number where there is none.
pub(crate) fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = part * sorted.len() as f64;
    let below = sorted.iter().enumerate().take_while(|(index, _)| *index as f64 <= at);
    below.last().map_or(f64::NAN, |(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_names_and_of_several_peers_the_best() {
        let mut figures = Measurements::default();
        figures.add("encode", "csv long", "native", [("seconds", 2.0)]);
        figures.add("encode", "csv long", "polars", [("seconds", 4.0)]);
        figures.add_unsupported("encode", "csv long", "abacus", "too slow");
        let value = |who: &str| figures.value("encode", "csv long", who, "seconds");
        assert_eq!(value("native"), Some(2.0));
        assert_eq!(value("abacus"), None);
        assert_eq!(value("native or abacus or polars"), Some(4.0));
        assert_eq!(figures.cases("encode"), ["csv long"]);
        assert_eq!(
            figures.ratio_cell("encode", "csv long", "polars", "native", "seconds"),
            "2.00 ×"
        );
    }

    #[test]
    fn the_median_ignores_one_disturbed_run() {
        assert!((median(&[1.0, 900.0, 2.0, 3.0, 1.5]) - 2.0).abs() < f64::EPSILON);
    }

    #[test]
    fn numbers_have_three_digits_that_count() {
        for (value, expected) in
            [(0.0123, "0.012"), (0.5, "0.50"), (9.876, "9.88"), (12.34, "12.3"), (1234.6, "1235")]
        {
            assert_eq!(format_number(value), expected);
        }
    }
}
