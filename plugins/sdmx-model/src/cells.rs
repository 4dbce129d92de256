//! Cells of observations out of batches: codes, times and values in a format's own spelling.

mod entries;

use yearbook_sdk::column::Dictionary;
use yearbook_sdk::text::{Dialect, check, render};
use yearbook_sdk::view::Crossing;
use yearbook_sdk::{Batch, Column, Error, Schema, Values, View};

use self::entries::Entries;
use crate::{Time, encode, has_sdmx_form};

/// Content of a cell.
#[derive(Debug, Clone)]
pub enum Source {
    /// The same text everywhere.
    Constant(Vec<u8>),
    /// The id of a column's value.
    Code(usize),
    /// A column's value.
    Plain(usize),
    /// [`crate::TIME_PERIOD`].
    Time(Time),
}

/// Cells of one kind: what they hold, and what stands before one that is there.
#[derive(Debug)]
struct Lane {
    source: Source,
    before: Vec<u8>,
    entries: Entries,
}

/// Writes cells, each with what stands before and after it; nothing, or a text of the format, where
/// one is null. Values of dictionaries are rendered once.
#[derive(Debug)]
pub struct Cells<D> {
    dialect: D,
    /// Text after a cell.
    after: &'static [u8],
    /// Set where what stands before and after a cell is there for null too.
    frames_null: bool,
    lanes: Vec<Lane>,
}

impl<D: Dialect> Cells<D> {
    /// Starts without lanes.
    #[must_use]
    pub fn new(dialect: D, after: &'static [u8], frames_null: bool) -> Self {
        Self { dialect, after, frames_null, lanes: Vec::new() }
    }

    /// Adds a lane and returns its number.
    pub fn add(&mut self, source: Source, before: Vec<u8>) -> usize {
        self.lanes.push(Lane { source, before, entries: Entries::default() });
        self.lanes.len() - 1
    }

    /// Views of the columns of `schema`.
    ///
    /// # Errors
    /// [`Error::UnsupportedSchema`] naming a column that the dialect cannot write.
    pub fn views(&self, schema: &Schema) -> Result<Vec<View>, Error> {
        let unread = View { crossing: Crossing::Lengths, ..View::WHOLE };
        let mut views = vec![unread; schema.fields.len()];
        for lane in &self.lanes {
            for column in lane.source.columns() {
                check::<D>(&schema.fields[column..=column])?;
                views[column] = View::WHOLE;
            }
        }
        Ok(views)
    }

    /// Prepares the cells of a batch.
    pub fn prepare_batch<'a>(&'a mut self, batch: &'a Batch) -> BatchCells<'a, D> {
        let Self { dialect, after, frames_null, lanes } = self;
        let frame = Frame { dialect: &*dialect, after, frames_null: *frames_null };
        let cells = lanes.iter_mut().map(|lane| frame.prepare(lane, batch)).collect();
        BatchCells { frame, cells }
    }
}

impl Source {
    fn columns(&self) -> impl Iterator<Item = usize> {
        let columns = match self {
            Self::Constant(_) => [None, None],
            Self::Code(column) | Self::Plain(column) => [Some(*column), None],
            Self::Time(time) => [Some(time.date), time.period],
        };
        columns.into_iter().flatten()
    }
}

/// The cells of one batch.
#[derive(Debug)]
pub struct BatchCells<'a, D> {
    frame: Frame<'a, D>,
    cells: Vec<Cell<'a>>,
}

impl<D: Dialect> BatchCells<'_, D> {
    /// Appends a lane's cell of a row.
    #[inline]
    pub fn write(&self, lane: usize, row: usize, out: &mut Vec<u8>) {
        self.frame.write(&self.cells[lane], row, out);
    }
}

/// Surroundings of cells.
#[derive(Debug)]
struct Frame<'a, D> {
    dialect: &'a D,
    after: &'static [u8],
    frames_null: bool,
}

