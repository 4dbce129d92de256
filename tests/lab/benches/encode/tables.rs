//! Synthetic tables, the same at every run, in the three forms that the peers take: arrow-rs and
//! the peers get plain text, our encoders get few-valued text as dictionaries, which the batches of
//! a row group share, as stored tables are read.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray,
};
use arrow::datatypes::{DataType, Field, Int32Type, Schema, SchemaRef};
use yearbook_domain::TextTraits;
use yearbook_generate::SplitMix64;
use yearbook_sdk::testing::Table;

/// One table to encode.
pub(crate) struct BenchTable {
    pub(crate) rows: usize,
    /// With few-valued text as dictionaries, as the product reads it.
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
    /// With plain text.
    pub(crate) plain: Vec<RecordBatch>,
    /// For native runs of our encoders.
    pub(crate) tables: BenchBatches,
}

impl BenchTable {
    /// Returns true if a format shows something of this table: GeoJSON needs a geometry, and that
    /// Arrow keeps dictionaries matters where most columns are such.
    pub(crate) fn is_encoded_as(&self, format: &str) -> bool {
        let fields = self.schema.fields();
        let is_dictionary = |data_type: &DataType| matches!(data_type, DataType::Dictionary(..));
        let dictionaries = fields.iter().filter(|field| is_dictionary(field.data_type())).count();
        match format {
            "geojson" => fields.iter().any(|field| field.name() == GEOMETRY),
            DICTIONARIES => dictionaries * 2 > fields.len() && self.rows > BATCH_ROWS,
            _ => true,
        }
    }
}

/// The format of Arrow that keeps the dictionaries which it is given.
pub(crate) const DICTIONARIES: &str = "arrow.dictionaries=true";

/// Column of the geometry.
const GEOMETRY: &str = "geometry_wkt";

/// Rows of a batch of `long`.
const BATCH_ROWS: usize = 8_192;

/// The same table in batches as they are read, and in larger ones.
pub(crate) struct BenchBatches {
    table: Table,
    batch_rows: usize,
}

impl BenchBatches {
    /// In batches of the size that an encoder asked for.
    pub(crate) fn with_part_rows(&self, part_rows: Option<u32>) -> Table {
        let rows = part_rows.map_or(self.batch_rows, |rows| rows as usize);
        self.table.clone().batches_of(rows.max(self.batch_rows))
    }
}

/// Rows of a row group, as the store cuts them.
const GROUP_ROWS: usize = 131_072;

/// A function that makes a table.
type TableFactory = fn() -> BenchTable;

/// Every table with its name.
pub(crate) const ALL: [(&str, TableFactory); 5] = [
    ("long", || long(1_000_000)),
    ("wide", || wide(200_000)),
    ("spatial", || spatial(20_000)),
    ("boundaries", || boundaries(500)),
    ("small", || long(100)),
];

enum ColumnCells {
    FewTexts(Vec<Option<String>>),
    Texts(Vec<Option<String>>),
    Numbers(Vec<Option<f64>>),
    Integers(Vec<Option<i64>>),
    Booleans(Vec<Option<bool>>),
}

/// 1 date, 1 period, 2 dimensions, 1 value, 1 count, 1 flag.
pub(crate) fn long(rows: usize) -> BenchTable {
    let regions = [
        "Northland",
        "Auckland",
        "Waikato",
        "Bay of Plenty",
        "Hawke's Bay",
        "Te Tai Tokerau \"north\"",
        "Ōtaki",
        "Southland",
    ];
    build(rows, BATCH_ROWS, |from, to, random| {
        let month = |row: usize| (1960 + row / 12 % 60, row % 12 + 1);
        vec![
            (
                "date",
                ColumnCells::FewTexts(
                    (from..to)
                        .map(|row| Some(format!("{}-{:02}-01", month(row).0, month(row).1)))
                        .collect(),
                ),
            ),
            (
                "period",
                ColumnCells::FewTexts(
                    (from..to)
                        .map(|row| Some(format!("{}-{:02}", month(row).0, month(row).1)))
                        .collect(),
                ),
            ),
            (
                "region",
                ColumnCells::FewTexts(
                    (from..to).map(|row| Some(regions[row % regions.len()].to_owned())).collect(),
                ),
            ),
            (
                "measure",
                ColumnCells::FewTexts(
                    (from..to)
                        .map(|row| (row % 50 != 0).then(|| format!("measure {}", row % 23)))
                        .collect(),
                ),
            ),
            ("value", ColumnCells::Numbers((from..to).map(|_| number(random)).collect())),
            (
                "count",
                ColumnCells::Integers((from..to).map(|_| Some(i64::from(random() >> 8))).collect()),
            ),
            ("final", ColumnCells::Booleans((from..to).map(|row| Some(row % 7 != 0)).collect())),
        ]
    })
}

