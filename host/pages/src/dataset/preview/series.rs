//! One series of a preview in words and numbers, and links to the others by unit: one unit is shown
//! at a time (contract-15-units).

use yearbook_domain::meaning::{KnownCodes, StatusCodes};
use yearbook_domain::preview_facts::{DrawnSeries, LinePoint, SeriesPreview};
use yearbook_domain::read_plan::MAX_SERIES;
use yearbook_domain::{PreviewFacts, Snapshot};

use super::{ChartAddress, FigureLine, NOTHING, PictureUrls, figure_or_nothing, group_by, unit};
use crate::dataset::ChosenSeries;
use crate::figures::{count, counted, figure};

/// One series that is drawn, with its numbers, and links to the others.
pub(crate) struct SeriesView {
    /// Sentence about the number of series.
    pub(crate) sentence: Option<String>,
    /// Name of the drawn one.
    pub(crate) label: String,
    /// Its unit.
    pub(crate) unit: Option<String>,
    /// None where nothing draws.
    pub(crate) picture: Option<PictureUrls>,
    /// True where the one that was asked for is not among those drawn.
    pub(crate) not_found: bool,
    /// Its own figures, where they are not those of its column.
    pub(crate) own: Option<FigureLine<'static>>,
    pub(crate) description: String,
    pub(crate) points: Vec<PointLine>,
    /// True where some of them have a status.
    pub(crate) has_statuses: bool,
    /// Sentence about statuses that are left out.
    pub(crate) statuses_from: Option<String>,
    /// Sentence about points that the line leaves out.
    pub(crate) reduced: Option<String>,
    /// The others by unit, those of its own unit first.
    pub(crate) others: Vec<UnitLinks>,
    pub(crate) others_left_out: Option<String>,
}

/// A point of the line.
pub(crate) struct PointLine {
    pub(crate) date: String,
    pub(crate) value: String,
    /// Its status in the words of SDMX; empty for the normal one.
    pub(crate) status: String,
}

/// Links to the series of one unit.
pub(crate) struct UnitLinks {
    /// The unit, or the column where it has none; `None` where there is one kind alone.
    pub(crate) name: Option<String>,
    pub(crate) links: Vec<SeriesLink>,
}

/// A link to another series.
pub(crate) struct SeriesLink {
    pub(crate) id: String,
    pub(crate) label: String,
}

impl SeriesView {
    /// None where nothing is drawn.
    pub(super) fn new(
        facts: &PreviewFacts,
        snapshot: &Snapshot,
        chosen: ChosenSeries,
        chart: Option<ChartAddress<'_>>,
    ) -> Option<Self> {
        let place = match chosen {
            ChosenSeries::Drawn(place) => place,
            ChosenSeries::Named | ChosenSeries::Unknown => 0,
        };
        let series = facts.series.as_ref()?;
        let shown = series.drawn.get(place)?;
        let label = series.label(shown);
        let unit = unit(snapshot, &shown.column);
        let several = facts.series_number.is_none_or(|number| number > 1);
        // Those of its column say the same.
        let is_alone = !several && unit.is_some();
        let drawn = series.drawn.len() as u64;
        Some(Self {
            sentence: facts.series_number.filter(|number| *number > 1).map(describe_number),
            picture: chart.map(|chart| {
                chart.picture((chosen != ChosenSeries::Named).then_some(shown.id.as_str()))
            }),
            not_found: chosen == ChosenSeries::Unknown,
            own: (!shown.key.is_empty() && !is_alone).then(|| own_figures(shown)),
            description: describe_series(shown, &label, unit),
            points: points(shown),
            has_statuses: !shown.line_statuses.is_empty(),
            statuses_from: statuses_from(shown),
            reduced: shown.is_reduced().then(|| {
                format!(
                    "The line has {} of {} points: the smallest and the greatest of each part.",
                    count(shown.line.len() as u64),
                    count(shown.points)
                )
            }),
            others: others(series, snapshot, shown),
            others_left_out: match facts.line_count() {
                Some(lines) => {
                    (lines > drawn).then(|| format!("and {} more", count(lines - drawn)))
                }
                None => Some("and more".to_owned()),
            },
            unit: unit.map(str::to_owned),
            label,
        })
    }
}

fn describe_number(number: u64) -> String {
    if number > MAX_SERIES {
        return format!("More than {} series in this table.", count(MAX_SERIES));
    }
    format!("{} in this table.", counted(number, "series", "series"))
}

/// Links to all series but `shown`, by unit; a value column without a unit is a kind of its own.
fn others(series: &SeriesPreview, snapshot: &Snapshot, shown: &DrawnSeries) -> Vec<UnitLinks> {
    let kind = |drawn: &DrawnSeries| {
        let column = snapshot.column(&drawn.column)?;
        Some((column.unit.as_deref(), column.unit.is_none().then_some(&column.name)))
    };
    let mut kinds = group_by(&series.drawn, kind);
    kinds.sort_by_key(|(other, _)| *other != kind(shown));
    let several = kinds.len() > 1;
    let links = kinds.into_iter().map(|(kind, drawn)| {
        let name = kind.and_then(|(unit, column)| unit.or(column.map(String::as_str)));
        let others = drawn.into_iter().filter(|other| other.id != shown.id);
        let link =
            |other: &DrawnSeries| SeriesLink { id: other.id.clone(), label: series.label(other) };
        UnitLinks {
            name: name.filter(|_| several).map(str::to_owned),
            links: others.map(link).collect(),
        }
    });
    links.filter(|unit| !unit.links.is_empty()).collect()
}

/// The points of the line, and breaks whose values it leaves out.
fn points(shown: &DrawnSeries) -> Vec<PointLine> {
    let list = StatusCodes::Known(KnownCodes::SdmxObs);
    let statuses = &shown.line_statuses;
    let status = |day| match statuses.at(day).and_then(|code| list.label(code, None)) {
        None if statuses.known_from().is_some_and(|from| day < from) => NOTHING,
        label => label.unwrap_or_default(),
    };
    let drawn = shown.line.iter().map(|point| (*point, figure_or_nothing(point.value)));
    let breaks = shown.further_breaks().map(|point| (point, "left out".to_owned()));
    let mut points: Vec<(LinePoint, String)> = drawn.chain(breaks).collect();
    points.sort_by_key(|(point, _)| point.day);
    let line = |(point, value): (LinePoint, String)| PointLine {
        date: point.date(),
        value,
        status: status(point.day).to_owned(),
    };
    points.into_iter().map(line).collect()
}

fn statuses_from(shown: &DrawnSeries) -> Option<String> {
    let date = LinePoint { day: shown.line_statuses.known_from()?, value: None }.date();
    Some(format!("Statuses before {date} are left out; the rows have them."))
}

fn own_figures(shown: &DrawnSeries) -> FigureLine<'static> {
    FigureLine::from_figures(
        "",
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
    let statuses = if shown.line_statuses.is_empty() {
        ""
    } else {
        " Some values have a status, which stands beside its numbers."
    };
    let left_out = statuses_from(shown).map(|sentence| format!(" {sentence}"));
    format!(
        "Line chart of {label}{}.{}{}{statuses}{}",
        from.unwrap_or_default(),
        latest.unwrap_or_default(),
        extremes.unwrap_or_default(),
        left_out.unwrap_or_default()
    )
}
