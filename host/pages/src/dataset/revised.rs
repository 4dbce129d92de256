//! A line that versions revised, as a picture and as a table (contract-21-revised-line).

use yearbook_domain::preview_facts::{LinePoint, SeriesPreview};

use super::preview::{ChartAddress, NOTHING, PictureUrls};
use crate::figures::{and_more, figure};
use crate::revised_line::RevisedLine;

/// Points in the table at most, the newest.
const MAX_POINTS: usize = 12;

/// A line that versions revised.
pub(super) struct RevisedView {
    /// Name of the line.
    pub(super) label: String,
    pub(super) unit: Option<String>,
    /// None where nothing draws.
    pub(super) picture: Option<PictureUrls>,
    /// Days of publication.
    pub(super) versions: Vec<String>,
    /// Points that were revised, newest first: the date, and the value in each version.
    pub(super) points: Vec<(String, Vec<String>)>,
    /// "and 12 more points".
    pub(super) left_out: Option<String>,
}

impl RevisedView {
    /// `None` where the line is not among those of `series`.
    pub(super) fn new(
        revised: &RevisedLine,
        series: &SeriesPreview,
        unit: impl FnOnce(&str) -> Option<String>,
        chart: Option<ChartAddress<'_>>,
    ) -> Option<Self> {
        let drawn = series.drawn.get(revised.place)?;
        let points = revised.revised_points();
        let left_out = points.len().saturating_sub(MAX_POINTS) as u64;
        let cell = |value: Option<_>| value.map_or_else(|| NOTHING.to_owned(), figure);
        let line = |(point, values): (LinePoint, Vec<_>)| {
            (point.date(), values.into_iter().map(cell).collect())
        };
        Some(Self {
            label: series.label(drawn),
            unit: unit(&drawn.column),
            picture: chart.map(|chart| chart.revisions(&drawn.id)),
            versions: revised.versions.iter().map(|version| version.published.clone()).collect(),
            points: points.into_iter().rev().take(MAX_POINTS).map(line).collect(),
            left_out: and_more(left_out, "point", "points"),
        })
    }
}
