//! The preview of a dataset as a page shows it: figures of value columns, one series or a map with
//! the same numbers as a table, and the latest rows (contract-9-series-preview,
//! contract-9-spatial-preview, contract-9-latest-rows). Only words and cells; the numbers are those
//! of the facts.

use std::borrow::Cow;

use yearbook_domain::preview_facts::{
    CentroidSample, DatedFigure, DrawnSeries, Figure, LatestRows, LinePoint, PreviewCell,
    SeriesPreview, ValueFacts,
};
use yearbook_domain::{ColumnType, PreviewFacts, Snapshot};

use super::ChosenSeries;
use crate::pages::figures::{count, counted, figure};

/// Cell without a value.
const NOTHING: &str = "–";

/// The preview of one snapshot.
pub(super) struct PreviewView<'a> {
    pub(super) values: Vec<FigureLine<'a>>,
    pub(super) values_left_out: u64,
    pub(super) series: Option<SeriesView>,
    pub(super) map: Option<MapView>,
    pub(super) latest: LatestView<'a>,
}

/// Figures of a value column or of a series, as text.
pub(super) struct FigureLine<'a> {
    pub(super) column: &'a str,
    pub(super) unit: Option<&'a str>,
    pub(super) points: String,
    /// "3 NaN or infinite", where there are any.
    pub(super) excluded: Option<String>,
    pub(super) latest: String,
    /// Date of the latest value.
    pub(super) latest_date: Option<String>,
    pub(super) min: String,
    pub(super) max: String,
}

/// One series that is drawn, with its numbers, and links to the others.
pub(super) struct SeriesView {
    /// Sentence about the number of series.
    pub(super) sentence: Option<String>,
    /// Name of the drawn one.
    pub(super) label: String,
    /// None where nothing draws.
    pub(super) picture: Option<PictureUrls>,
    /// True where the one that was asked for is not among those drawn.
    pub(super) not_found: bool,
    /// Its own figures, where other series share its column.
    pub(super) own: Option<FigureLine<'static>>,
    pub(super) description: String,
    pub(super) points: Vec<PointLine>,
    /// Sentence about points that the line leaves out.
    pub(super) reduced: Option<String>,
    pub(super) others: Vec<SeriesLink>,
    pub(super) others_left_out: Option<String>,
}

/// A point of the line.
pub(super) struct PointLine {
    pub(super) date: String,
    pub(super) value: String,
}

/// A link to another series.
pub(super) struct SeriesLink {
    pub(super) id: String,
    pub(super) label: String,
}

/// Centroids.
pub(super) struct MapView {
    /// "100 of 2,155 features".
    pub(super) sample: String,
    /// West, south, east, north.
    pub(super) bounds: Option<[String; 4]>,
    pub(super) points: Vec<[String; 2]>,
    /// None where nothing draws.
    pub(super) picture: Option<PictureUrls>,
    pub(super) description: String,
}

/// Addresses of one picture.
pub(super) struct PictureUrls {
    /// For screens of 320 pixels.
    pub(super) narrow: String,
    pub(super) wide: String,
}

/// The address of a dataset's pictures, without parameters.
#[derive(Clone, Copy)]
pub(super) struct ChartAddress<'a>(pub(super) &'a str);

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

/// The latest rows, or the first ones.
pub(super) struct LatestView<'a> {
    pub(super) title: String,
    pub(super) columns: Vec<LatestColumn<'a>>,
    pub(super) rows: Vec<Vec<CellView<'a>>>,
    /// "and 12 more columns".
    pub(super) left_out: Option<String>,
}

/// Head of a column.
pub(super) struct LatestColumn<'a> {
    pub(super) name: &'a str,
    pub(super) is_number: bool,
}

/// A cell.
pub(super) struct CellView<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) is_number: bool,
    pub(super) is_null: bool,
    pub(super) is_cut: bool,
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

impl SeriesView {
    /// None where nothing is drawn.
    fn new(
        series: &SeriesPreview,
        snapshot: &Snapshot,
        chosen: ChosenSeries,
        chart: Option<ChartAddress<'_>>,
    ) -> Option<Self> {
        let place = match chosen {
            ChosenSeries::Drawn(place) => place,
            ChosenSeries::Named | ChosenSeries::Unknown => 0,
        };
        let shown = series.drawn.get(place)?;
        let label = series.label(shown);
        let several = series.count > 1;
        let others_of = |(index, other): (usize, &DrawnSeries)| {
            (index != place)
                .then(|| SeriesLink { id: other.id.clone(), label: series.label(other) })
        };
        let not_drawn = series.count.saturating_sub(series.drawn.len() as u64);
        let at_least = if series.count_is_exact { "" } else { "at least " };
        Some(Self {
            sentence: several.then(|| {
                format!("{at_least}{} in this table.", counted(series.count, "series", "series"))
            }),
            picture: chart.map(|chart| {
                chart.picture((chosen != ChosenSeries::Named).then_some(shown.id.as_str()))
            }),
            not_found: chosen == ChosenSeries::Unknown,
            own: (!shown.key.is_empty()).then(|| own_figures(shown)),
            description: describe_series(shown, &label, unit(snapshot, &shown.column)),
            points: shown.line.iter().map(PointLine::new).collect(),
            reduced: shown.is_reduced().then(|| {
                format!(
                    "The line has {} of {} points: the smallest and the greatest of each part.",
                    count(shown.line.len() as u64),
                    count(shown.points)
                )
            }),
            others: series.drawn.iter().enumerate().filter_map(others_of).collect(),
            others_left_out: (not_drawn > 0)
                .then(|| format!("and {at_least}{} more", count(not_drawn))),
            label,
        })
    }
}