/// 1 date and 30 series.
pub(crate) fn wide(rows: usize) -> BenchTable {
    const NAMES: [&str; 30] = [
        "gdp", "cpi", "ppi", "m1", "m3", "wages", "hours", "jobs", "rent", "sales", "exports",
        "imports", "tourism", "rates", "bonds", "equity", "credit", "savings", "taxes", "benefits",
        "pensions", "health", "schools", "roads", "power", "water", "gas", "dairy", "meat", "wool",
    ];
    build(rows, 2048, |from, to, random| {
        let date = ColumnCells::FewTexts(
            (from..to)
                .map(|row| Some(format!("{}-{:02}-01", 1960 + row / 12 % 60, row % 12 + 1)))
                .collect(),
        );
        let series = NAMES.iter().map(|name| {
            (*name, ColumnCells::Numbers((from..to).map(|_| number(random)).collect()))
        });
        std::iter::once(("date", date)).chain(series).collect()
    })
}

/// An id, a name and a ring of some 250 points.
pub(crate) fn spatial(rows: usize) -> BenchTable {
    build(rows, 90, |from, to, random| {
        let mut ring = |_| {
            let points: Vec<String> = (0..250)
                .map(|_| {
                    format!(
                        "{:.6} {:.6}",
                        166.0 + f64::from(random() >> 12) / 1e5,
                        -47.0 + f64::from(random() >> 12) / 1e5
                    )
                })
                .collect();
            Some(format!("MULTIPOLYGON ((({})))", points.join(", ")))
        };
        vec![
            ("code", ColumnCells::Texts((from..to).map(|row| Some(format!("{row:06}"))).collect())),
            (
                "name",
                ColumnCells::Texts(
                    (from..to).map(|row| Some(format!("Area {row}, \"north\""))).collect(),
                ),
            ),
            (GEOMETRY, ColumnCells::Texts((from..to).map(&mut ring).collect())),
        ]
    })
}

/// An id, a name and a boundary of 200 bytes to 5 MB, as `cargo xtask generate` makes them. As many
/// rows a batch as the store reads of a table with that mean.
pub(crate) fn boundaries(rows: usize) -> BenchTable {
    build(rows, 4, |from, to, _| {
        let mut random = SplitMix64::new(4);
        let mut boundary =
            |row: usize| Some(yearbook_generate::boundary(row as u64, rows as u64, &mut random));
        vec![
            ("code", ColumnCells::Texts((from..to).map(|row| Some(format!("{row:06}"))).collect())),
            (
                "name",
                ColumnCells::Texts(
                    (from..to).map(|row| Some(format!("Area {row}, \"north\""))).collect(),
                ),
            ),
            (GEOMETRY, ColumnCells::Texts((from..to).map(&mut boundary).collect())),
        ]
    })
}

/// Three in four with at most one decimal, one in four with every digit, one in fifty missing.
fn number(random: &mut dyn FnMut() -> u32) -> Option<f64> {
    let bits = random();
    match bits % 100 {
        0 | 1 => None,
        2..27 => Some(f64::from(bits) / 7_919.0),
        _ => Some(f64::from(bits >> 12) / 10.0),
    }
}

