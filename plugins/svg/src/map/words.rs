//! A map in words: subtitle, notes, and the description for readers who do not see it
//! (contract-9-svg-access).

use std::fmt::Write as _;

use yearbook_sdk::text::CivilDate;

use super::MapPicture;
use super::graticule::{latitude, longitude};
use super::shading::Shading;
use crate::line::{counted, grouped, push_count};
use crate::number::{exact, whole};
use crate::picture::Words;
use crate::xml::one_line;

/// Features at most of which the description has each figure.
const MOST_FIGURES: usize = 60;

impl MapPicture {
    /// Words around the map. `cut` has the number of parts that have room, and of all.
    pub(super) fn words(&self, shading: &Shading, cut: Option<(usize, usize)>) -> Words {
        let mut notes = self.notes(shading);
        if let Some((parts, of)) = cut {
            let (parts, of) = (grouped(parts as u64), grouped(of as u64));
            notes.push(format!("The first {parts} of {of} lines and areas have room."));
        }
        Words {
            source: self.credit.source.clone(),
            title: self.credit.title.clone(),
            subtitle: self.subtitle(shading),
            description: self.description(shading, &notes),
            notes,
            credit: self.credit.line.clone(),
        }
    }

    /// The name of a feature and its value, as far as they are there.
    pub(super) fn figures_in_words(&self, feature: usize, shading: &Shading) -> Option<String> {
        let name = self.shapes.features()[feature].figures.name.as_deref();
        let value = shading.is_shown().then(|| match shading.values[feature] {
            Some(value) => self.with_unit(exact(value)),
            None => "no data".to_owned(),
        });
        match (name, value) {
            (Some(name), Some(value)) => Some(format!("{name}: {value}")),
            (name, value) => name.map(str::to_owned).or(value),
        }
    }

    fn with_unit(&self, value: String) -> String {
        match self.value.as_ref().and_then(|field| field.unit()) {
            Some(unit) => format!("{value} {}", one_line(unit)),
            None => value,
        }
    }

    /// Number of features.
    fn features(&self) -> String {
        let features = self.rows - self.unplaced - self.misplaced;
        match self.credit.sampled_rows.filter(|all| *all > self.rows) {
            Some(all) => format!("{} of {} features", grouped(features), grouped(all)),
            None if self.shapes.older > 0 => {
                let shapes = self.shapes.features().len() as u64 + self.shapes.hidden;
                counted(shapes, "feature", "features")
            }
            None => counted(features, "feature", "features"),
        }
    }

    /// The value column, its unit, the number of features, and their dates.
    fn subtitle(&self, shading: &Shading) -> String {
        let field = self.value.as_ref().filter(|_| shading.is_shown());
        let parts = [
            field.map(|field| field.name.clone()),
            field.and_then(|field| field.unit()).map(str::to_owned),
            Some(self.features()),
            shading.dates.map(|(first, last)| match [first, last].map(day) {
                [first, last] if first == last => first,
                [first, last] => format!("{first} to {last}"),
            }),
        ];
        one_line(&parts.into_iter().flatten().collect::<Vec<_>>().join(" · "))
    }

    fn notes(&self, shading: &Shading) -> Vec<String> {
        let mut notes = Vec::new();
        if shading.ambiguous > 0 {
            let features = counted(shading.ambiguous, "feature has", "features have");
            notes.push(format!(
                "{features} several rows for one date, so no value is drawn: ask for one of them."
            ));
        }
        if self.shapes.older > 0 && self.value.is_some() {
            let rows = counted(self.shapes.older, "older row is", "older rows are");
            notes.push(format!("Values are those of the newest date; {rows} left out."));
        }
        push_count(
            &mut notes,
            self.not_finite,
            "value is not finite and is",
            "values are not finite and are",
        );
        push_count(
            &mut notes,
            self.unplaced,
            "row has no geometry and is",
            "rows have no geometry and are",
        );
        push_count(
            &mut notes,
            self.misplaced,
            "row lies beyond the poles and is",
            "rows lie beyond the poles and are",
        );
        push_count(
            &mut notes,
            self.shapes.hidden,
            "feature is too small for a place of its own and is",
            "features are too small for places of their own and are",
        );
        notes
    }

