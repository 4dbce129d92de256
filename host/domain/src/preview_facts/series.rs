//! Lines of a few series of a table with dates (contract-9-long-preview). What a series is stands
//! in [`crate::read_plan`] (contract-15-series).

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::status_runs::LineStatuses;
use super::{DatedFigure, Figure, cut_text};
use crate::hex::encode_hex;
use crate::read_plan::PeriodForm;

/// Lines at most, that of the named series included.
pub const MAX_DRAWN_SERIES: usize = 32;

/// Points of the named series' line at most.
pub const MAX_NAMED_POINTS: usize = 512;

/// Points of another series' line at most.
pub const MAX_OTHER_POINTS: usize = 256;

/// Columns whose values are kept as the name of a series.
pub const MAX_KEY_PARTS: usize = 16;

/// Bytes of a [`DrawnSeries::id`], half of its characters.
const ID_BYTES: usize = 8;

/// Lines of a table: a series has one for each value column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesPreview {
    /// Columns whose values name a series: those that tell series apart, and dimensions of text
    /// that have one value in each series that is drawn. At most [`MAX_KEY_PARTS`] of them, in
    /// the order of the table.
    pub key_columns: Vec<String>,
    /// Series with a line: of the value columns of each unit the one with the most points, in the
    /// order of the columns, then all others by their points. A value column without a unit is one
    /// of its own. Ties go to the bytes of the values that tell series apart, then to the order of
    /// the columns. The first is the one that is named and drawn; the list is cut where it would
    /// not fit. Empty where no series has a point.
    pub drawn: Vec<DrawnSeries>,
}

/// One series in one value column, with its figures and its line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawnSeries {
    /// Name for addresses (`?series=`): 16 hexadecimal digits of the value column and of what tells
    /// series apart, the same in every snapshot.
    pub id: String,
    /// Name of the value column.
    pub column: String,
    /// Values of [`SeriesPreview::key_columns`], long ones cut; `None` if null.
    pub key: Vec<Option<String>>,
    /// Form of its period codes, where it has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<PeriodForm>,
    /// Number of rows.
    pub rows: u64,
    /// Number of finite values.
    pub points: u64,
    /// Number of NaN and infinite values.
    pub excluded: u64,
    /// Value at the last date that has one.
    pub latest: Option<DatedFigure>,
    /// Smallest value.
    pub min: Option<Figure>,
    /// Greatest value.
    pub max: Option<Figure>,
    /// Line to draw, dates ascending. A row a point while they fit; beyond that the smallest and
    /// the greatest value of each of equally many rows, so that extremes stay.
    pub line: Vec<LinePoint>,
    /// Statuses of all rows where a column of `CL_OBS_STATUS` speaks of the value column; none in
    /// facts that were stored before they were kept.
    #[serde(default, skip_serializing_if = "LineStatuses::is_empty")]
    pub line_statuses: LineStatuses,
}

/// A point of a line, or a gap in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "(i32, Option<Figure>)", into = "(i32, Option<Figure>)")]
pub struct LinePoint {
    /// Days since 1970-01-01.
    pub day: i32,
    /// Value; `None` for a gap, where a row has no finite value.
    pub value: Option<Figure>,
}

impl SeriesPreview {
    /// Returns the series that is named and drawn.
    #[must_use]
    pub fn named(&self) -> Option<&DrawnSeries> {
        self.drawn.first()
    }

    /// Returns the series whose id or label is `text`.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<&DrawnSeries> {
        let by_id = self.drawn.iter().find(|series| series.id == text);
        by_id.or_else(|| self.drawn.iter().find(|series| self.label(series) == text))
    }

    /// Returns the name of a series for people: the values of its key, and the value column and the
    /// form of the period codes where several are drawn.
    #[must_use]
    pub fn label(&self, series: &DrawnSeries) -> String {
        let several = self.drawn.iter().any(|other| other.column != series.column);
        let column = (several || series.key.is_empty()).then_some(series.column.as_str());
        let several = self.drawn.iter().any(|other| other.form != series.form);
        let form = series.form.filter(|_| several).map(PeriodForm::adjective);
        let key = series.key.iter().map(|value| value.as_deref().unwrap_or("(none)"));
        key.chain(column).chain(form).collect::<Vec<_>>().join(", ")
    }
}

impl DrawnSeries {
    /// Returns true when the line has fewer points than the series has rows.
    #[must_use]
    pub fn is_reduced(&self) -> bool {
        (self.line.len() as u64) < self.rows
    }

    /// Returns the breaks that the reduced line has no point of, as gaps at their own dates: a
    /// value of another row does not break.
    pub fn further_breaks(&self) -> impl Iterator<Item = LinePoint> {
        let is_drawn = |day: &i32| self.line.binary_search_by_key(day, |point| point.day).is_ok();
        let breaks = self.line_statuses.breaks().filter(move |day| !is_drawn(day));
        breaks.map(|day| LinePoint { day, value: None })
    }

