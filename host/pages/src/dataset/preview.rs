//! The preview of a dataset as a page shows it: figures of value columns, one series or a map with
//! the same numbers as a table, and the latest rows (contract-9-series-preview,
//! contract-9-spatial-preview, contract-9-latest-rows). Only words and cells; the numbers are those
//! of the facts.

mod latest;
mod map;
mod series;

use yearbook_domain::preview_facts::{DatedFigure, Figure, ValueFacts};
use yearbook_domain::{PreviewFacts, Snapshot};

use self::latest::LatestView;
use self::map::MapView;
use self::series::SeriesView;
use super::ChosenSeries;
use crate::figures::{and_more, figure, range, whole};

/// Cell without a value.
pub(super) const NOTHING: &str = "–";

/// The preview of one snapshot.
pub(crate) struct PreviewView<'a> {
    /// Figures of value columns by unit: one unit at a time (contract-15-units).
    pub(crate) units: Vec<UnitFigures<'a>>,
    /// "and 12 more columns".
    pub(crate) values_left_out: Option<String>,
    /// True where a value column has a unit.
    pub(crate) has_units: bool,
    /// Columns of the table of figures.
    pub(crate) figure_columns: usize,
    /// True where a value column has a latest value.
    pub(crate) has_latest: bool,
    /// True where a value column has a smallest and a greatest value.
    pub(crate) has_ranges: bool,
    /// True where a range was left out, since values may be of several kinds.
    pub(crate) is_mixed: bool,
    pub(crate) series: Option<SeriesView>,
    pub(crate) map: Option<MapView>,
    pub(crate) latest: LatestView<'a>,
}

/// Figures of the value columns of one unit, or of those without a unit.
pub(crate) struct UnitFigures<'a> {
    pub(crate) unit: Option<&'a str>,
    pub(crate) lines: Vec<FigureLine<'a>>,
}

/// Figures of a value column or of a series, as text.
pub(crate) struct FigureLine<'a> {
    pub(crate) column: &'a str,
    pub(crate) points: String,
    /// "3 NaN or infinite", where there are any.
    pub(crate) excluded: Option<String>,
    pub(crate) latest: String,
    /// Date of the latest value.
    pub(crate) latest_date: Option<String>,
    pub(crate) min: String,
    pub(crate) max: String,
}

/// Addresses of one picture.
pub(crate) struct PictureUrls {
    /// For screens of 320 pixels.
    pub(crate) narrow: String,
    pub(crate) wide: String,
}

/// The address of a dataset's pictures, without parameters.
#[derive(Clone, Copy)]
pub(crate) struct ChartAddress<'a>(pub(crate) &'a str);

impl ChartAddress<'_> {
    /// The picture of how versions revised the series with `id`.
    pub(super) fn revisions(self, id: &str) -> PictureUrls {
        let wide = format!("{}?series={id}&revisions=true", self.0);
        PictureUrls { narrow: format!("{wide}&width=320"), wide }
    }

    /// The picture of the series with `id`; none: the one that is drawn without being asked for.
    fn picture(self, id: Option<&str>) -> PictureUrls {
        let address = self.0;
        match id {
            Some(id) => PictureUrls {
                narrow: format!("{address}?series={id}&width=320"),
                wide: format!("{address}?series={id}"),
            },
            None => {
                PictureUrls { narrow: format!("{address}?width=320"), wide: address.to_owned() }
            }
        }
    }
}

impl<'a> PreviewView<'a> {
    pub(super) fn new(
        facts: &'a PreviewFacts,
        snapshot: &'a Snapshot,
        chosen: ChosenSeries,
        chart: Option<ChartAddress<'_>>,
    ) -> Self {
        let units = group_by(&facts.values, |value| unit(snapshot, &value.column));
        let units = units.into_iter().map(|(unit, values)| {
            let lines = values.into_iter().map(|value| FigureLine::new(value, snapshot));
            UnitFigures { unit, lines: lines.collect() }
        });
        let units: Vec<UnitFigures<'_>> = units.collect();
        let has_latest = facts.values.iter().any(|value| value.latest.is_some());
        let has_ranges = facts.values.iter().any(|value| range(value, snapshot).is_some());
        let is_mixed = |value: &ValueFacts| value.points > 0 && range(value, snapshot).is_none();
        let map = facts.centroids.as_ref().map(|sample| MapView::new(sample, snapshot, chart));
        Self {
            values_left_out: and_more(facts.values_left_out, "column", "columns"),
            has_units: units.iter().any(|one| one.unit.is_some()),
            figure_columns: 2 + 2 * (usize::from(has_latest) + usize::from(has_ranges)),
            has_latest,
            has_ranges,
            is_mixed: facts.values.iter().any(is_mixed),
            units,
            // A map says more about places than a line through them.
            series: match map {
                Some(_) => None,
                None => SeriesView::new(facts, snapshot, chosen, chart),
            },
            map,
            latest: LatestView::new(&facts.latest, snapshot),
        }
    }
}

impl<'a> FigureLine<'a> {
    fn new(value: &'a ValueFacts, snapshot: &'a Snapshot) -> Self {
        Self::from_figures(
            &value.column,
            (value.points, value.excluded),
            value.latest.as_ref(),
            range(value, snapshot),
        )
    }

    fn from_figures(
        column: &'a str,
        (points, excluded): (u64, u64),
        latest: Option<&DatedFigure>,
        range: Option<(Figure, Figure)>,
    ) -> Self {
        Self {
            column,
            points: figure(whole(points)),
            excluded: (excluded > 0)
                .then(|| format!("{} NaN or infinite", figure(whole(excluded)))),
            latest: latest.map_or_else(|| NOTHING.to_owned(), |dated| figure(dated.value)),
            latest_date: latest.map(|dated| dated.date.clone()),
            min: figure_or_nothing(range.map(|(min, _)| min)),
            max: figure_or_nothing(range.map(|(_, max)| max)),
        }
    }
}

/// The unit of the column called `name`.
fn unit<'a>(snapshot: &'a Snapshot, name: &str) -> Option<&'a str> {
    snapshot.column(name)?.unit.as_deref()
}

/// Things with the same key together, in the order in which the first of each comes.
fn group_by<'a, T, K: PartialEq>(
    things: &'a [T],
    key: impl Fn(&'a T) -> K,
) -> Vec<(K, Vec<&'a T>)> {
    let mut groups: Vec<(K, Vec<&T>)> = Vec::new();
    for thing in things {
        let own = key(thing);
        match groups.iter_mut().find(|(key, _)| *key == own) {
            Some((_, group)) => group.push(thing),
            None => groups.push((own, vec![thing])),
        }
    }
    groups
}

fn figure_or_nothing(value: Option<Figure>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), figure)
}
