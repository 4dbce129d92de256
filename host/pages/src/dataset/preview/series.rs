//! One series of a preview in words and numbers, and links to the others.

use yearbook_domain::Snapshot;
use yearbook_domain::preview_facts::{DrawnSeries, LinePoint, SeriesPreview};

use super::{ChartAddress, FigureLine, PictureUrls, figure_or_nothing, unit};
use crate::dataset::ChosenSeries;
use crate::figures::{count, counted, figure};

/// One series that is drawn, with its numbers, and links to the others.
pub(crate) struct SeriesView {
    /// Sentence about the number of series.
    pub(crate) sentence: Option<String>,
    /// Name of the drawn one.
    pub(crate) label: String,
    /// None where nothing draws.
    pub(crate) picture: Option<PictureUrls>,
    /// True where the one that was asked for is not among those drawn.
    pub(crate) not_found: bool,
    /// Its own figures, where they are not those of its column.
    pub(crate) own: Option<FigureLine<'static>>,
    pub(crate) description: String,
    pub(crate) points: Vec<PointLine>,
    /// Sentence about points that the line leaves out.
    pub(crate) reduced: Option<String>,
    pub(crate) others: Vec<SeriesLink>,
    pub(crate) others_left_out: Option<String>,
}

/// A point of the line.
pub(crate) struct PointLine {
    pub(crate) date: String,
    pub(crate) value: String,
}

/// A link to another series.
pub(crate) struct SeriesLink {
    pub(crate) id: String,
    pub(crate) label: String,
}

impl SeriesView {
    /// None where nothing is drawn.
    pub(super) fn new(
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
        // Those of its column say the same.
        let is_alone = !several && unit(snapshot, &shown.column).is_some();
        let others_of = |(index, other): (usize, &DrawnSeries)| {
            (index != place)
                .then(|| SeriesLink { id: other.id.clone(), label: series.label(other) })
        };
        let not_drawn = series.count.saturating_sub(series.drawn.len() as u64);
        let (at_least, begins) =
            if series.count_is_exact { ("", "") } else { ("at least ", "At least ") };
        Some(Self {
            sentence: several.then(|| {
                format!("{begins}{} in this table.", counted(series.count, "series", "series"))
            }),
            picture: chart.map(|chart| {
                chart.picture((chosen != ChosenSeries::Named).then_some(shown.id.as_str()))
            }),
            not_found: chosen == ChosenSeries::Unknown,
            own: (!shown.key.is_empty() && !is_alone).then(|| own_figures(shown)),
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

fn own_figures(shown: &DrawnSeries) -> FigureLine<'static> {
    FigureLine::from_figures(
        "",
        None,
        (shown.points, shown.excluded),
        shown.latest.as_ref(),
        shown.min.zip(shown.max),
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
