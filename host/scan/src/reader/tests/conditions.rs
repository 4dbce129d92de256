//! Conditions on columns: a scan with them is a filter over the whole table, written down here
//! independently of the code under test.

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
    UInt64Array,
};
use arrow::compute::take_record_batch;
use arrow::datatypes::{Float64Type, Int64Type};
use proptest::prelude::*;
use yearbook_domain::read_plan::{ColumnTest, ColumnValue, Condition, FloatKey, Side};

use super::super::*;
use super::fixture::{FixtureOptions, FixtureRandom, StoredFixture, plan};
use super::laws::{folded, shapes};

/// Numbers next to each other as floats: 2^53 and the integer behind it are one float.
const INTEGERS: [i64; 9] =
    [i64::MIN, -(1 << 53) - 1, -1, 0, 1, 1 << 53, (1 << 53) + 1, i64::MAX - 1, i64::MAX];

const NUMBERS: [f64; 10] = [
    f64::NAN,
    -0.0,
    0.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    5e-324,
    -1.5,
    1.5,
    9_007_199_254_740_992.0,
    1e300,
];

/// Text that folds into each other, and text that statistics cut: they keep 64 bytes.
fn texts() -> Vec<String> {
    let short = ["", "a", "A", "ab", "Ab.", "b", "k", "\u{212a}", "sſ", "σς", "*", "aσ*b"];
    let long = ["x", "xa", "xb", "\u{10ffff}", "\u{10ffff}k"].map(|end| "x".repeat(70) + end);
    short.into_iter().map(str::to_owned).chain(long).chain(["\u{10ffff}".repeat(20)]).collect()
}

#[derive(Clone, Debug)]
enum Cell {
    Text(String),
    Number(f64),
    Integer(i64),
    Boolean(bool),
}

