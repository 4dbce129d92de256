//! Line charts: rows in, lines out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use yearbook_sdk::{Batch, Field, Schema};

use crate::axis::{Scale, Tick, calendar_ticks, number_axis_ticks, value_axis};
use crate::calendar::Length;
use crate::cells;
use crate::credit::DataCredit;
use crate::options::{LineColumns, PictureOptions};
use crate::palette::{DASHES, MOST_SERIES};
use crate::picture::{Area, Picture, Words, coordinate};
use crate::typography::text_width;

use labels::SeriesLabels;
use marks::Marks;
use series_book::{BookedSeries, SeriesBook, SeriesKey};

mod labels;
mod legend;
pub mod marks;
mod path;
pub mod samples;
pub mod series_book;
mod series_name;
mod summary;

pub(crate) use summary::{counted, grouped, push_count};

/// Font size of the labels of axes, pixels.
const TICK_SIZE: f64 = 11.0;

/// Pixels above the greatest value.
const TOP: f64 = 6.0;

/// Series of a picture that has no room for labels beside the lines.
const MOST_NARROW_SERIES: usize = 4;

/// A line chart in the making.
#[derive(Debug)]
pub struct LineChart {
    columns: LineColumns,
    x: Field,
    y: Vec<Field>,
    split: Vec<Field>,
    /// Position of the column that tells of each value column, where there is one.
    status: Vec<Option<usize>>,
    credit: DataCredit,
    book: SeriesBook,
    rows: u64,
    /// Rows of the series that is asked for; all where none is.
    chosen_rows: u64,
    /// Numbers of them by the length of their periods.
    lengths: BTreeMap<Length, u64>,
    /// Name of a series of the other rows.
    other_series: Option<String>,
    /// Rows without a place on the x axis.
    unplaced: u64,
    /// Bytes that tell series apart, kept for the next row.
    id: Vec<u8>,
}

impl LineChart {
    /// A chart without rows.
    #[must_use]
    pub fn new(schema: &Schema, columns: LineColumns) -> Self {
        Self {
            x: schema.fields[columns.x].clone(),
            y: columns.y.iter().map(|column| schema.fields[*column].clone()).collect(),
            split: columns.split.iter().map(|column| schema.fields[*column].clone()).collect(),
            status: columns
                .y
                .iter()
                .map(|column| marks::status_column(schema, &schema.fields[*column].name))
                .collect(),
            credit: DataCredit::new(schema),
            columns,
            book: SeriesBook::default(),
            rows: 0,
            chosen_rows: 0,
            lengths: BTreeMap::new(),
            other_series: None,
            unplaced: 0,
            id: Vec::new(),
        }
    }

    /// Takes in rows.
    pub fn push(&mut self, batch: &Batch) {
        let x = batch.column(self.columns.x);
        let y: Vec<_> = self.columns.y.iter().map(|column| batch.column(*column)).collect();
        let split: Vec<_> = self.columns.split.iter().map(|column| batch.column(*column)).collect();
        let period = self.columns.period.map(|column| batch.column(column));
        let status: Vec<_> =
            self.status.iter().map(|column| column.map(|column| batch.column(column))).collect();
        for row in 0..batch.rows() {
            self.rows += 1;
            let Some(place) = cells::place(&x, row) else {
                self.unplaced += 1;
                continue;
            };
            self.id.clear();
            split.iter().for_each(|column| cells::push_identity(column, row, &mut self.id));
            let key =
                || -> SeriesKey { split.iter().map(|column| cells::name(column, row)).collect() };
            let length = Length::from_code(period.as_ref().and_then(|period| period.text(row)));
            self.id.push(length as u8);
            let own_bytes = self.id.len();
            let mut is_chosen = false;
            for (position, column) in y.iter().enumerate() {
                if let Some(only) = &self.columns.only
                    && !series_name::is_named(only, &key(), self.y_label(position))
                {
                    if self.other_series.is_none() {
                        let name = series_name::joined(&key(), self.y_label(position));
                        self.other_series = Some(name);
                    }
                    continue;
                }
                is_chosen = true;
                self.id.truncate(own_bytes);
                self.id.push(u8::try_from(position).unwrap_or(u8::MAX));
                if let Some(samples) = self.book.samples(&self.id, position, length, key) {
                    let code = status[position].as_ref().and_then(|status| status.text(row));
                    let marks = code.map(Marks::of_status).unwrap_or_default();
                    samples.push(place, cells::value(column, row), marks);
                }
            }
            if is_chosen {
                self.chosen_rows += 1;
                *self.lengths.entry(length).or_default() += 1;
            }
        }
    }

