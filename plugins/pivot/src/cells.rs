//! Cells of the rows of one date, or of none, as they come, and the rows that are made of them.

use std::collections::HashMap;

use yearbook_sdk::transform::{MadeRows, MadeType};
use yearbook_sdk::{Column, Values};

/// Cells of one date, or of none, under construction.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    /// Numbers of the periods.
    periods: HashMap<String, u32>,
    /// Position of each row in `rows`, by its group and its period.
    positions: HashMap<(usize, Option<u32>), usize>,
    rows: Vec<PivotRow>,
    /// Position of the row that came last.
    last: usize,
}

/// A row that comes out.
#[derive(Debug)]
pub(crate) struct PivotRow {
    pub(crate) group: usize,
    pub(crate) date: Option<i32>,
    pub(crate) period: Option<String>,
    /// Its values, each with the number of its column.
    pub(crate) cells: Vec<(usize, Option<Value>)>,
}

/// A value of any type that a column can have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Number(f64),
    Boolean(bool),
}

impl Cells {
    /// Takes a value.
    pub(crate) fn add(
        &mut self,
        (group, date, period): (usize, Option<i32>, Option<&str>),
        cell: (usize, Option<Value>),
    ) {
        // Most values are of the row that the one before was of.
        let is_it = |row: &&mut PivotRow| row.group == group && row.period.as_deref() == period;
        match self.rows.get_mut(self.last).filter(is_it) {
            Some(row) => row.cells.push(cell),
            None => {
                self.last = self.position(group, date, period);
                self.rows[self.last].cells.push(cell);
            }
        }
    }

    /// Position of a row, which is new where it has not come.
    fn position(&mut self, group: usize, date: Option<i32>, period: Option<&str>) -> usize {
        let number = period.map(|period| match self.periods.get(period) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(self.periods.len()).unwrap_or(u32::MAX);
                self.periods.insert(period.to_owned(), number);
                number
            }
        });
        *self.positions.entry((group, number)).or_insert_with(|| {
            let period = period.map(str::to_owned);
            self.rows.push(PivotRow { group, date, period, cells: Vec::new() });
            self.rows.len() - 1
        })
    }

    /// Gives the rows in the order of their periods, rows without one last.
    ///
    /// # Errors
    /// A row with two values for one column, and the number of this column.
    pub(crate) fn into_rows(self) -> Result<Vec<PivotRow>, (PivotRow, usize)> {
        let mut rows = self.rows;
        for position in 0..rows.len() {
            let cells = &mut rows[position].cells;
            cells.sort_by_key(|(column, _)| *column);
            if let Some([(column, _), _]) =
                cells.array_windows().find(|[(one, _), (other, _)]| one == other)
            {
                let column = *column;
                return Err((rows.swap_remove(position), column));
            }
        }
        rows.sort_by(|one, other| {
            let (one, other) = (&one.period, &other.period);
            (one.is_none(), one).cmp(&(other.is_none(), other))
        });
        Ok(rows)
    }
}

impl Value {
    /// Returns the value of a row; `None` for null.
    pub(crate) fn read(column: &Column<'_>, row: usize) -> Option<Self> {
        if !column.is_valid(row) {
            return None;
        }
        match &column.values {
            Values::Int64(values) => Some(Self::Integer(values[row])),
            Values::Float64(values) => Some(Self::Number(values[row])),
            Values::Boolean(values) => Some(Self::Boolean(values.get(row))),
            _ => column.text(row).map(|text| Self::Text(text.to_owned())),
        }
    }

    /// Makes it, or null.
    pub(crate) fn make(value: Option<&Self>, made: &mut MadeRows, at: usize, made_type: MadeType) {
        match (made_type, value) {
            (MadeType::Text, Some(Self::Text(value))) => made.text(at, Some(value)),
            (MadeType::Integer, Some(Self::Integer(value))) => made.integer(at, Some(*value)),
            (MadeType::Number, Some(Self::Number(value))) => made.number(at, Some(*value)),
            (MadeType::Boolean, Some(Self::Boolean(value))) => made.boolean(at, Some(*value)),
            (MadeType::Text, _) => made.text(at, None),
            (MadeType::Integer, _) => made.integer(at, None),
            (MadeType::Boolean, _) => made.boolean(at, None),
            _ => made.number(at, None),
        }
    }
}