/// A table of the fixture's columns. The values of a column change every `run` rows or so.
fn table(shape: &FixtureOptions, run: usize, nulls: usize) -> RecordBatch {
    let (rows, mut random) = (shape.rows, FixtureRandom(shape.seed));
    let texts = texts();
    let mut place = 0;
    let mut draw = |row: usize, length: usize| {
        if row.is_multiple_of(run) {
            place = random.below(length);
        }
        let odd = if random.below(run) == 0 { random.below(length) } else { place % length };
        (random.below(10) >= nulls).then_some(odd)
    };
    let column = |draw: &mut dyn FnMut(usize, usize) -> Option<usize>, length: usize| {
        (0..rows).map(|row| draw(row, length)).collect::<Vec<_>>()
    };
    let text = |places: Vec<Option<usize>>| -> ArrayRef {
        let cells = places.into_iter().map(|place| place.map(|place| texts[place].as_str()));
        Arc::new(cells.collect::<StringArray>())
    };
    let dates = (0..rows).map(|row| format!("2000-{:02}-15", row * 12 / rows + 1));
    let dates: ArrayRef = Arc::new(StringArray::from_iter_values(dates));
    let regions = text(column(&mut draw, 4));
    let places = text(column(&mut draw, texts.len()));
    let values = column(&mut draw, NUMBERS.len()).into_iter();
    let values: Float64Array = values.map(|place| place.map(|place| NUMBERS[place])).collect();
    let counts = column(&mut draw, INTEGERS.len()).into_iter();
    let counts: Int64Array = counts.map(|place| place.map(|place| INTEGERS[place])).collect();
    let flags = column(&mut draw, 2).into_iter();
    let flags: BooleanArray = flags.map(|place| place.map(|place| place == 1)).collect();
    let columns: [(&str, ArrayRef, bool); 7] = [
        ("date", dates, false),
        ("region", regions, true),
        ("place", places, true),
        ("value", Arc::new(values), true),
        ("count", Arc::new(counts), true),
        ("flag", Arc::new(flags), true),
        ("geometry_wkt", Arc::new(StringArray::new_null(rows)), true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn cell(table: &RecordBatch, column: usize, row: usize) -> Option<Cell> {
    let array = table.column(column);
    array.is_valid(row).then(|| match column {
        3 => Cell::Number(array.as_primitive::<Float64Type>().value(row)),
        4 => Cell::Integer(array.as_primitive::<Int64Type>().value(row)),
        5 => Cell::Boolean(array.as_boolean().value(row)),
        _ => Cell::Text(array.as_string::<i32>().value(row).to_owned()),
    })
}

/// A value that a column may have.
fn value(column: usize, index: usize) -> Cell {
    match column {
        0 => Cell::Text(format!("2000-{:02}-{:02}", index % 12 + 1, index % 3 * 14 + 1)),
        3 => Cell::Number(NUMBERS[index % NUMBERS.len()]),
        4 => Cell::Integer(INTEGERS[index % INTEGERS.len()]),
        5 => Cell::Boolean(index.is_multiple_of(2)),
        _ => Cell::Text(texts()[index % texts().len()].clone()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Word {
    Equal,
    Not,
    AtLeast,
    Above,
    AtMost,
    Below,
    Contains,
    Starts,
    Null,
    NotNull,
}

#[derive(Clone, Debug)]
struct Wish {
    column: usize,
    word: Word,
    values: Vec<Cell>,
}

fn wishes() -> impl Strategy<Value = Wish> {
    use Word::{Above, AtLeast, AtMost, Below, Contains, Equal, Not, NotNull, Null, Starts};
    let words = [Equal, Equal, Not, AtLeast, Above, AtMost, Below, Contains, Starts, Null, NotNull];
    let word = prop::sample::select(words.to_vec());
    (0_usize..6, word, prop::collection::vec(0_usize..100, 1..5)).prop_map(
        |(column, word, indexes)| {
            let is_text = [1, 2].contains(&column);
            let word = match word {
                Contains | Starts if !is_text => Equal,
                Above | AtMost if column == 5 => Not,
                AtLeast | Below if column == 5 => Equal,
                other => other,
            };
            let mut values: Vec<Cell> =
                indexes.into_iter().map(|index| value(column, index)).collect();
            if [AtLeast, Above, AtMost, Below].contains(&word)
                && matches!(values[0], Cell::Number(number) if number.is_nan())
            {
                values[0] = Cell::Number(1.5);
            }
            Wish { column, word, values }
        },
    )
}

impl Wish {
    fn condition(&self) -> Condition {
        let stored = |cell: &Cell| match cell {
            Cell::Text(text) => ColumnValue::Text(text.clone()),
            Cell::Number(number) => ColumnValue::Number(FloatKey::new(*number)),
            Cell::Integer(integer) => ColumnValue::Integer(*integer),
            Cell::Boolean(boolean) => ColumnValue::Boolean(*boolean),
        };
        let mut values: Vec<ColumnValue> = self.values.iter().map(stored).collect();
        let first = values[0].clone();
        values.sort_unstable();
        values.dedup();
        let texts = || values.iter().map(ColumnValue::to_string).collect();
        let test = match self.word {
            Word::Equal => ColumnTest::AnyOf(values),
            Word::Not => ColumnTest::NoneOf(values),
            Word::AtLeast => ColumnTest::Bound(Side::AtLeast, first),
            Word::Above => ColumnTest::Bound(Side::Above, first),
            Word::AtMost => ColumnTest::Bound(Side::AtMost, first),
            Word::Below => ColumnTest::Bound(Side::Below, first),
            Word::Contains => ColumnTest::Contains(texts()),
            Word::Starts => ColumnTest::Starts(texts()),
            Word::Null => ColumnTest::IsNull(true),
            Word::NotNull => ColumnTest::IsNull(false),
        };
        Condition { column: self.column, test }
    }

    fn holds(&self, cell: Option<&Cell>) -> bool {
        let Some(cell) = cell else { return self.word == Word::Null };
        let text = |cell: &Cell| match cell {
            Cell::Text(text) => folded(text),
            other => panic!("{other:?}"),
        };
        let mut values = self.values.iter();
        match self.word {
            Word::Equal => values.any(|value| equal(cell, value)),
            Word::Not => !values.any(|value| equal(cell, value)),
            Word::AtLeast => below(&self.values[0], cell) || equal(cell, &self.values[0]),
            Word::Above => below(&self.values[0], cell),
            Word::AtMost => below(cell, &self.values[0]) || equal(cell, &self.values[0]),
            Word::Below => below(cell, &self.values[0]),
            Word::Contains => values.any(|value| text(cell).contains(&text(value))),
            Word::Starts => values.any(|value| text(cell).starts_with(&text(value))),
            Word::Null => false,
            Word::NotNull => true,
        }
    }
}

fn equal(one: &Cell, other: &Cell) -> bool {
    match (one, other) {
        (Cell::Number(one), Cell::Number(other)) => one == other || one.is_nan() && other.is_nan(),
        (Cell::Text(one), Cell::Text(other)) => one == other,
        (Cell::Integer(one), Cell::Integer(other)) => one == other,
        (Cell::Boolean(one), Cell::Boolean(other)) => one == other,
        _ => panic!("{one:?} and {other:?}"),
    }
}

/// NaN is neither below nor above.
fn below(one: &Cell, other: &Cell) -> bool {
    match (one, other) {
        (Cell::Number(one), Cell::Number(other)) => one < other,
        (Cell::Text(one), Cell::Text(other)) => one.as_bytes() < other.as_bytes(),
        (Cell::Integer(one), Cell::Integer(other)) => one < other,
        _ => panic!("{one:?} and {other:?}"),
    }
}

#[derive(Clone, Debug)]
struct Ask {
    wishes: Vec<Wish>,
    needle: Option<String>,
    start: Option<u32>,
    columns: Vec<usize>,
    max_rows: u64,
    task_limits: ReadTaskLimits,
    room: u64,
}

fn asks() -> impl Strategy<Value = Ask> {
    let needle = prop::option::weighted(0.3, prop::sample::select(vec!["a", "K", "x", "σ", "zz"]));
    let bytes = || prop_oneof![1_u64..3000, Just(8 << 20)];
    let task_limits = (bytes(), 1_usize..100, bytes()).prop_map(|(bytes, rows, kept_bytes)| {
        ReadTaskLimits { bytes, rows, kept_bytes, ..ReadTaskLimits::default() }
    });
    (
        prop::collection::vec(wishes(), 1..4),
        needle,
        prop::option::weighted(0.3, 1_u32..13),
        prop::sample::subsequence((0_usize..7).collect::<Vec<_>>(), 1..7),
        prop_oneof![1_u64..5, 1_u64..400],
        task_limits,
        prop_oneof![Just(0_u64), Just(1 << 30)],
    )
        .prop_map(|(wishes, needle, start, columns, max_rows, task_limits, room)| Ask {
            wishes,
            needle: needle.map(str::to_owned),
            start,
            columns,
            max_rows,
            task_limits,
            room,
        })
}

/// Rows that `ask` wants, found the slow way.
fn matching(table: &RecordBatch, ask: &Ask) -> Vec<u64> {
    let holds = |row: &usize| {
        ask.wishes.iter().all(|wish| wish.holds(cell(table, wish.column, *row).as_ref()))
    };
    let contains = |row: &usize, needle: &str| {
        [1, 2]
            .into_iter()
            .filter_map(|column| cell(table, column, *row))
            .any(|cell| matches!(cell, Cell::Text(text) if folded(&text).contains(&folded(needle))))
    };
    let is_dated = |row: &usize, month: u32| matches!(cell(table, 0, *row), Some(Cell::Text(date)) if date >= format!("2000-{month:02}"));
    (0..table.num_rows())
        .filter(|row| ask.start.is_none_or(|month| is_dated(row, month)))
        .filter(|row| ask.needle.as_ref().is_none_or(|needle| contains(row, needle)))
        .filter(holds)
        .map(|row| row as u64)
        .collect()
}

async fn check(table: RecordBatch, shape: FixtureOptions, ask: Ask) {
    let mut stored = StoredFixture::of_table(table, &shape).await;
    stored.reader.parts_mut().task_limits = ask.task_limits;
    stored.reader.parts_mut().budget = FetchBudget::new(ask.room);
    let mut plan = plan(&stored.snapshot);
    plan.conditions = ask.wishes.iter().map(Wish::condition).collect();
    plan.search_text.clone_from(&ask.needle);
    plan.start = ask.start.map(|month| format!("2000-{month:02}-01").parse().unwrap());
    plan.columns.clone_from(&ask.columns);
    let all = matching(&stored.table, &ask);
    let expected = |rows: &[u64]| {
        let columns = stored.table.project(&ask.columns).unwrap();
        take_record_batch(&columns, &UInt64Array::from(rows.to_vec())).unwrap()
    };
    let same = |found: &RecordBatch, rows: &[u64]| {
        // Of numbers, arrays compare the bits: NaN is what it was.
        assert_eq!(found.columns(), expected(rows).columns());
    };
    let untold = RowCounts::default();
    assert_eq!(stored.reader.row_counts(&plan).await.unwrap(), untold);
    assert_eq!(stored.reader.scan(&plan).await.unwrap().counts, untold);
    let (rows, _) = stored.read(&plan).await.unwrap();
    same(&rows, &all);

    // Page by page: every row exactly once, `next` names the first row not returned.
    plan.max_rows = Some(ask.max_rows);
    let mut left = all.as_slice();
    loop {
        let length = left.len().min(usize::try_from(ask.max_rows).unwrap());
        let (page, rest) = left.split_at(length);
        let next = rest.first().copied();
        let counts = stored.reader.scan(&plan).await.unwrap().counts;
        assert_eq!(counts, RowCounts { rows: Some(length as u64), total: None, next });
        assert_eq!(stored.reader.row_counts(&plan).await.unwrap(), untold);
        same(&stored.read(&plan).await.unwrap().0, page);
        left = rest;
        let Some(next) = next else { break };
        plan.first_row = Some(next);
    }
    assert!(left.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_scan_with_conditions_is_a_filter_over_the_whole_table_contract_15(
        run in prop_oneof![Just(1_usize), 1_usize..80],
        nulls in prop_oneof![Just(0_usize), Just(3), Just(10)],
        shape in shapes(),
        ask in asks(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(check(table(&shape, run, nulls), shape, ask));
    }
}

/// A search reads the dictionaries of all dimensions, that of a condition on null among them.
#[test]
fn null_is_found_beside_a_search_contract_15() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for word in [Word::Null, Word::NotNull] {
        let shape = FixtureOptions::rows(105);
        let wish = Wish { column: 1, word, values: vec![Cell::Text(String::new())] };
        let ask = Ask {
            wishes: vec![wish],
            needle: Some("x".to_owned()),
            start: None,
            columns: vec![0, 1, 2],
            max_rows: 3,
            task_limits: ReadTaskLimits::default(),
            room: 1 << 30,
        };
        let table = table(&shape, 1, 3);
        assert!(!matching(&table, &ask).is_empty(), "{word:?}");
        runtime.block_on(check(table, shape, ask));
    }
}
