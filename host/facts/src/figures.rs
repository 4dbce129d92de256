//! Figures of one value column, or of one series in it: points, latest, smallest and greatest
//! (contract-9-points, contract-9-latest).

use arrow::array::{Array, AsArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{Float64Type, Int64Type};
use yearbook_domain::preview_facts::{DatedFigure, Figure, ValueFacts};

/// A cell of a value column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NumberCell {
    Null,
    /// NaN or infinite.
    NotFinite,
    Finite(Figure),
}

impl NumberCell {
    /// The figure of a finite value.
    pub(super) fn figure(self) -> Option<Figure> {
        match self {
            Self::Finite(figure) => Some(figure),
            Self::Null | Self::NotFinite => None,
        }
    }
}

/// A column of integers or numbers.
#[derive(Clone, Copy)]
pub(super) enum NumberColumn<'a> {
    Integers(&'a Int64Array),
    Numbers(&'a Float64Array),
}

impl<'a> NumberColumn<'a> {
    /// The column at `position`; `None` where it holds no numbers.
    pub(super) fn new(batch: &'a RecordBatch, position: usize) -> Option<Self> {
        let array = batch.columns().get(position)?;
        let integers = array.as_primitive_opt::<Int64Type>().map(Self::Integers);
        integers.or_else(|| array.as_primitive_opt::<Float64Type>().map(Self::Numbers))
    }

    pub(super) fn cell(self, row: usize) -> NumberCell {
        match self {
            Self::Integers(array) if array.is_valid(row) => {
                NumberCell::Finite(Figure::Integer(array.value(row)))
            }
            Self::Numbers(array) if array.is_valid(row) => match array.value(row) {
                value if value.is_finite() => NumberCell::Finite(Figure::Number(value)),
                _ => NumberCell::NotFinite,
            },
            Self::Integers(_) | Self::Numbers(_) => NumberCell::Null,
        }
    }
}

/// Dates of a batch.
pub(super) fn dates(batch: &RecordBatch, position: Option<usize>) -> Option<&StringArray> {
    batch.columns().get(position?)?.as_string_opt::<i32>()
}

/// The date of a row.
pub(super) fn date_at(dates: Option<&StringArray>, row: usize) -> Option<&str> {
    dates.filter(|dates| dates.is_valid(row)).map(|dates| dates.value(row))
}

/// Figures so far. Rows come in the order of their dates.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    pub(super) points: u64,
    pub(super) excluded: u64,
    pub(super) latest: Option<DatedFigure>,
    pub(super) min: Option<Figure>,
    pub(super) max: Option<Figure>,
}

impl Figures {
    /// Takes in the next row.
    pub(super) fn push(&mut self, cell: NumberCell, date: Option<&str>) {
        match cell {
            NumberCell::Null => {}
            NumberCell::NotFinite => self.excluded += 1,
            NumberCell::Finite(value) => {
                self.points += 1;
                if self.min.is_none_or(|min| value.compare(min).is_lt()) {
                    self.min = Some(value);
                }
                if self.max.is_none_or(|max| value.compare(max).is_gt()) {
                    self.max = Some(value);
                }
                if let Some(date) = date {
                    self.set_latest(date, value);
                }
            }
        }
    }

    /// Reuses the text of the date before.
    fn set_latest(&mut self, date: &str, value: Figure) {
        match &mut self.latest {
            Some(latest) => {
                if latest.date != date {
                    date.clone_into(&mut latest.date);
                }
                latest.value = value;
            }
            None => self.latest = Some(DatedFigure { date: date.to_owned(), value }),
        }
    }

    /// The figures of the column called `name`.
    pub(super) fn into_facts(self, name: &str) -> ValueFacts {
        let Self { points, excluded, latest, min, max } = self;
        ValueFacts { column: name.to_owned(), points, excluded, latest, min, max }
    }
}
