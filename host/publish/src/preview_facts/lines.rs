//! The second pass: lines and figures of the series that are drawn. Reads the date, the key and the
//! value columns alone.

use std::collections::HashMap;

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use yearbook_domain::preview_facts::{
    DrawnSeries, LinePoint, LineReducer, MAX_CELL_CHARACTERS, MAX_KEY_PARTS, MAX_NAMED_POINTS,
    MAX_OTHER_POINTS, PreviewFacts, cut_text, day_number, series_id,
};

use super::figures::{Figures, NumberColumn, date_at, dates};
use super::series::{ChosenSeries, key_texts};
use super::table_shape::TableShape;
use crate::sort::KeyEncoder;

/// Lines of a table, being drawn.
pub(crate) struct LinePass {
    facts: PreviewFacts,
    /// Positions, in the table, of the columns that are read.
    columns: Vec<usize>,
    keys: KeyEncoder,
    lines: Vec<Line>,
    /// Indexes of `lines` by key.
    by_key: HashMap<Box<[u8]>, Vec<usize>>,
}

/// A line being drawn.
struct Line {
    series: ChosenSeries,
    column: String,
    /// Position of the value column among the columns that are read.
    position: usize,
    figures: Figures,
    reducer: LineReducer,
}

impl LinePass {
    pub(super) fn new(
        shape: &TableShape,
        facts: PreviewFacts,
        chosen: Vec<ChosenSeries>,
    ) -> Result<Self, ArrowError> {
        let date = if chosen.is_empty() { None } else { shape.date };
        let mut columns: Vec<usize> = date.into_iter().collect();
        if date.is_some() {
            columns.extend(&shape.key);
            columns.extend(&shape.values);
        }
        let first_value = 1 + shape.key.len();
        let mut by_key: HashMap<Box<[u8]>, Vec<usize>> = HashMap::new();
        for (index, series) in chosen.iter().enumerate() {
            by_key.entry(series.key.clone()).or_default().push(index);
        }
        let line = |(index, series): (usize, ChosenSeries)| {
            let most = if index == 0 { MAX_NAMED_POINTS } else { MAX_OTHER_POINTS };
            let column = shape.values.get(series.value).copied().unwrap_or_default();
            Line {
                column: shape.name(column).to_owned(),
                position: first_value + series.value,
                figures: Figures::default(),
                reducer: LineReducer::new(series.rows, most),
                series,
            }
        };
        Ok(Self {
            facts,
            keys: KeyEncoder::of_types(shape.key_types(), (1..first_value).collect())?,
            lines: chosen.into_iter().enumerate().map(line).collect(),
            by_key,
            columns,
        })
    }

    /// Positions, in the table, of the columns of the batches that [`LinePass::update`] takes, in
    /// their order; empty: there is nothing to draw.
    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Takes in the next rows.
    pub(crate) fn update(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let rows = self.keys.encode(batch)?;
        let dates = dates(batch, Some(0));
        let numbers: Vec<Option<NumberColumn<'_>>> =
            self.lines.iter().map(|line| NumberColumn::new(batch, line.position)).collect();
        for row in 0..batch.num_rows() {
            let key = rows.as_ref().map(|rows| rows.row(row));
            let key = key.as_ref().map_or(&[][..], |key| key.as_ref());
            let Some(indexes) = self.by_key.get(key) else { continue };
            let Some(date) = date_at(dates, row) else { continue };
            let Some(day) = day_number(date) else { continue };
            for index in indexes {
                let Some(line) = self.lines.get_mut(*index) else { continue };
                let Some(Some(number)) = numbers.get(*index) else { continue };
                let cell = number.cell(row);
                line.figures.push(cell, Some(date));
                line.reducer.push(LinePoint { day, value: cell.figure() });
            }
        }
        Ok(())
    }

    /// The facts, within their bound.
    pub(crate) fn finish(self) -> Result<PreviewFacts, ArrowError> {
        let Self { mut facts, keys, lines, .. } = self;
        let drawn = lines.into_iter().map(|line| {
            let key = key_texts(&keys, &line.series.key)?;
            let Figures { points, excluded, latest, min, max } = line.figures;
            let shown = key.iter().take(MAX_KEY_PARTS).map(|value| {
                value.as_ref().map(|text| cut_text(text, MAX_CELL_CHARACTERS).to_owned())
            });
            Ok(DrawnSeries {
                id: series_id(&line.column, key.iter().map(Option::as_deref)),
                key: shown.collect(),
                column: line.column,
                rows: line.series.rows,
                points,
                excluded,
                latest,
                min,
                max,
                line: line.reducer.finish(),
            })
        });
        let drawn: Vec<DrawnSeries> = drawn.collect::<Result<_, ArrowError>>()?;
        if let Some(series) = &mut facts.series {
            series.drawn = drawn;
        }
        Ok(facts.fit())
    }
}
