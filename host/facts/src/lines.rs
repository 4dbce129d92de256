//! The second pass: lines and figures of the series that are drawn, and their names. Reads the
//! date, what tells series apart or names them, and the value columns alone.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch, StringArray};
use arrow::error::ArrowError;
use yearbook_domain::preview_facts::{
    DrawnSeries, LinePoint, LineReducer, MAX_CELL_CHARACTERS, MAX_KEY_PARTS, MAX_NAMED_POINTS,
    MAX_OTHER_POINTS, PreviewFacts, StatusRuns, cut_text, day_number, series_id,
};

use super::figures::{Figures, NumberColumn, date_at, dates};
use super::name_columns::NameColumn;
use super::series::ChosenSeries;
use super::series_keys::SeriesKeyEncoder;
use super::table_shape::TableShape;

/// Lines of a table, being drawn.
pub struct LinePass {
    facts: PreviewFacts,
    /// Positions, in the table, of the columns that are read.
    columns: Vec<usize>,
    keys: SeriesKeyEncoder,
    /// Positions, in the table, and names of the columns that tell series apart.
    key_columns: Vec<(usize, String)>,
    names: Vec<(String, NameColumn)>,
    lines: Vec<Line>,
    /// Indexes of `lines` by key.
    by_key: HashMap<Arc<[u8]>, Vec<usize>>,
}

/// A line being drawn.
struct Line {
    series: ChosenSeries,
    column: String,
    /// Position of the value column among the columns that are read.
    position: usize,
    /// Position of its statuses among these, where it has some.
    status: Option<usize>,
    figures: Figures,
    reducer: LineReducer,
    statuses: StatusRuns,
}

impl LinePass {
    pub(super) fn new(
        shape: &TableShape,
        facts: PreviewFacts,
        chosen: Vec<ChosenSeries>,
    ) -> Result<Self, ArrowError> {
        let date = if chosen.is_empty() { None } else { shape.date };
        let mut columns: Vec<usize> = date.into_iter().collect();
        let mut place = |positions: &[usize]| {
            let first = columns.len();
            columns.extend(positions.iter().filter(|_| date.is_some()));
            first
        };
        let first_key = place(&shape.key);
        let first_value = place(&shape.values);
        let first_name = place(&shape.names);
        let period = shape.period.map(|period| place(&[period]));
        let drawn = chosen.iter().filter_map(|series| shape.values.get(series.value));
        let mut statuses: Vec<usize> = drawn.filter_map(|value| shape.status(*value)).collect();
        statuses.sort_unstable();
        statuses.dedup();
        let first_status = place(&statuses);
        let mut by_key: HashMap<Arc<[u8]>, Vec<usize>> = HashMap::new();
        for (index, series) in chosen.iter().enumerate() {
            by_key.entry(Arc::clone(&series.key)).or_default().push(index);
        }
        let name = |(at, position): (usize, &usize)| {
            let column = NameColumn::new(*position, at, chosen.len());
            (shape.name(*position).to_owned(), column)
        };
        let line = |(index, series): (usize, ChosenSeries)| {
            let most = if index == 0 { MAX_NAMED_POINTS } else { MAX_OTHER_POINTS };
            let column = shape.values.get(series.value).copied().unwrap_or_default();
            let status = shape.status(column);
            let status = status.and_then(|status| statuses.binary_search(&status).ok());
            Line {
                column: shape.name(column).to_owned(),
                position: first_value + series.value,
                status: status.map(|at| first_status + at),
                statuses: StatusRuns::default(),
                figures: Figures::default(),
                reducer: LineReducer::new(series.rows, most),
                series,
            }
        };
        let key = shape.key.iter().take(MAX_KEY_PARTS);
        Ok(Self {
            facts,
            keys: SeriesKeyEncoder::new(shape, (first_key..first_value).collect(), period)?,
            key_columns: key.map(|at| (*at, shape.name(*at).to_owned())).collect(),
            names: (first_name..).zip(&shape.names).map(name).collect(),
            lines: chosen.into_iter().enumerate().map(line).collect(),
            by_key,
            columns,
        })
    }