    /// The finished picture.
    #[must_use]
    pub fn draw(&self, options: PictureOptions) -> String {
        let most = if options.is_wide() { MOST_SERIES } else { MOST_NARROW_SERIES };
        let drawn = self.book.drawn(most, &self.columns.kinds);
        let names = self.names(&drawn);
        let words = self.words(&drawn, &names);
        let mut picture = Picture::begin(options, &words);
        let extent = drawn.iter().filter_map(|series| series.samples.extent());
        let places = extent.reduce(|all, own| (all.0.min(own.0), all.1.max(own.1)));
        let values =
            drawn.iter().filter_map(|series| Some((series.samples.min?.y, series.samples.max?.y)));
        let values = values.reduce(|all, own| (all.0.min(own.0), all.1.max(own.1)));
        match (places, values) {
            (Some(places), Some(values)) => {
                self.plot(&mut picture, &drawn, &names, places, values);
            }
            _ => self.emptiness(&mut picture),
        }
        picture.end()
    }

    /// Name of a value column where it tells series apart: where there are several, or nothing else
    /// does.
    fn y_label(&self, position: usize) -> Option<&str> {
        (self.y.len() > 1 || self.columns.split.is_empty())
            .then(|| self.y.get(position).map(|field| field.name.as_str()))?
    }

    /// Names of the drawn series, without the parts that all of them share; in quotes where two
    /// would be the same.
    fn names(&self, drawn: &[&BookedSeries]) -> Vec<String> {
        let names = |name: fn(&SeriesKey, Option<&str>) -> String| -> Vec<String> {
            drawn.iter().map(|series| self.short_name(series, drawn, name)).collect()
        };
        let joined = names(series_name::joined);
        let distinct: BTreeSet<&String> = joined.iter().collect();
        if distinct.len() == joined.len() { joined } else { names(series_name::unambiguous) }
    }

    fn short_name(
        &self,
        series: &BookedSeries,
        drawn: &[&BookedSeries],
        name: fn(&SeriesKey, Option<&str>) -> String,
    ) -> String {
        let varies =
            |part: &usize| drawn.iter().any(|other| other.key.get(*part) != series.key.get(*part));
        let parts = (0..series.key.len()).filter(varies);
        let key: SeriesKey = parts.map(|part| series.key[part].clone()).collect();
        let column = drawn.iter().any(|other| other.value_column != series.value_column);
        let column = column.then(|| self.y_label(series.value_column)).flatten();
        if key.is_empty() && column.is_none() {
            return name(&series.key, self.y_label(series.value_column));
        }
        name(&key, column)
    }

    fn words(&self, drawn: &[&BookedSeries], names: &[String]) -> Words {
        Words {
            source: self.credit.source.clone(),
            title: self.credit.title.clone(),
            subtitle: self.subtitle(drawn),
            notes: self.notes(drawn),
            credit: self.credit.line.clone(),
            description: self.description(drawn, names),
        }
    }

    fn plot(
        &self,
        picture: &mut Picture,
        drawn: &[&BookedSeries],
        names: &[String],
        places: (f64, f64),
        values: (f64, f64),
    ) {
        let below = TICK_SIZE + 9.0;
        legend::draw_legend(picture, legend::drawn_marks(drawn), below + TOP);
        let labels = SeriesLabels::place(picture, drawn, names);
        let mut area = picture.area;
        area.bottom -= below;
        area.right -= labels.room();
        let wanted = if area.height() < 130.0 { 3 } else { 5 };
        let (y_scale, y_ticks) =
            value_axis(values.0, values.1, wanted, area.bottom, area.top + TOP);
        let widest = y_ticks.iter().map(|tick| text_width(&tick.label, TICK_SIZE));
        area.left += widest.fold(0.0, f64::max) + 8.0;
        // A single day has half a day on both sides.
        let room = if cells::is_calendar(&self.x) && places.0 >= places.1 { 0.5 } else { 0.0 };
        let x_scale =
            Scale::new(places.0 - room, places.1 + room, area.left + 4.0, area.right - 4.0);
        let x_ticks = self.x_ticks(&x_scale, &area);
        grid(picture, &area, &y_scale, &y_ticks);
        axis(picture, &area, &x_scale, &x_ticks);
        legend::draw_breaks(picture, drawn, &x_scale, &area);
        // The first series lies on top.
        for (index, series) in drawn.iter().enumerate().rev() {
            path::draw(picture, index, &series.samples, &x_scale, &y_scale);
        }
        labels.draw(picture, drawn, &x_scale, &y_scale, &area);
    }