impl PointLine {
    fn new(point: &LinePoint) -> Self {
        Self { date: point.date(), value: figure_or_nothing(point.value) }
    }
}

impl MapView {
    fn new(sample: &CentroidSample, snapshot: &Snapshot, chart: Option<ChartAddress<'_>>) -> Self {
        let shown = sample.points.len() as u64;
        let bounds = snapshot.bbox.map(|bbox| bbox.0.map(|degrees| format!("{degrees:.4}")));
        let sample_text =
            format!("{} of {}", count(shown), counted(sample.features, "feature", "features"));
        let description = match &bounds {
            Some([west, south, east, north]) => format!(
                "Map of the centroids of {sample_text}, between {west}° and {east}° of longitude and {south}° and {north}° of latitude."
            ),
            None => format!("Map of the centroids of {sample_text}."),
        };
        Self {
            sample: sample_text,
            picture: chart.map(|chart| chart.picture(None)),
            bounds,
            points: sample
                .points
                .iter()
                .map(|point| point.map(|degrees| format!("{degrees:.4}")))
                .collect(),
            description,
        }
    }
}

impl<'a> LatestView<'a> {
    fn new(latest: &'a LatestRows, snapshot: &'a Snapshot) -> Self {
        let is_number = |name: &str| {
            snapshot.column(name).is_some_and(|column| {
                matches!(column.column_type, ColumnType::Integer | ColumnType::Number)
            })
        };
        let rows = latest.rows.len() as u64;
        let kind = if latest.newest_first { "Latest" } else { "First" };
        Self {
            title: format!("{kind} {} of {}", counted(rows, "row", "rows"), count(snapshot.rows)),
            columns: latest
                .columns
                .iter()
                .map(|name| LatestColumn { name, is_number: is_number(name) })
                .collect(),
            rows: latest.rows.iter().map(|row| row.iter().map(CellView::new).collect()).collect(),
            left_out: (latest.columns_left_out > 0).then(|| {
                format!("and {} more", counted(latest.columns_left_out, "column", "columns"))
            }),
        }
    }
}

impl<'a> CellView<'a> {
    fn new(cell: &'a PreviewCell) -> Self {
        let plain = Self { text: NOTHING.into(), is_number: false, is_null: false, is_cut: false };
        match cell {
            PreviewCell::Null => Self { is_null: true, ..plain },
            // As it is: a year or a code has no separators.
            PreviewCell::Number(value) => {
                Self { text: value.to_string().into(), is_number: true, ..plain }
            }
            PreviewCell::Boolean(value) => {
                Self { text: if *value { "true" } else { "false" }.into(), ..plain }
            }
            PreviewCell::Text(text) => Self { text: text.into(), ..plain },
            PreviewCell::CutText(text) => Self { text: text.into(), is_cut: true, ..plain },
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

fn own_figures(shown: &DrawnSeries) -> FigureLine<'static> {
    FigureLine::from_figures(
        "",
        None,
        (shown.points, shown.excluded),
        shown.latest.as_ref(),
        (shown.min, shown.max),
    )
}

/// The picture of a series in words, for those who do not see it.
fn describe_series(shown: &DrawnSeries, label: &str, unit: Option<&str>) -> String {
    let unit = unit.map(|unit| format!(" {unit}")).unwrap_or_default();
    let dates = shown.line.first().zip(shown.line.last());
    let from = dates.map(|(first, last)| format!(" from {} to {}", first.date(), last.date()));
    let latest = shown
        .latest
        .as_ref()
        .map(|latest| format!(" Latest: {}{unit} on {}.", figure(latest.value), latest.date));
    let extremes = shown.min.zip(shown.max).map(|(min, max)| {
        format!(" Smallest: {}{unit}. Greatest: {}{unit}.", figure(min), figure(max))
    });
    format!(
        "Line chart of {label}{}.{}{}",
        from.unwrap_or_default(),
        latest.unwrap_or_default(),
        extremes.unwrap_or_default()
    )
}