    fn description(&self, shading: &Shading, notes: &[String]) -> String {
        let features = self.features();
        let mut words = if self.shapes.features().is_empty() {
            format!("Map with a dot at the centre of each of {features}.")
        } else if let Some(field) = self.value.as_ref().filter(|_| shading.is_shown()) {
            let unit = field.unit().map(|unit| format!(" ({unit})")).unwrap_or_default();
            format!("Map of the shapes of {features}, shaded by {}{unit}.", field.name)
        } else {
            format!("Map of the shapes of {features}.")
        };
        let _ = write!(words, " Drawn from {}.", counted(self.rows, "row", "rows"));
        self.push_figures(shading, &mut words);
        if let Some(bounds) = self.dots.bounds_with(self.shapes.bounds.clone()) {
            let _ = write!(
                words,
                " They lie between {} and {}, and between {} and {} (EPSG:4326).",
                latitude(bounds.south, hundredths),
                latitude(bounds.north, hundredths),
                longitude(bounds.west, hundredths),
                longitude(bounds.east, hundredths),
            );
        }
        for note in notes {
            words.push(' ');
            words.push_str(note);
        }
        if !self.credit.line.is_empty() {
            let _ = write!(words, " Credit: {}", self.credit.line);
        }
        words
    }

    /// Appends the classes, and the value of each feature where they are few, else the lowest and
    /// the highest.
    fn push_figures(&self, shading: &Shading, words: &mut String) {
        if !shading.is_shown() {
            return;
        }
        if let Some((first, last)) = shading.dates.map(|(first, last)| (day(first), day(last))) {
            let _ = match first == last {
                true => write!(words, " Values of {last}."),
                false => write!(words, " Values from {first} to {last}."),
            };
        }
        let mut classes: Vec<String> = Vec::new();
        for class in &shading.classes {
            classes.push(format!("{}, {} features", class.in_words(), grouped(class.count as u64)));
        }
        if shading.without > 0 {
            classes.push(format!("no data, {} features", grouped(shading.without as u64)));
        }
        let _ = write!(words, " Classes: {}.", classes.join("; "));
        let figure = |feature: usize| self.figures_in_words(feature, shading);
        let mut ranked: Vec<(f64, usize)> = Vec::new();
        for (feature, value) in shading.values.iter().enumerate() {
            ranked.extend(value.map(|value| (value, feature)));
        }
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
        if let (Some((_, highest)), Some((_, lowest))) = (ranked.first(), ranked.last())
            && let (Some(highest), Some(lowest)) = (figure(*highest), figure(*lowest))
        {
            let _ = write!(words, " Highest: {highest}. Lowest: {lowest}.");
        }
        let is_named =
            |(_, feature): &(f64, usize)| self.shapes.features()[*feature].figures.name.is_some();
        if ranked.len() <= MOST_FIGURES && ranked.iter().all(is_named) {
            let all = ranked.iter().map(|(value, feature)| {
                let name = self.shapes.features()[*feature].figures.name.as_deref();
                format!("{} {}", name.unwrap_or_default(), exact(*value))
            });
            let _ = write!(words, " All: {}.", all.collect::<Vec<_>>().join("; "));
        }
    }
}

fn day(place: f64) -> String {
    CivilDate::from_days(whole(place.floor())).iso()
}

/// Degrees rounded to hundredths.
#[expect(clippy::cast_precision_loss, reason = "hundredths of degrees are small numbers")]
fn hundredths(degrees: f64) -> String {
    exact(whole(degrees * 100.0) as f64 / 100.0)
}
