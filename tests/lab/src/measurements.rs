//! Measurements as one flat list, so that tables, targets and JSON all read the same numbers.

use std::collections::BTreeMap;

use serde::Serialize;

/// Measurement of one peer in one case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Measurement {
    /// `encode`, `plugins`, `requests`, `exports`, `growth` or `publishing`.
    pub(crate) part: &'static str,
    /// The work, such as `csv long`.
    pub(crate) case: String,
    /// The peer that did it.
    pub(crate) who: String,
    /// Reason why there is no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cannot: Option<String>,
    /// Name (which gives the unit) and value.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) values: BTreeMap<&'static str, f64>,
    /// Remark for readers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// All of them, in the order in which they were measured.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Measurements(Vec<Measurement>);

impl Measurements {
    /// Adds values.
    pub(crate) fn add(
        &mut self,
        part: &'static str,
        case: &str,
        who: &str,
        values: impl IntoIterator<Item = (&'static str, f64)>,
    ) {
        self.push(part, case, who, None, values.into_iter().collect(), None);
    }

    /// Adds a case that a peer cannot do, with the reason.
    pub(crate) fn add_unsupported(
        &mut self,
        part: &'static str,
        case: &str,
        who: &str,
        reason: &str,
    ) {
        self.push(part, case, who, Some(reason.to_owned()), BTreeMap::new(), None);
    }

    /// Adds a remark to the last measurement.
    pub(crate) fn note(&mut self, note: Option<String>) {
        if let (Some(figure), Some(note)) = (self.0.last_mut(), note) {
            figure.note = Some(note);
        }
    }

    fn push(
        &mut self,
        part: &'static str,
        case: &str,
        who: &str,
        cannot: Option<String>,
        values: BTreeMap<&'static str, f64>,
        note: Option<String>,
    ) {
        // At once, for a person who watches, and in case the rest never ends.
        println!(
            "   {who}: {}",
            cannot.clone().unwrap_or_else(|| serde_json::json!(values).to_string())
        );
        self.0.push(Measurement {
            part,
            case: case.to_owned(),
            who: who.to_owned(),
            cannot,
            values,
            note,
        });
    }

    /// A value, where it was measured.
    pub(crate) fn value(&self, part: &str, case: &str, who: &str, name: &str) -> Option<f64> {
        self.get(part, case, who)?.values.get(name).copied()
    }

    /// Returns everything about one peer in one case.
    pub(crate) fn get(&self, part: &str, case: &str, who: &str) -> Option<&Measurement> {
        self.0.iter().find(|figure| figure.part == part && figure.case == case && figure.who == who)
    }

    /// Cases of a part, in order.
    pub(crate) fn cases(&self, part: &str) -> Vec<&str> {
        let mut cases: Vec<&str> = Vec::new();
        for figure in self.0.iter().filter(|figure| figure.part == part) {
            if !cases.contains(&figure.case.as_str()) {
                cases.push(&figure.case);
            }
        }
        cases
    }

    /// Figures of a case, in order.
    pub(crate) fn in_case<'a>(
        &'a self,
        part: &'a str,
        case: &'a str,
    ) -> impl Iterator<Item = &'a Measurement> {
        self.0.iter().filter(move |figure| figure.part == part && figure.case == case)
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
    let mut below = sorted
        .iter()
        .enumerate()
        .filter(|(index, _)| (*index as f64) <= part * sorted.len() as f64);
    below.next_back().map_or(f64::NAN, |(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_names() {
        let mut figures = Measurements::default();
        figures.add("encode", "csv long", "native", [("seconds", 2.0)]);
        figures.add_unsupported("encode", "csv long", "abacus", "too slow");
        assert_eq!(figures.value("encode", "csv long", "native", "seconds"), Some(2.0));
        assert_eq!(figures.value("encode", "csv long", "abacus", "seconds"), None);
        assert_eq!(figures.cases("encode"), ["csv long"]);
    }

    #[test]
    fn the_median_ignores_one_disturbed_run() {
        assert!((median(&[1.0, 900.0, 2.0, 3.0, 1.5]) - 2.0).abs() < f64::EPSILON);
    }
}
