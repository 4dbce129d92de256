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

/// Columns with their names.
type Cells = Vec<(&'static str, ColumnCells)>;

/// Numbers that look random.
type Random<'a> = &'a mut dyn FnMut() -> u32;

fn few(rows: usize, text: impl Fn(usize) -> String) -> ColumnCells {
    ColumnCells::FewTexts((0..rows).map(|row| Some(text(row))).collect())
}

fn texts(rows: usize, text: impl FnMut(usize) -> String) -> ColumnCells {
    ColumnCells::Texts((0..rows).map(text).map(Some).collect())
}

fn numbers(rows: usize, random: Random<'_>) -> ColumnCells {
    ColumnCells::Numbers((0..rows).map(|_| number(random)).collect())
}

/// A month, so that each comes again.
fn month(row: usize) -> String {
    format!("{}-{:02}", 1960 + row / 12 % 60, row % 12 + 1)
}

/// 1 date, 1 period, 2 dimensions, 1 value, 1 count, 1 flag.
pub(crate) fn long(rows: usize) -> BenchTable {
    const REGIONS: [&str; 8] = [
        "Northland",
        "Auckland",
        "Waikato",
        "Bay of Plenty",
        "Hawke's Bay",
        "Te Tai Tokerau \"north\"",
        "Ōtaki",
        "Southland",
    ];
    build(rows, BATCH_ROWS, |random| {
        let measure = |row| (row % 50 != 0).then(|| format!("measure {}", row % 23));
        vec![
            ("date", few(rows, |row| format!("{}-01", month(row)))),
            ("period", few(rows, month)),
            ("region", few(rows, |row| REGIONS[row % REGIONS.len()].to_owned())),
            ("measure", ColumnCells::FewTexts((0..rows).map(measure).collect())),
            ("value", numbers(rows, random)),
            (
                "count",
                ColumnCells::Integers((0..rows).map(|_| Some(i64::from(random() >> 8))).collect()),
            ),
            ("final", ColumnCells::Booleans((0..rows).map(|row| Some(row % 7 != 0)).collect())),
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
    build(rows, 2048, |random| {
        let date = ("date", few(rows, |row| format!("{}-01", month(row))));
        let series = NAMES.iter().map(|name| (*name, numbers(rows, random)));
        std::iter::once(date).chain(series).collect()
    })
}

/// An id, a name and a ring of some 250 points.
pub(crate) fn spatial(rows: usize) -> BenchTable {
    build(rows, 90, |random| {
        let mut point = |_| {
            let [east, north] = [166.0, -47.0].map(|from| from + f64::from(random() >> 12) / 1e5);
            format!("{east:.6} {north:.6}")
        };
        areas(rows, |_| {
            let points: Vec<String> = (0..250).map(&mut point).collect();
            format!("MULTIPOLYGON ((({})))", points.join(", "))
        })
    })
}

/// An id, a name and a boundary of 200 bytes to 5 MB, as `cargo xtask generate` makes them. As many
/// rows a batch as the store reads of a table with that mean.
pub(crate) fn boundaries(rows: usize) -> BenchTable {
    build(rows, 4, |_| {
        let mut random = SplitMix64::new(4);
        areas(rows, |row| yearbook_generate::boundary(row as u64, rows as u64, &mut random))
    })
}

fn areas(rows: usize, geometry: impl FnMut(usize) -> String) -> Cells {
    vec![
        ("code", texts(rows, |row| format!("{row:06}"))),
        ("name", texts(rows, |row| format!("Area {row}, \"north\""))),
        (GEOMETRY, texts(rows, geometry)),
    ]
}

/// Three in four with at most one decimal, one in four with every digit, one in fifty missing.
fn number(random: Random<'_>) -> Option<f64> {
    let bits = random();
    match bits % 100 {
        0 | 1 => None,
        2..27 => Some(f64::from(bits) / 7_919.0),
        _ => Some(f64::from(bits >> 12) / 10.0),
    }
}

fn build(rows: usize, batch_rows: usize, cells: impl Fn(Random<'_>) -> Cells) -> BenchTable {
    let mut state = 0x5DEE_CE66_u64;
    let mut random = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    let cells = cells(&mut random);
    let (mut batches, mut plain) = (Vec::new(), Vec::new());
    let mut schema = None;
    for from in (0..rows).step_by(GROUP_ROWS) {
        let group = from..rows.min(from + GROUP_ROWS);
        let few_valued = record_batch(&cells, group.clone(), true);
        let schema = schema.get_or_insert_with(|| stored_schema(few_valued.schema_ref(), &cells));
        for at in group.step_by(batch_rows) {
            let rows = at..rows.min(from + GROUP_ROWS).min(at + batch_rows);
            let own = record_batch(&cells, rows.clone(), false);
            batches.push(read_batch(schema, &few_valued.slice(at - from, rows.len()), &own));
            plain.push(own);
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

/// A batch as the store reads it: dictionaries are those of its row group, everything else was
/// decoded for it.
fn read_batch(schema: &SchemaRef, group: &RecordBatch, own: &RecordBatch) -> RecordBatch {
    let columns = group.columns().iter().zip(own.columns()).map(|(group, own)| {
        let is_shared = matches!(group.data_type(), DataType::Dictionary(..));
        Arc::clone(if is_shared { group } else { own })
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
