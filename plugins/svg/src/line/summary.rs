//! A line chart in words: subtitle, notes, and the description for readers who do not see it
//! (contract-9-svg-access).

use std::fmt::Write as _;

use yearbook_sdk::text::CivilDate;

use super::LineChart;
use super::legend::{drawn_marks, sentences};
use super::marks::{MarkedRows, Marks, StatusTotals};
use super::samples::{Point, SeriesSamples};
use super::series_book::{BookedSeries, MOST_CANDIDATES};
use super::series_name;
use crate::cells;
use crate::number::{exact, whole};
use crate::xml::one_line;

impl LineChart {
    /// The subtitle: columns, unit, and the parts of names that all series share.
    pub(super) fn subtitle(&self, drawn: &[&BookedSeries]) -> String {
        let units: Vec<_> = self.y.iter().map(|field| field.unit()).collect();
        let shared_unit = units
            .first()
            .copied()
            .flatten()
            .filter(|unit| units.iter().all(|other| other.as_ref() == Some(unit)));
        let column = match self.y.as_slice() {
            [one] => Some(one.name.clone()),
            _ => None,
        };
        let shared = drawn.first().map(|first| {
            let same = |part: &usize| {
                drawn.iter().all(|series| series.key.get(*part) == first.key.get(*part))
            };
            let parts = (0..first.key.len()).filter(same);
            let known = parts.filter_map(|part| first.key[part].clone()).map(Some);
            series_name::joined(&known.collect(), None)
        });
        let shared = shared.filter(|text| !text.is_empty());
        let parts = [column, shared, shared_unit.map(str::to_owned)];
        one_line(&parts.into_iter().flatten().collect::<Vec<_>>().join(" · "))
    }

    /// Sentences below the drawing: what is not drawn, and why.
    pub(super) fn notes(&self, drawn: &[&BookedSeries]) -> Vec<String> {
        let mut notes = Vec::new();
        let (count, is_exact) = self.series_count();
        if count > drawn.len() as u64 {
            let at_least = if is_exact { "" } else { "more than " };
            let verb = if drawn.len() == 1 { "is" } else { "are" };
            // The rows of a preview are those of one series that somebody else chose.
            let chosen = if self.credit.sampled_series.is_some() {
                String::new()
            } else if self.book.has_others() {
                format!(", those with the most points of the {MOST_CANDIDATES} that come first")
            } else {
                ", those with the most points".to_owned()
            };
            notes.push(format!(
                "{} of {at_least}{} series {verb} drawn{chosen}.",
                drawn.len(),
                grouped(count),
            ));
        }
        if let Some(from) = &self.credit.statuses_from {
            notes.push(format!("The marks of statuses begin at {from}: older ones are left out."));
        }
        for kind in self.other_kinds(drawn) {
            notes.push(format!("They are of {kind} alone: others may have another unit."));
        }
        notes.extend(self.other_lengths(drawn));
        if let (Some(only), Some(other), 0) =
            (&self.columns.only, &self.other_series, self.chosen_rows)
        {
            notes.push(format!(
                "None of {} has the series “{}”; the first has “{other}”.",
                counted(self.rows, "row", "rows"),
                one_line(only),
            ));
        }
        let candidates = self.book.candidates().iter();
        let not_finite = candidates.map(|series| series.samples.not_finite).sum();
        push_count(
            &mut notes,
            not_finite,
            "value is not finite and is",
            "values are not finite and are",
        );
        push_count(
            &mut notes,
            self.unplaced,
            "row has no place on the axis and is",
            "rows have no place on the axis and are",
        );
        notes
    }

    /// Says which periods are drawn where there are rows of others, such as years beside quarters.
    fn other_lengths(&self, drawn: &[&BookedSeries]) -> Option<String> {
        let own = drawn.first()?.length;
        let others = self.lengths.iter().filter(|(length, _)| **length != own);
        let others: Vec<String> = others
            .map(|(length, rows)| {
                format!("{} of {}", counted(*rows, "row", "rows"), length.plural())
            })
            .collect();
        let own = own.plural();
        (!others.is_empty()).then(|| format!("Only {own} are drawn: {} left out.", list(&others)))
    }

    /// Columns that say what is measured and their value of the drawn series, where further series
    /// have another value.
    fn other_kinds(&self, drawn: &[&BookedSeries]) -> Vec<String> {
        let Some(first) = drawn.first() else { return Vec::new() };
        let all = self.book.candidates();
        let differs = |kind: &&usize| all.iter().any(|one| one.key[**kind] != first.key[**kind]);
        let kinds = self.columns.kinds.iter().filter(differs).map(|kind| {
            let value = first.key[*kind].as_deref().unwrap_or("(none)");
            format!("{} “{}”", self.split[*kind].name, one_line(value))
        });
        kinds.collect()
    }