    /// Reduces the line to `points` at most, keeping the extremes of each part.
    pub(super) fn thin(&mut self, points: usize) {
        if self.line.len() <= points {
            return;
        }
        let mut reducer = LineReducer::new(self.line.len() as u64, points);
        self.line.iter().for_each(|point| reducer.push(*point));
        self.line = reducer.finish();
    }

    /// Cuts the values of the key at `characters`.
    pub(super) fn cut_key(&mut self, characters: usize) {
        for value in self.key.iter_mut().flatten() {
            *value = cut_text(value, characters).to_owned();
        }
    }
}

/// Reduces a line as it comes, dates ascending: parts of equally many points, of each the smallest
/// and the greatest value in the order of their dates. Holds the reduced line alone.
#[derive(Debug)]
pub struct LineReducer {
    /// Points of a part.
    per_part: u64,
    part: LinePart,
    line: Vec<LinePoint>,
}

/// Points since the last part ended.
#[derive(Debug, Default)]
struct LinePart {
    points: u64,
    first: Option<LinePoint>,
    /// Smallest and greatest value, each with its place in the part.
    least: Option<(u64, Figure)>,
    greatest: Option<(u64, Figure)>,
    /// Days of these two.
    days: [i32; 2],
}

impl LineReducer {
    /// Starts a line of `points`, which is to have `most` at most.
    #[must_use]
    pub fn new(points: u64, most: usize) -> Self {
        let most = most as u64;
        let per_part = if points <= most { 1 } else { points.div_ceil((most / 2).max(1)) };
        Self { per_part, part: LinePart::default(), line: Vec::new() }
    }

    /// Takes in the next point.
    pub fn push(&mut self, point: LinePoint) {
        self.part.push(point);
        if self.part.points == self.per_part {
            self.end_part();
        }
    }

    /// Returns the reduced line.
    #[must_use]
    pub fn finish(mut self) -> Vec<LinePoint> {
        self.end_part();
        self.line
    }

    fn end_part(&mut self) {
        self.line.extend(std::mem::take(&mut self.part).extremes());
    }
}

impl LinePart {
    fn push(&mut self, point: LinePoint) {
        let at = self.points;
        self.points += 1;
        self.first.get_or_insert(point);
        let Some(value) = point.value else { return };
        if self.least.is_none_or(|(_, least)| value.compare(least).is_lt()) {
            self.least = Some((at, value));
            self.days[0] = point.day;
        }
        if self.greatest.is_none_or(|(_, greatest)| value.compare(greatest).is_gt()) {
            self.greatest = Some((at, value));
            self.days[1] = point.day;
        }
    }

    /// Returns the two extremes by date: one point where they are the same, a gap where the part
    /// has no value.
    fn extremes(self) -> impl Iterator<Item = LinePoint> {
        let [first_day, second_day] = self.days;
        let points = match (self.least, self.greatest) {
            (Some((low, least)), Some((high, greatest))) => {
                let least = (low, LinePoint { day: first_day, value: Some(least) });
                let greatest = (high, LinePoint { day: second_day, value: Some(greatest) });
                match low.cmp(&high) {
                    std::cmp::Ordering::Less => [Some(least.1), Some(greatest.1)],
                    std::cmp::Ordering::Equal => [Some(least.1), None],
                    std::cmp::Ordering::Greater => [Some(greatest.1), Some(least.1)],
                }
            }
            _ => [self.first, None],
        };
        points.into_iter().flatten()
    }
}

impl LinePoint {
    /// Returns the date, `YYYY-MM-DD`.
    #[must_use]
    pub fn date(self) -> String {
        let epoch = jiff::civil::date(1970, 1, 1);
        let date = epoch.checked_add(jiff::Span::new().days(self.day)).unwrap_or(epoch);
        date.to_string()
    }
}

impl From<(i32, Option<Figure>)> for LinePoint {
    fn from((day, value): (i32, Option<Figure>)) -> Self {
        Self { day, value }
    }
}

impl From<LinePoint> for (i32, Option<Figure>) {
    fn from(LinePoint { day, value }: LinePoint) -> Self {
        (day, value)
    }
}

/// Returns the days from 1970-01-01 to `date` (`YYYY-MM-DD`); `None` for any other text.
#[must_use]
pub fn day_number(date: &str) -> Option<i32> {
    let date: jiff::civil::Date = date.parse().ok()?;
    let span = jiff::civil::date(1970, 1, 1).until((jiff::Unit::Day, date)).ok()?;
    Some(span.get_days())
}

/// Returns the id of the series of a value column with the values `key`, whole ones, and the form
/// of its period codes.
#[must_use]
pub fn series_id<'a>(
    column: &str,
    key: impl Iterator<Item = Option<&'a str>>,
    form: Option<PeriodForm>,
) -> String {
    let mut hasher = Sha256::new();
    hasher.update((column.len() as u64).to_le_bytes());
    hasher.update(column);
    for value in key {
        hasher.update([u8::from(value.is_some())]);
        if let Some(value) = value {
            hasher.update((value.len() as u64).to_le_bytes());
            hasher.update(value);
        }
    }
    hasher.update(form.map_or("", PeriodForm::adjective));
    encode_hex(hasher.finalize().get(..ID_BYTES).unwrap_or_default())
}