/// Cells of a lane in one batch.
#[derive(Debug)]
enum Cell<'a> {
    /// The same everywhere.
    Constant(&'a Entries),
    /// A dictionary's rendered values; where one has no text, or is null, what `otherwise` has.
    Rendered {
        column: Column<'a>,
        before: &'a [u8],
        entries: &'a Entries,
        otherwise: Option<Box<Cell<'a>>>,
    },
    /// Values of a column one by one.
    Each { column: Column<'a>, before: &'a [u8], kind: Kind, otherwise: Option<Box<Cell<'a>>> },
}

/// Spelling of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Plain,
    /// Null where it is no period in SDMX.
    Period,
}

impl<'f, D: Dialect> Frame<'f, D> {
    fn prepare<'a>(&self, lane: &'a mut Lane, batch: &'a Batch) -> Cell<'a> {
        let Lane { source, before, entries } = lane;
        match source {
            Source::Constant(text) => {
                entries.render(u64::MAX, 1, |_, out| {
                    out.extend_from_slice(before);
                    out.extend_from_slice(text);
                    out.extend_from_slice(self.after);
                });
                Cell::Constant(entries)
            }
            Source::Code(column) => {
                self.column(batch.column(*column), Kind::Code, before, entries, None)
            }
            Source::Plain(column) => {
                self.column(batch.column(*column), Kind::Plain, before, entries, None)
            }
            Source::Time(Time { date, period }) => {
                let column = batch.column(*date);
                let date = Cell::Each { column, before, kind: Kind::Plain, otherwise: None };
                let Some(period) = period else { return date };
                let date = Some(Box::new(date));
                self.column(batch.column(*period), Kind::Period, before, entries, date)
            }
        }
    }

    fn column<'a>(
        &self,
        column: Column<'a>,
        kind: Kind,
        before: &'a [u8],
        entries: &'a mut Entries,
        otherwise: Option<Box<Cell<'a>>>,
    ) -> Cell<'a> {
        if let Values::Dictionary(Dictionary { values, version, .. }) = &column.values {
            entries.render(*version, values.length, |value, out| {
                self.value(values, kind, before, value, out);
            });
            return Cell::Rendered { column, before, entries, otherwise };
        }
        Cell::Each { column, before, kind, otherwise }
    }

    /// Appends a value in its frame; nothing for null.
    fn value(&self, column: &Column<'_>, kind: Kind, before: &[u8], row: usize, out: &mut Vec<u8>) {
        if !column.is_valid(row) {
            return;
        }
        let start = out.len();
        out.extend_from_slice(before);
        match kind {
            Kind::Plain => render(self.dialect, column, row, out),
            Kind::Code => match column.text(row) {
                Some(text) => out.extend_from_slice(encode(text).as_bytes()),
                None => {
                    let from = out.len();
                    render(self.dialect, column, row, out);
                    let code = String::from_utf8_lossy(&out[from..]).into_owned();
                    out.truncate(from);
                    out.extend_from_slice(encode(&code).as_bytes());
                }
            },
            Kind::Period => match column.text(row).filter(|text| has_sdmx_form(text)) {
                Some(text) => self.dialect.text(text.as_bytes(), out),
                None => return out.truncate(start),
            },
        }
        out.extend_from_slice(self.after);
    }

    #[inline]
    fn write(&self, cell: &Cell<'_>, row: usize, out: &mut Vec<u8>) {
        let start = out.len();
        let (before, otherwise) = match cell {
            Cell::Constant(entries) => return out.extend_from_slice(entries.get(0)),
            Cell::Rendered { column, before, entries, otherwise } => {
                if let Values::Dictionary(Dictionary { keys, .. }) = &column.values
                    && column.is_valid(row)
                {
                    out.extend_from_slice(entries.get(usize::try_from(keys[row]).unwrap_or(0)));
                }
                (*before, otherwise)
            }
            Cell::Each { column, before, kind, otherwise } => {
                self.value(column, *kind, before, row, out);
                (*before, otherwise)
            }
        };
        if out.len() > start {
            return;
        }
        if let Some(otherwise) = otherwise {
            self.write(otherwise, row, out);
        } else if self.frames_null {
            out.extend_from_slice(before);
            out.extend_from_slice(D::NULL);
            out.extend_from_slice(self.after);
        }
    }
}
