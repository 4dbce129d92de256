//! A line of the preview as several versions showed it, from the facts that were stored with each
//! of them (contract-21-revised-line): no stored file is opened.

use std::collections::BTreeMap;
use std::sync::Arc;

use yearbook_domain::preview_facts::{Figure, LinePoint};
use yearbook_domain::{Dataset, Millis, PreviewFacts, SnapshotSummary};
use yearbook_http::Error;

use crate::PagesState;

/// Earlier versions that are shown at most: more lines cannot be told apart.
const MAX_EARLIER: usize = 5;

/// Points that are shown before the first one that was revised.
const POINTS_BEFORE: usize = 8;

/// Facts of the current version, then of those before versions that revised something, newest
/// first, each with the time of its publication.
pub(crate) struct RevisedVersions(Vec<(Millis, Arc<PreviewFacts>)>);

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

impl RevisedVersions {
    /// Loads the versions that are retained and known; `facts` are those of the current version.
    pub(crate) async fn load(
        app: &PagesState,
        dataset: &Dataset,
        facts: &Arc<PreviewFacts>,
    ) -> Result<Self, Error> {
        let current = dataset.snapshots.last().map(|newest| (newest.created_at, Arc::clone(facts)));
        let mut versions = Vec::from_iter(current);
        for before in versions_before_revisions(&dataset.snapshots) {
            let known = app.core.catalog_cache.preview_facts(dataset, &before.id).await?;
            versions.extend(known.map(|facts| (before.created_at, facts)));
        }
        Ok(Self(versions))
    }

    /// Returns a name of what they decide, of one current version.
    pub(crate) fn name(&self) -> String {
        self.0.iter().map(|(at, facts)| format!("{} {} ", at.0, facts.version)).collect()
    }

    /// Returns the line that they revised most, or the one in the place `asked`; `None` where none
    /// was revised.
    pub(crate) fn most_revised(&self, asked: Option<usize>) -> Option<RevisedLine> {
        let (newest, earlier) = self.0.split_first()?;
        let drawn = &newest.1.series.as_ref()?.drawn;
        let places = drawn.iter().enumerate();
        let places = places.filter(|(place, _)| asked.is_none_or(|asked| asked == *place));
        let revised = places.map(|(place, own)| {
            let mut lines: Vec<(Millis, &[LinePoint])> = vec![(newest.0, &own.line)];
            let mut most = 0.0;
            for (at, facts) in earlier {
                let series = facts.series.as_ref();
                let same =
                    series.and_then(|series| series.drawn.iter().find(|drawn| drawn.id == own.id));
                let newer = lines.last().map_or(&[][..], |(_, line)| line);
                let Some(line) = same.map(|drawn| drawn.line.as_slice()) else { continue };
                let revision = largest_revision(line, newer);
                if revision > 0.0 {
                    lines.push((*at, line));
                    most = f64::max(most, revision);
                }
            }
            (most, place, lines)
        });
        // The first of equals is the one that the page shows.
        let (most, place, lines) =
            revised.reduce(|one, other| if other.0 > one.0 { other } else { one })?;
        (most > 0.0).then(|| RevisedLine::new(place, &lines))
    }
}

impl RevisedLine {
    /// Cuts the lines, which come newest first.
    fn new(place: usize, lines: &[(Millis, &[LinePoint])]) -> Self {
        let revised = lines.windows(2).filter_map(|pair| first_revised_day(pair[1].1, pair[0].1));
        let first = revised.min().unwrap_or(i32::MIN);
        let current = lines.first().map_or(&[][..], |(_, line)| line);
        let begin = current.partition_point(|point| point.day < first);
        let from =
            current.get(begin.saturating_sub(POINTS_BEFORE)).map_or(first, |point| point.day);
        let one_a_day = lines.windows(2).all(|pair| pair[0].0.date() != pair[1].0.date());
        let versions = lines.iter().rev().map(|(at, line)| LineVersion {
            published: if one_a_day { at.date().to_string() } else { at.to_rfc3339() },
            line: line.iter().filter(|point| point.day >= from.min(first)).copied().collect(),
        });
        Self { place, versions: versions.collect() }
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
fn versions_before_revisions(
    versions: &[SnapshotSummary],
) -> impl Iterator<Item = &SnapshotSummary> {
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