fn build(
    rows: usize,
    batch_rows: usize,
    cells: impl Fn(usize, usize, &mut dyn FnMut() -> u32) -> Vec<(&'static str, ColumnCells)>,
) -> BenchTable {
    let mut state = 0x5DEE_CE66_u64;
    let mut random = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    let cells = cells(0, rows, &mut random);
    let (mut batches, mut plain) = (Vec::new(), Vec::new());
    let mut schema = None;
    for from in (0..rows).step_by(GROUP_ROWS) {
        let group = from..rows.min(from + GROUP_ROWS);
        let few_valued = record_batch(&cells, group.clone(), true);
        let schema = schema.get_or_insert_with(|| stored_schema(few_valued.schema_ref(), &cells));
        for at in group.step_by(batch_rows) {
            let rows = at..rows.min(from + GROUP_ROWS).min(at + batch_rows);
            batches.push(read_batch(schema, &cells, rows.clone(), &few_valued, at - from));
            plain.push(record_batch(&cells, rows, false));
        }
    }
    BenchTable {
        rows,
        schema: batches[0].schema(),
        batches,
        plain,
        tables: BenchBatches { table: table(&cells), batch_rows },
    }
}

/// A batch as the store reads it: dictionaries are those of its row group, which has them all from
/// row `at` on, everything else was decoded for it.
fn read_batch(
    schema: &SchemaRef,
    cells: &[(&'static str, ColumnCells)],
    rows: Range<usize>,
    group: &RecordBatch,
    at: usize,
) -> RecordBatch {
    let shared = group.slice(at, rows.len());
    let own = record_batch(cells, rows, true);
    let columns = shared.columns().iter().zip(own.columns());
    let columns = columns.map(|(shared, own)| {
        Arc::clone(if matches!(shared.data_type(), DataType::Dictionary(..)) {
            shared
        } else {
            own
        })
    });
    RecordBatch::try_new(Arc::clone(schema), columns.collect()).unwrap()
}

fn record_batch(
    cells: &[(&'static str, ColumnCells)],
    rows: Range<usize>,
    dictionaries: bool,
) -> RecordBatch {
    let arrays: Vec<ArrayRef> = cells
        .iter()
        .map(|(_, cells)| -> ArrayRef {
            match cells {
                ColumnCells::FewTexts(texts) if dictionaries => Arc::new(
                    texts[rows.clone()]
                        .iter()
                        .map(Option::as_deref)
                        .collect::<DictionaryArray<Int32Type>>(),
                ),
                ColumnCells::FewTexts(texts) | ColumnCells::Texts(texts) => {
                    Arc::new(StringArray::from_iter(texts[rows.clone()].iter()))
                }
                ColumnCells::Numbers(numbers) => {
                    Arc::new(Float64Array::from(numbers[rows.clone()].to_vec()))
                }
                ColumnCells::Integers(integers) => {
                    Arc::new(Int64Array::from(integers[rows.clone()].to_vec()))
                }
                ColumnCells::Booleans(booleans) => {
                    Arc::new(BooleanArray::from(booleans[rows.clone()].to_vec()))
                }
            }
        })
        .collect();
    let fields: Vec<Field> = cells
        .iter()
        .zip(&arrays)
        .map(|((name, _), array)| Field::new(*name, DataType::clone(array.data_type()), true))
        .collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

/// `schema` as the store reads it: with the role of a geometry, and with the traits that publishing
/// finds of text that has many values. Peers and arrow-rs get the table without.
fn stored_schema(schema: &Schema, cells: &[(&'static str, ColumnCells)]) -> SchemaRef {
    let field = |(field, (_, cells)): (&Arc<Field>, &(_, ColumnCells))| {
        let mut field = Field::clone(field);
        if let ColumnCells::Texts(texts) = cells {
            let held = |traits: TextTraits, text: &String| traits.held_by(text.as_bytes());
            let traits = texts.iter().flatten().fold(TextTraits::all(), held);
            let value = traits.to_field_value();
            field.metadata_mut().insert(TextTraits::FIELD_KEY.to_owned(), value);
        }
        if field.name() == GEOMETRY {
            let (key, value) = ROLE;
            field.metadata_mut().insert(key.to_owned(), value.to_owned());
        }
        field
    };
    Arc::new(Schema::new(schema.fields().iter().zip(cells).map(field).collect::<Vec<_>>()))
}

/// Metadata of the column that holds the geometry.
const ROLE: (&str, &str) = ("yearbook.role", "geometry");

fn table(cells: &[(&'static str, ColumnCells)]) -> Table {
    let table = cells.iter().fold(Table::new(), |table, (name, cells)| match cells {
        ColumnCells::FewTexts(texts) => table.dictionary(name, texts),
        ColumnCells::Texts(texts) => table.text(name, texts),
        ColumnCells::Numbers(numbers) => table.numbers(name, numbers),
        ColumnCells::Integers(integers) => table.integers(name, integers),
        ColumnCells::Booleans(booleans) => table.booleans(name, booleans),
    });
    if cells.iter().all(|(name, _)| *name != GEOMETRY) {
        return table;
    }
    table.about(GEOMETRY, ROLE.0, ROLE.1)
}