    /// Positions, in the table, of the columns of the batches that [`LinePass::update`] takes, in
    /// their order; empty: there is nothing to draw.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Takes in the next rows.
    pub fn update(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let keys = self.keys.encode(batch)?;
        let mut key = Vec::new();
        let dates = dates(batch, Some(0));
        let numbers: Vec<Option<NumberColumn<'_>>> =
            self.lines.iter().map(|line| NumberColumn::new(batch, line.position)).collect();
        let statuses: Vec<Option<&StringArray>> =
            self.lines.iter().map(|line| texts(batch, line.status?)).collect();
        for row in 0..batch.num_rows() {
            keys.write(row, &mut key);
            let Some(indexes) = self.by_key.get(key.as_slice()) else { continue };
            let Some(date) = date_at(dates, row) else { continue };
            let Some(day) = day_number(date) else { continue };
            for index in indexes {
                let Some(line) = self.lines.get_mut(*index) else { continue };
                let Some(Some(number)) = numbers.get(*index) else { continue };
                let cell = number.cell(row);
                for (_, names) in &mut self.names {
                    names.update(batch, row, *index);
                }
                line.figures.push(cell, Some(date));
                line.reducer.push(LinePoint { day, value: cell.figure() });
                let codes = statuses.get(*index).copied().flatten();
                let codes = codes.filter(|codes| codes.is_valid(row));
                let code = codes.map(|codes| codes.value(row));
                line.statuses.push(day, code, cell.figure().is_some());
            }
        }
        Ok(())
    }

    /// The facts, within their bound.
    pub fn finish(self) -> Result<PreviewFacts, ArrowError> {
        let Self { mut facts, keys, key_columns, names, lines, .. } = self;
        let names = names.into_iter().filter_map(|(name, column)| {
            let position = column.position;
            Some((position, name, column.finish()?))
        });
        let names: Vec<(usize, String, Vec<Option<String>>)> = names.collect();
        let drawn = lines.into_iter().enumerate().map(|(index, line)| {
            let (key, form) = keys.decode(&line.series.key)?;
            let Figures { points, excluded, latest, min, max } = line.figures;
            let id = series_id(&line.column, key.iter().map(Option::as_deref), form);
            let cut = |value: String| cut_text(&value, MAX_CELL_CHARACTERS).to_owned();
            let own = key_columns.iter().zip(key).map(|((at, _), value)| (*at, value.map(cut)));
            let further = names.iter().filter_map(|(position, _, values)| {
                values.get(index).map(|value| (*position, value.clone()))
            });
            Ok(DrawnSeries {
                id,
                key: in_order(own.chain(further)),
                form,
                column: line.column,
                rows: line.series.rows,
                points,
                excluded,
                latest,
                min,
                max,
                line: line.reducer.finish(),
                line_statuses: line.statuses.finish(),
            })
        });
        let drawn: Vec<DrawnSeries> = drawn.collect::<Result<_, ArrowError>>()?;
        if let Some(series) = &mut facts.series {
            series.drawn = drawn;
            let further = names.into_iter().map(|(position, name, _)| (position, name));
            series.key_columns = in_order(key_columns.into_iter().chain(further));
        }
        Ok(facts.fit())
    }
}

/// Texts of the column at `position` of a batch.
fn texts(batch: &RecordBatch, position: usize) -> Option<&StringArray> {
    batch.columns().get(position)?.as_string_opt::<i32>()
}

/// Things of columns in the order of the table.
fn in_order<T>(things: impl Iterator<Item = (usize, T)>) -> Vec<T> {
    let mut things: Vec<(usize, T)> = things.collect();
    things.sort_by_key(|(position, _)| *position);
    things.into_iter().map(|(_, thing)| thing).collect()
}
