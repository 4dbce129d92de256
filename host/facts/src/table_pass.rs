//! The first pass: everything but lines.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::error::ArrowError;
use yearbook_domain::ResultDigest;
use yearbook_domain::preview_facts::{CentroidSample, FACTS_VERSION, PreviewFacts, SeriesPreview};
use yearbook_domain::values::StoredValues;
use yearbook_scan::ValuesPass;

use super::figures::{Figures, NumberColumn, date_at, dates};
use super::latest::LatestRowsPass;
use super::lines::LinePass;
use super::series::SeriesCounter;
use super::table_shape::TableShape;

/// Rows of a table, in order, being counted.
pub struct TablePass {
    shape: TableShape,
    /// Rows so far.
    rows: u64,
    figures: Vec<Figures>,
    /// `None` without a date column.
    series: Option<SeriesCounter>,
    values: ValuesPass,
    centroids: Option<CentroidPass>,
    latest: LatestRowsPass,
    digest: ResultDigest,
}

impl TablePass {
    /// `digest` is that of the whole table.
    pub fn new(shape: TableShape, digest: ResultDigest) -> Result<Self, ArrowError> {
        let all: Vec<usize> = (0..shape.columns.len()).collect();
        Ok(Self {
            rows: 0,
            values: ValuesPass::new(&shape.columns, &all),
            figures: vec![Figures::default(); shape.values.len()],
            series: shape.date.map(|_| SeriesCounter::new(&shape)).transpose()?,
            centroids: shape.geometry.map(|column| CentroidPass::new(column, shape.rows)),
            latest: LatestRowsPass::new(&shape),
            digest,
            shape,
        })
    }

    /// Takes in the next rows, all columns of them.
    pub fn update(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        self.latest.update(batch, self.rows);
        if let Some(centroids) = &mut self.centroids {
            centroids.update(batch, self.rows);
        }
        let dates = dates(batch, self.shape.date);
        let number = |position: &usize| {
            let no_number =
                || ArrowError::SchemaError(format!("column {position} holds no numbers"));
            NumberColumn::new(batch, *position).ok_or_else(no_number)
        };
        let values: Vec<NumberColumn<'_>> =
            self.shape.values.iter().map(number).collect::<Result<_, _>>()?;
        for (figures, value) in self.figures.iter_mut().zip(&values) {
            for row in 0..batch.num_rows() {
                figures.push(value.cell(row), date_at(dates, row));
            }
        }
        if let Some(series) = &mut self.series {
            series.update(batch, &values, dates)?;
        }
        self.values.update(batch)?;
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// The facts without lines, in the pass that draws these, and the values of the columns that
    /// have few.
    pub fn finish(self) -> Result<(LinePass, StoredValues), ArrowError> {
        let Self { shape, rows, figures, series, values, .. } = self;
        let (centroids, latest, digest) = (self.centroids, self.latest, self.digest);
        let values = values.finish();
        let mut facts = PreviewFacts {
            version: FACTS_VERSION,
            rows,
            values: shape
                .values
                .iter()
                .zip(figures)
                .map(|(position, figures)| figures.into_facts(shape.name(*position)))
                .collect(),
            values_left_out: shape.values_left_out,
            series: None,
            series_number: series.as_ref().map(SeriesCounter::number),
            axis: series.as_ref().and_then(SeriesCounter::axis),
            centroids: centroids.map(|pass| pass.sample),
            digest,
            latest: latest.finish(),
        };
        let Some(series) = series.filter(|_| shape.has_series()) else {
            return Ok((LinePass::new(&shape, facts, Vec::new())?, values));
        };
        if series.number() > 1 {
            // They share their last dates, so a latest value would be one of many.
            facts.values.iter_mut().for_each(|value| value.latest = None);
        }
        facts.series = Some(SeriesPreview { key_columns: Vec::new(), drawn: Vec::new() });
        Ok((LinePass::new(&shape, facts, series.choose(&shape.units()))?, values))
    }
}

/// Centroids of the sampled rows, being found.
struct CentroidPass {
    /// Position of the geometry column.
    column: usize,
    /// Rows of the sample that have not come yet, the next one last.
    wanted: Vec<u64>,
    sample: CentroidSample,
}

impl CentroidPass {
    fn new(column: usize, features: u64) -> Self {
        let mut wanted: Vec<u64> = CentroidSample::sampled_rows(features).collect();
        wanted.reverse();
        Self { column, wanted, sample: CentroidSample { features, points: Vec::new() } }
    }

    /// Takes in a batch whose first row is row `first` of the table.
    fn update(&mut self, batch: &RecordBatch, first: u64) {
        let texts = batch.columns().get(self.column).and_then(|array| array.as_string_opt::<i32>());
        let end = first + batch.num_rows() as u64;
        while let Some(row) = self.wanted.pop_if(|row| *row < end) {
            let row = usize::try_from(row - first).unwrap_or(usize::MAX);
            let text = texts.filter(|texts| texts.is_valid(row)).map(|texts| texts.value(row));
            // A text that was checked is well-formed.
            let centroid = text.and_then(|text| yearbook_wkt::centroid(text).ok().flatten());
            self.sample.points.extend(centroid);
        }
    }
}
