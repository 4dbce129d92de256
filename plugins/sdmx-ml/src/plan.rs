//! Cells that are written of each row.

use yearbook_sdk::{Batch, Error, Schema, View};
use yearbook_sdmx_model::{
    BatchCells, Cells, MEASURE, OBS_VALUE, Representation, Source, Structure, TIME_PERIOD,
};

use crate::xml::Xml;

/// Places of observations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Each with its whole key.
    Flat,
    /// Inside series.
    Series,
    /// Series without observations.
    SeriesKeys,
}

/// Parts of an observation that are told beside its key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    /// Set where values are.
    pub(crate) values: bool,
    /// Set where attributes are.
    pub(crate) attributes: bool,
}

/// Lanes of cells, in the order in which they are written.
#[derive(Debug)]
pub(crate) struct Plan {
    layout: Layout,
    cells: Cells<Xml>,
    /// The columns of the key, without time.
    key: Vec<usize>,
    time: Option<usize>,
    measures: Vec<MeasureLanes>,
}

/// Lanes of a column of values.
#[derive(Debug)]
struct MeasureLanes {
    /// Its name in a wide table.
    name: Option<usize>,
    value: Option<usize>,
    attributes: Vec<usize>,
}

impl Plan {
    /// Plans the cells.
    pub(crate) fn new(structure: &Structure, layout: Layout, shown: Shown) -> Self {
        let mut cells = Cells::new(Xml, b"\"", false);
        let mut add = |id: &str, source| cells.add(source, format!(" {id}=\"").into_bytes());
        let key = structure.dimensions.iter();
        let key = key.map(|one| add(&one.id, Source::Code(one.column))).collect();
        let time = structure.time.map(|time| add(TIME_PERIOD, Source::Time(time)));
        let attributes = if shown.attributes { &*structure.attributes } else { &[] };
        // A column is rendered once, whichever measures it speaks of.
        let mut lanes: Vec<(usize, usize)> = Vec::new();
        let mut measures = Vec::with_capacity(structure.measures.len());
        for (number, measure) in structure.measures.iter().enumerate() {
            let code = || Source::Constant(measure.code.clone().into_bytes());
            let name = structure.is_wide.then(|| add(MEASURE, code()));
            let value = shown.values.then(|| add(OBS_VALUE, Source::Plain(measure.column)));
            let mut of_measure = Vec::with_capacity(attributes.len());
            for attribute in attributes {
                let Some(column) = attribute.column(number) else { continue };
                let there = lanes.iter().find(|(of, _)| *of == column).map(|(_, lane)| *lane);
                let lane = there.unwrap_or_else(|| {
                    let source = match attribute.representation {
                        Representation::Coded => Source::Code(column),
                        Representation::Plain(_) => Source::Plain(column),
                    };
                    add(&attribute.id, source)
                });
                lanes.push((column, lane));
                of_measure.push(lane);
            }
            measures.push(MeasureLanes { name, value, attributes: of_measure });
        }
        Self { layout, cells, key, time, measures }
    }

    /// Views of the columns.
    pub(crate) fn views(&self, schema: &Schema) -> Result<Vec<View>, Error> {
        self.cells.views(schema)
    }

    /// Appends the rows of a batch.
    pub(crate) fn write(&mut self, batch: &Batch, out: &mut Vec<u8>) {
        let Self { layout, cells, key, time, measures } = self;
        let writer =
            Writer { cells: cells.prepare_batch(batch), key, time: time.as_slice(), measures };
        match layout {
            Layout::Flat => writer.flat(batch.rows(), out),
            Layout::Series => writer.series(batch.rows(), true, out),
            Layout::SeriesKeys => writer.series(batch.rows(), false, out),
        }
    }
}

/// The cells of a batch, and what to do with them.
struct Writer<'a> {
    cells: BatchCells<'a, Xml>,
    key: &'a [usize],
    time: &'a [usize],
    measures: &'a [MeasureLanes],
}

/// Cells of a row that its observations share, kept while they are the same lanes.
#[derive(Default)]
struct Shared<'a> {
    lanes: Option<&'a [usize]>,
    bytes: Vec<u8>,
}

impl<'a> Writer<'a> {
    fn lanes(&self, lanes: &[usize], row: usize, out: &mut Vec<u8>) {
        lanes.iter().for_each(|lane| self.cells.write(*lane, row, out));
    }

    /// The attributes of a measure's observation.
    fn attributes<'s>(
        &self,
        lanes: &'a [usize],
        row: usize,
        shared: &'s mut Shared<'a>,
    ) -> &'s [u8] {
        if shared.lanes != Some(lanes) {
            shared.lanes = Some(lanes);
            shared.bytes.clear();
            self.lanes(lanes, row, &mut shared.bytes);
        }
        &shared.bytes
    }

    fn flat(&self, rows: usize, out: &mut Vec<u8>) {
        let (mut key, mut time, mut shared) = (Vec::new(), Vec::new(), Shared::default());
        for row in 0..rows {
            key.clear();
            key.extend_from_slice(b"<Obs");
            self.lanes(self.key, row, &mut key);
            time.clear();
            self.lanes(self.time, row, &mut time);
            shared.lanes = None;
            for MeasureLanes { name, value, attributes } in self.measures {
                out.extend_from_slice(&key);
                self.lanes(name.as_slice(), row, out);
                out.extend_from_slice(&time);
                self.lanes(value.as_slice(), row, out);
                out.extend_from_slice(self.attributes(attributes, row, &mut shared));
                out.extend_from_slice(b"/>\n");
            }
        }
    }

    /// Rows with the same key that follow each other are a series.
    fn series(&self, rows: usize, with_observations: bool, out: &mut Vec<u8>) {
        let (mut key, mut next) = (Vec::new(), Vec::new());
        let mut first = 0;
        for row in 0..=rows {
            next.clear();
            if row < rows {
                self.lanes(self.key, row, &mut next);
                if row == 0 || next == key {
                    std::mem::swap(&mut key, &mut next);
                    continue;
                }
            }
            for measure in self.measures.iter().filter(|_| row > first) {
                out.extend_from_slice(b"<Series");
                out.extend_from_slice(&key);
                self.lanes(measure.name.as_slice(), first, out);
                if !with_observations {
                    out.extend_from_slice(b"/>\n");
                    continue;
                }
                out.extend_from_slice(b">\n");
                for row in first..row {
                    out.extend_from_slice(b"<Obs");
                    self.lanes(self.time, row, out);
                    self.lanes(measure.value.as_slice(), row, out);
                    self.lanes(&measure.attributes, row, out);
                    out.extend_from_slice(b"/>\n");
                }
                out.extend_from_slice(b"</Series>\n");
            }
            std::mem::swap(&mut key, &mut next);
            first = row;
        }
    }
}