    /// The chart in words.
    pub(super) fn description(&self, drawn: &[&BookedSeries], names: &[String]) -> String {
        let columns: Vec<_> = self
            .y
            .iter()
            .map(|field| match field.unit() {
                Some(unit) => format!("{} ({unit})", field.name),
                None => field.name.clone(),
            })
            .collect();
        let mut words = format!("Line chart of {} by {}.", list(&columns), self.x.name);
        let rows = counted(self.rows, "row", "rows");
        let _ = match self.credit.sampled_rows.filter(|all| *all > self.rows) {
            Some(all) => {
                let points = counted(self.rows, "point", "points");
                write!(words, " Drawn from {points} of {} rows.", grouped(all))
            }
            None if self.columns.only.is_some() && self.chosen_rows < self.rows => {
                write!(words, " Drawn from {} of {rows}.", grouped(self.chosen_rows))
            }
            None => write!(words, " Drawn from {rows}."),
        };
        for (series, name) in drawn.iter().zip(names) {
            words.push(' ');
            words.push_str(&self.series_in_words(series, name));
        }
        for note in sentences(drawn_marks(drawn)).into_iter().chain(self.notes(drawn)) {
            words.push(' ');
            words.push_str(&note);
        }
        if !self.credit.line.is_empty() {
            let _ = write!(words, " Credit: {}", self.credit.line);
        }
        words
    }

    fn series_in_words(&self, series: &BookedSeries, name: &str) -> String {
        let samples = &series.samples;
        let (Some(latest), Some(min), Some(max)) = (samples.latest, samples.min, samples.max)
        else {
            return format!("{name}: no value.");
        };
        let figure = |point: Point| format!("{} on {}", exact(point.y), self.place(point.x));
        // Of some of the rows nobody knows how many have a value.
        let points = if self.credit.sampled_rows.is_some() {
            String::new()
        } else {
            format!("{}; ", counted(samples.points, "value", "values"))
        };
        let gaps = match samples.nulls {
            0 => String::new(),
            // Nor how many rows have no value.
            _ if self.credit.sampled_rows.is_some() => String::new(),
            nulls => format!("; {} without a value", counted(nulls, "row", "rows")),
        };
        format!(
            "{name}: {points}latest {}{}, lowest {}, highest {}{gaps}{}.",
            figure(latest),
            in_brackets(samples.latest_marks),
            figure(min),
            figure(max),
            self.marks_in_words(samples)
        )
    }

    /// Says which values are not final, and where the series breaks.
    fn marks_in_words(&self, samples: &SeriesSamples) -> String {
        let all = self.credit.statuses.unwrap_or(StatusTotals {
            marks: samples.marks,
            tentative: samples.tentative,
            breaks: samples.breaks,
        });
        let mut words = String::new();
        let mut push = |rows: &MarkedRows, one: &str, many: &str, rest: &str| {
            let Some((first, last)) = rows.extent else { return };
            let [first, last] = [first, last].map(|place| self.place(place));
            let _ = match rows.count {
                1 => write!(words, "; 1 {one}{rest} on {first}"),
                count => write!(words, "; {} {many}{rest} from {first} to {last}", grouped(count)),
            };
        };
        let reasons = format!(" not final{}", in_brackets(all.marks));
        push(&all.tentative, "value", "values", &reasons);
        push(&all.breaks, "break", "breaks", " in the series");
        words
    }

    /// Number of series, and whether it is exact.
    fn series_count(&self) -> (u64, bool) {
        let (count, is_exact) = self.book.count();
        match self.credit.sampled_series.filter(|all| *all > count as u64) {
            Some(all) => (all, true),
            None => (count as u64, is_exact),
        }
    }

    fn place(&self, x: f64) -> String {
        if cells::is_calendar(&self.x) {
            CivilDate::from_days(whole(x.floor())).iso()
        } else {
            exact(x)
        }
    }
}

/// Says in brackets why values are not final; nothing of final ones.
fn in_brackets(marks: Marks) -> String {
    if marks.is_tentative() { format!(" ({})", marks.reasons()) } else { String::new() }
}

/// Appends a sentence of how many there are; none of none.
pub(crate) fn push_count(notes: &mut Vec<String>, count: u64, one: &str, many: &str) {
    if count > 0 {
        notes.push(format!("{} left out.", counted(count, one, many)));
    }
}

/// A count with what it counts: `1 row`, `2,000 rows`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// A count with its thousands apart.
pub(crate) fn grouped(count: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "rows of a table are far fewer than 2^53")]
    let count = count as f64;
    exact(count)
}

fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}
