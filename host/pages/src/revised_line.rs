//! A line of the preview as several versions showed it, from the facts that were stored with each
//! of them (contract-21-revised-line): no stored file is opened.

use std::collections::BTreeMap;

use yearbook_domain::preview_facts::{Figure, LinePoint};
use yearbook_domain::{Dataset, PreviewFacts, SnapshotSummary};
use yearbook_http::Error;

use crate::PagesState;

/// Earlier versions that are shown at most: more lines cannot be told apart.
const MAX_EARLIER: usize = 5;

/// Points that are shown before the first one that was revised.
const POINTS_BEFORE: usize = 8;

/// A line as several versions showed it, from shortly before the first point that one of them
/// revised.
pub(crate) struct RevisedLine {
    /// Its place among the lines of the current version.
    pub(crate) place: usize,
    /// Versions, oldest first; the last is the current one.
    pub(crate) versions: Vec<LineVersion>,
}

/// A line as one version showed it.
pub(crate) struct LineVersion {
    /// Day of its publication, or the time where several are of one day.
    pub(crate) published: String,
    /// Dates ascending.
    pub(crate) line: Vec<LinePoint>,
}

impl RevisedLine {
    /// Finds the line that retained versions revised most, or the one in the place `asked`; `None`
    /// where none was revised. `facts` are those of the current version.
    pub(crate) async fn find(
        app: &PagesState,
        dataset: &Dataset,
        facts: &PreviewFacts,
        asked: Option<usize>,
    ) -> Result<Option<Self>, Error> {
        let mut versions = Vec::new();
        for before in revised_versions(&dataset.snapshots) {
            let known = app.core.catalog_cache.preview_facts(dataset, &before.id).await?;
            versions.extend(known.map(|facts| (before, facts)));
        }
        let Some(newest) = dataset.snapshots.last() else { return Ok(None) };
        let earlier: Vec<_> =
            versions.iter().map(|(version, facts)| (*version, &**facts)).collect();
        Ok(Self::choose((newest, facts), &earlier, asked))
    }

    /// Chooses a line among those of the current version; `earlier` come newest first.
    fn choose(
        current: (&SnapshotSummary, &PreviewFacts),
        earlier: &[(&SnapshotSummary, &PreviewFacts)],
        asked: Option<usize>,
    ) -> Option<Self> {
        let drawn = &current.1.series.as_ref()?.drawn;
        let places = (0..drawn.len()).filter(|place| asked.is_none_or(|asked| asked == *place));
        let revised = places.filter_map(|place| {
            let own = drawn.get(place)?;
            let mut lines: Vec<(&SnapshotSummary, &[LinePoint])> = vec![(current.0, &own.line)];
            for (version, facts) in earlier {
                let series = facts.series.as_ref();
                let same =
                    series.and_then(|series| series.drawn.iter().find(|drawn| drawn.id == own.id));
                let newer = lines.last().map_or(&[][..], |(_, line)| line);
                if let Some(line) = same.map(|drawn| drawn.line.as_slice())
                    && largest_revision(line, newer) > 0.0
                {
                    lines.push((version, line));
                }
            }
            let steps = lines.windows(2).map(|pair| largest_revision(pair[1].1, pair[0].1));
            Some((steps.fold(0.0, f64::max), place, lines))
        });
        // The first of equals is the one that the page shows.
        let (most, place, lines) =
            revised.reduce(|one, other| if other.0 > one.0 { other } else { one })?;
        (most > 0.0).then(|| Self::new(place, &lines))
    }

    /// Cuts the lines, which come newest first.
    fn new(place: usize, lines: &[(&SnapshotSummary, &[LinePoint])]) -> Self {
        let revised = lines.windows(2).filter_map(|pair| first_revised_day(pair[1].1, pair[0].1));
        let first = revised.min().unwrap_or(i32::MIN);
        let current = lines.first().map_or(&[][..], |(_, line)| line);
        let begin = current.partition_point(|point| point.day < first);
        let from =
            current.get(begin.saturating_sub(POINTS_BEFORE)).map_or(first, |point| point.day);
        let one_a_day =
            lines.windows(2).all(|pair| pair[0].0.created_at.date() != pair[1].0.created_at.date());
        let versions = lines.iter().rev().map(|(version, line)| LineVersion {
            published: if one_a_day {
                version.created_at.date().to_string()
            } else {
                version.created_at.to_rfc3339()
            },
            line: line.iter().filter(|point| point.day >= from.min(first)).copied().collect(),
        });
        Self { place, versions: versions.collect() }
    }

    /// Returns what differs between two lines of one current version.
    pub(crate) fn name(&self) -> String {
        let published: Vec<&str> =
            self.versions.iter().map(|version| version.published.as_str()).collect();
        format!("{} {}", self.place, published.join(" "))
    }

    /// Returns the days of points that versions showed differently, ascending, each with the value
    /// in every version; `None` where a version had none.
    pub(crate) fn revised_points(&self) -> Vec<(LinePoint, Vec<Option<Figure>>)> {
        let mut days: BTreeMap<i32, Vec<Option<Figure>>> = BTreeMap::new();
        for (index, version) in self.versions.iter().enumerate() {
            for point in &version.line {
                let values =
                    days.entry(point.day).or_insert_with(|| vec![None; self.versions.len()]);
                if let Some(value) = values.get_mut(index) {
                    *value = point.value;
                }
            }
        }
        let is_revised = |values: &[Option<Figure>]| {
            let mut known = values.iter().flatten();
            let first = known.next();
            known.any(|value| Some(value) != first)
        };
        days.into_iter()
            .filter(|(_, values)| is_revised(values))
            .map(|(day, values)| (LinePoint { day, value: None }, values))
            .collect()
    }
}

/// The versions before those that revised something, newest first.
fn revised_versions(versions: &[SnapshotSummary]) -> impl Iterator<Item = &SnapshotSummary> {
    let revises = |version: &SnapshotSummary| {
        version.changes.is_some_and(|changes| changes.updated + changes.deleted > 0)
    };
    let pairs = versions.iter().zip(versions.iter().skip(1)).rev();
    pairs.filter(move |(_, next)| revises(next)).map(|(before, _)| before).take(MAX_EARLIER)
}

/// Values that both lines have for a day.
fn common<'a>(
    one: &'a [LinePoint],
    other: &'a [LinePoint],
) -> impl Iterator<Item = (i32, Figure, Figure)> + 'a {
    one.iter().filter_map(|point| {
        let same = other.binary_search_by_key(&point.day, |other| other.day).ok()?;
        Some((point.day, point.value?, other.get(same)?.value?))
    })
}

/// The greatest difference of two lines on one day, as a share of the greater amount.
fn largest_revision(before: &[LinePoint], after: &[LinePoint]) -> f64 {
    let shares = common(before, after).map(|(_, before, after)| {
        let (before, after) = (before.as_f64(), after.as_f64());
        let greater = before.abs().max(after.abs());
        if before == after { 0.0 } else { (before - after).abs() / greater }
    });
    shares.fold(0.0, f64::max)
}

/// The first day for which two lines differ.
fn first_revised_day(before: &[LinePoint], after: &[LinePoint]) -> Option<i32> {
    common(before, after).find(|(_, before, after)| before != after).map(|(day, ..)| day)
}
