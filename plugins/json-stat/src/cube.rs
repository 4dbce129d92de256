//! The cube: dimensions with their categories, and the number of each row's first cell.

use std::collections::HashMap;

use yearbook_sdk::column::Dictionary;
use yearbook_sdk::generator::Role;
use yearbook_sdk::{Batch, Code, Column, Error, Field, Schema, Values};

/// Cells at most: readers make room for every one of them.
const MAX_CELLS: u64 = 100_000_000;

/// Dimensions and columns of values.
#[derive(Debug)]
pub(crate) struct Cube {
    /// In the order of the columns; the dimension of the metrics comes after them.
    pub(crate) dimensions: Vec<Dimension>,
    /// Positions of the columns of values, which are the metrics.
    pub(crate) values: Vec<usize>,
    /// Id of the dimension of the metrics.
    pub(crate) metric: String,
    /// Number of its cells.
    pub(crate) cells: u64,
}

/// A column of the key.
#[derive(Debug)]
pub(crate) struct Dimension {
    /// Position of the column.
    pub(crate) column: usize,
    /// Number of its categories.
    pub(crate) size: u64,
    /// Number of each value's category.
    numbers: HashMap<String, u64>,
    /// Cells from one category to the next.
    step: u64,
}

impl Cube {
    /// Finds the dimensions, or declines.
    pub(crate) fn new(schema: &Schema) -> Result<Self, Error> {
        let decline = |sentence: String| Error::UnsupportedSchema(sentence);
        let Some(key) = schema.primary_key() else {
            let sentence = "these rows have no primary key, so that two of them could be one cell of a cube; ask for another format";
            return Err(decline(sentence.to_owned()));
        };
        let position = |name: &str| schema.fields.iter().position(|field| field.name == name);
        let mut columns = Vec::with_capacity(key.len());
        for name in key {
            columns.push(position(name).ok_or_else(|| {
                decline(format!(
                    "a cube needs all columns of the primary key; name `{name}` in `columns` too"
                ))
            })?);
        }
        columns.sort_unstable();
        let fields = schema.fields.iter().enumerate();
        let values: Vec<usize> = fields
            .filter(|(at, field)| field.role() == Some(Role::Value) && !columns.contains(at))
            .map(|(at, _)| at)
            .collect();
        if values.is_empty() {
            let sentence =
                "there is no column of values; name one in `columns`, or ask for another format";
            return Err(decline(sentence.to_owned()));
        }
        let mut cells = values.len() as u64;
        let mut dimensions = Vec::with_capacity(columns.len());
        for column in columns.into_iter().rev() {
            let field = &schema.fields[column];
            let codes = codes(field)?;
            let size = codes.len() as u64;
            let numbers = codes.iter().map(|code| code.value.clone()).zip(0..).collect();
            dimensions.push(Dimension { column, size, numbers, step: cells });
            cells = cells.saturating_mul(size);
        }
        dimensions.reverse();
        if cells > MAX_CELLS {
            return Err(decline(format!(
                "the cube would have {cells} cells, more than {MAX_CELLS}; choose fewer values with `where`, `start` and `end`"
            )));
        }
        let mut metric = "metric".to_owned();
        while position(&metric).is_some() {
            metric.push('_');
        }
        Ok(Self { dimensions, values, metric, cells })
    }

    /// Returns whether anything is read of a column.
    pub(crate) fn reads(&self, column: usize) -> bool {
        let of_key = self.dimensions.iter().any(|dimension| dimension.column == column);
        of_key || self.values.contains(&column)
    }

    /// Number of the first cell of each row.
    pub(crate) fn cells(&self, batch: &Batch) -> Result<Vec<u64>, Error> {
        let mut cells = vec![0; batch.rows()];
        for dimension in &self.dimensions {
            let field = &batch.schema().fields[dimension.column];
            dimension.add(field, &batch.column(dimension.column), &mut cells)?;
        }
        Ok(cells)
    }
}

/// Values of a column of the key.
pub(crate) fn codes(field: &Field) -> Result<&[Code], Error> {
    field.codes.as_deref().ok_or_else(|| {
        Error::UnsupportedSchema(format!(
            "the values of `{}`, which is in the primary key, are not known before its rows are read, or are too many for a dimension; ask for another format",
            field.name
        ))
    })
}

impl Dimension {
    /// Adds the place of each row's category.
    fn add(&self, field: &Field, column: &Column<'_>, cells: &mut [u64]) -> Result<(), Error> {
        if let Values::Dictionary(Dictionary { keys, values, .. }) = &column.values {
            let place = |at| self.place(values.text(at)?);
            let places: Vec<Option<u64>> = (0..values.length).map(place).collect();
            for (row, (cell, key)) in cells.iter_mut().zip(keys.iter()).enumerate() {
                let key = usize::try_from(*key).ok().filter(|_| column.is_valid(row));
                let place = key.and_then(|key| places.get(key).copied().flatten());
                *cell += place.ok_or_else(|| unknown(field))?;
            }
            return Ok(());
        }
        // Rows that follow each other mostly share a date.
        let (mut last, mut place) = (String::new(), None);
        for (row, cell) in cells.iter_mut().enumerate() {
            let found = match &column.values {
                Values::Int64(_) => column.integer(row).and_then(|n| self.place(&n.to_string())),
                Values::Boolean(_) => column.boolean(row).and_then(|b| self.place(&b.to_string())),
                _ => column.text(row).and_then(|text| {
                    if place.is_none() || last != text {
                        last.clear();
                        last.push_str(text);
                        place = self.place(text);
                    }
                    place
                }),
            };
            *cell += found.ok_or_else(|| unknown(field))?;
        }
        Ok(())
    }

    fn place(&self, value: &str) -> Option<u64> {
        self.numbers.get(value).map(|number| number * self.step)
    }
}

/// A row whose place nobody knows: a null, or a value that was not told.
fn unknown(field: &Field) -> Error {
    Error::Internal(format!("a value of `{}` is null or was not told before", field.name))
}