    fn x_ticks(&self, scale: &Scale, area: &Area) -> Vec<Tick> {
        let (apart, most) = if cells::is_calendar(&self.x) { (76.0, 12) } else { (70.0, 8) };
        let fits = (2..=most).rev().find(|count| f64::from(*count) * apart <= area.width());
        let fits = usize::try_from(fits.unwrap_or(2)).unwrap_or(2);
        if cells::is_calendar(&self.x) {
            calendar_ticks(scale, fits)
        } else {
            number_axis_ticks(scale, fits * 2 / 3)
        }
    }

    /// Says why there is nothing to see.
    fn emptiness(&self, picture: &mut Picture) {
        let why = match (self.rows, &self.other_series) {
            (0, _) => "There are no rows.",
            (_, Some(_)) if self.chosen_rows == 0 => "No series has this name.",
            _ => "No row has a value to draw.",
        };
        let Area { left, top, right, bottom } = picture.area;
        let middle = " text-anchor=\"middle\" font-size=\"13\"";
        picture.text("m", (left + right) / 2.0, (top + bottom) / 2.0, middle, why);
    }
}

/// Lines across the drawing with the labels of the values; zero is drawn stronger.
fn grid(picture: &mut Picture, area: &Area, scale: &Scale, ticks: &[Tick]) {
    let palette = picture.options.theme.palette();
    let mut path = String::new();
    for tick in ticks {
        let _ = write!(
            path,
            "M{} {}H{}",
            coordinate(area.left),
            coordinate(scale.pixel(tick.at)),
            coordinate(area.right)
        );
    }
    let _ = write!(
        picture.svg,
        "<path class=\"g\" d=\"{path}\" stroke=\"{}\" stroke-width=\".75\"/>",
        palette.grid
    );
    let attributes = format!(" text-anchor=\"end\" font-size=\"{TICK_SIZE}\"");
    for tick in ticks {
        let y = scale.pixel(tick.at) + TICK_SIZE * 0.36;
        picture.text("m", area.left - 8.0, y, &attributes, &tick.label);
    }
    let (low, high) = scale.range();
    if low < 0.0 && high > 0.0 {
        let _ = write!(
            picture.svg,
            "<path class=\"r\" d=\"M{} {}H{}\" stroke=\"{}\" stroke-width=\".75\"/>",
            coordinate(area.left),
            coordinate(scale.pixel(0.0)),
            coordinate(area.right),
            palette.ink
        );
    }
}

/// The x axis below the drawing.
fn axis(picture: &mut Picture, area: &Area, scale: &Scale, ticks: &[Tick]) {
    let mut path = format!(
        "M{} {}H{}",
        coordinate(area.left),
        coordinate(area.bottom),
        coordinate(area.right)
    );
    for tick in ticks {
        let _ = write!(path, "M{} {}v4", coordinate(scale.pixel(tick.at)), coordinate(area.bottom));
    }
    let ink = picture.options.theme.palette().ink;
    let _ = write!(
        picture.svg,
        "<path class=\"r\" d=\"{path}\" stroke=\"{ink}\" stroke-width=\".75\" fill=\"none\"/>"
    );
    let edges = (picture.area.left, picture.area.right);
    for tick in ticks {
        let half = text_width(&tick.label, TICK_SIZE) / 2.0;
        let x = scale.pixel(tick.at);
        // A label at an end stays within the sheet.
        let x = x.max(edges.0 + half).min((edges.1 - half).max(edges.0 + half));
        let attributes = format!(" text-anchor=\"middle\" font-size=\"{TICK_SIZE}\"");
        picture.text("m", x, area.bottom + TICK_SIZE + 5.0, &attributes, &tick.label);
    }
}

/// Attributes of the stroke of a series.
fn stroke(picture: &Picture, index: usize) -> String {
    dashed_stroke(picture, index, DASHES[index % DASHES.len()])
}

/// The same with other dashes.
fn dashed_stroke(picture: &Picture, index: usize, dashes: &str) -> String {
    let palette = picture.options.theme.palette();
    let colour = palette.series[index % palette.series.len()];
    let dashes =
        if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
    format!(
        " class=\"s s{index}\" stroke=\"{colour}\" stroke-width=\"1.75\" stroke-linejoin=\"round\" fill=\"none\"{dashes}"
    )
}
