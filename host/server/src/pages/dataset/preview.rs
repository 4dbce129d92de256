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
use crate::pages::figures::{count, figure};

/// Cell without a value.
const NOTHING: &str = "–";

/// The preview of one snapshot.
pub(crate) struct PreviewView<'a> {
    pub(crate) values: Vec<FigureLine<'a>>,
    pub(crate) values_left_out: u64,
    pub(crate) series: Option<SeriesView>,
    pub(crate) map: Option<MapView>,
    pub(crate) latest: LatestView<'a>,
}

/// Figures of a value column or of a series, as text.
pub(crate) struct FigureLine<'a> {
    pub(crate) column: &'a str,
    pub(crate) unit: Option<&'a str>,
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
        let map = facts.centroids.as_ref().map(|sample| MapView::new(sample, snapshot, chart));
        Self {
            values: facts.values.iter().map(|value| FigureLine::new(value, snapshot)).collect(),
            values_left_out: facts.values_left_out,
            // A map says more about places than a line through them.
            series: facts
                .series
                .as_ref()
                .filter(|_| map.is_none())
                .and_then(|series| SeriesView::new(series, snapshot, chosen, chart)),
            map,
            latest: LatestView::new(&facts.latest, snapshot),
        }
    }
}

impl<'a> FigureLine<'a> {
    fn new(value: &'a ValueFacts, snapshot: &'a Snapshot) -> Self {
        Self::from_figures(
            &value.column,
            unit(snapshot, &value.column),
            (value.points, value.excluded),
            value.latest.as_ref(),
            (value.min, value.max),
        )
    }

    fn from_figures(
        column: &'a str,
        unit: Option<&'a str>,
        (points, excluded): (u64, u64),
        latest: Option<&DatedFigure>,
        (min, max): (Option<Figure>, Option<Figure>),
    ) -> Self {
        Self {
            column,
            unit,
            points: count(points),
            excluded: (excluded > 0).then(|| format!("{} NaN or infinite", count(excluded))),
            latest: latest.map_or_else(|| NOTHING.to_owned(), |dated| figure(dated.value)),
            latest_date: latest.map(|dated| dated.date.clone()),
            min: figure_or_nothing(min),
            max: figure_or_nothing(max),
        }
    }
}

/// The unit of the column called `name`.
fn unit<'a>(snapshot: &'a Snapshot, name: &str) -> Option<&'a str> {
    snapshot.column(name)?.unit.as_deref()
}

fn figure_or_nothing(value: Option<Figure>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), figure)
}
