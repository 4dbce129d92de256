//! Laws of order and of the first and last rows of series: answers equal those that are found by
//! sorting and grouping the whole table, and pages add up.

use std::cmp::Ordering;
use std::collections::HashMap;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
};
use arrow::datatypes::{Float64Type, Int64Type};
use proptest::prelude::*;
use yearbook_domain::read_plan::{
    ColumnTest, ColumnValue, Condition, PeriodForm, RowOrder, Side, SortKey,
};
use yearbook_domain::{ColumnRole, SeriesRows};

use super::super::*;
use super::fixture::{FixtureOptions, FixtureRandom, StoredFixture, plan};
use super::laws::{expected, matching, shapes};

/// Numbers that are no numbers, or two of one place.
const NUMBERS: [f64; 8] =
    [f64::NAN, -f64::NAN, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1.5, -3.0];

/// Period codes of each form.
const PERIODS: [&str; 5] = ["2001", "2001/02", "2001-Q2", "2001-07", "2002"];

/// A table with few values in each column, and runs of one date.
pub(super) fn table(shape: &FixtureOptions, run: usize) -> RecordBatch {
    let mut random = FixtureRandom(shape.seed);
    let mut day = 0;
    let (mut dates, mut regions, mut places) = (vec![], vec![], vec![]);
    let (mut values, mut counts, mut flags) = (vec![], vec![], vec![]);
    for _ in 0..shape.rows {
        day += usize::from(random.below(run) == 0);
        dates.push(format!("{:04}-{:02}-{:02}", 2000 + day / 336, day / 28 % 12 + 1, day % 28 + 1));
        regions.push(random.some(|random| random.word(1)));
        places.push(random.some(|random| PERIODS[random.below(PERIODS.len())]));
        values.push(random.some(|random| NUMBERS[random.below(NUMBERS.len())]));
        counts.push(random.some(|random| i64::try_from(random.below(7)).unwrap() - 3));
        flags.push(random.some(|random| random.below(2) == 0));
    }
    let geometries = StringArray::new_null(shape.rows);
    let columns: [(&str, ArrayRef, bool); 7] = [
        ("date", Arc::new(StringArray::from(dates)), false),
        ("region", Arc::new(StringArray::from(regions)), true),
        ("place", Arc::new(StringArray::from(places)), true),
        ("value", Arc::new(Float64Array::from(values)), true),
        ("count", Arc::new(Int64Array::from(counts)), true),
        ("flag", Arc::new(BooleanArray::from(flags)), true),
        ("geometry_wkt", Arc::new(geometries), true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// The order of two rows in a column.
fn compare(column: &ArrayRef, descending: bool, one: u64, other: u64) -> Ordering {
    let [one, other] = [one, other].map(|row| usize::try_from(row).unwrap());
    // 2 for null, 1 for NaN: last in either direction.
    let rank = |row: usize| {
        let nan = |numbers: &Float64Array| numbers.value(row).is_nan();
        if column.is_null(row) {
            2
        } else {
            u8::from(column.as_primitive_opt::<Float64Type>().is_some_and(nan))
        }
    };
    let ranks = rank(one).cmp(&rank(other));
    if ranks != Ordering::Equal || rank(one) > 0 {
        return ranks;
    }
    let values = if let Some(numbers) = column.as_primitive_opt::<Float64Type>() {
        numbers.value(one).partial_cmp(&numbers.value(other)).unwrap()
    } else if let Some(integers) = column.as_primitive_opt::<Int64Type>() {
        integers.value(one).cmp(&integers.value(other))
    } else if let Some(flags) = column.as_boolean_opt() {
        flags.value(one).cmp(&flags.value(other))
    } else {
        let texts = column.as_string::<i32>();
        texts.value(one).as_bytes().cmp(texts.value(other).as_bytes())
    };
    if descending { values.reverse() } else { values }
}

/// Rows that a plan asks for in its order, found the slow way.
pub(super) fn ordered(table: &RecordBatch, plan: &ReadPlan) -> Vec<u64> {
    let filter = ReadPlan { first_row: None, ..plan.clone() };
    let mut rows = matching(table, &filter);
    let counts = table.column(4).as_primitive::<Int64Type>();
    for condition in &plan.conditions {
        let ColumnTest::Bound(Side::AtLeast, ColumnValue::Integer(least)) = condition.test else {
            panic!("another condition: {condition:?}");
        };
        let holds = |row: usize| counts.is_valid(row) && counts.value(row) >= least;
        rows.retain(|&row| holds(usize::try_from(row).unwrap()));
    }
    rows.retain(|row| plan.row.is_none_or(|only| *row == only));
    if let Some(of_each) = plan.series_rows {
        let is_period = plan.snapshot.columns[2].role == ColumnRole::Period;
        let text = |column: usize, row: u64| {
            let texts = table.column(column).as_string::<i32>();
            texts.iter().nth(usize::try_from(row).unwrap()).flatten().map(str::to_owned)
        };
        let series = |row: u64| {
            let place = text(2, row);
            let form = place.as_deref().filter(|_| is_period).map(PeriodForm::from_code);
            (text(1, row), place.filter(|_| !is_period), form)
        };
        let mut seen = HashMap::new();
        let mut is_kept = |row: &u64| {
            let count = seen.entry(series(*row)).or_insert(0);
            *count += 1;
            *count <= of_each.rows()
        };
        rows = match of_each {
            SeriesRows::First(_) => rows.into_iter().filter(&mut is_kept).collect(),
            SeriesRows::Last(_) => {
                let mut last: Vec<u64> = rows.into_iter().rev().filter(&mut is_kept).collect();
                last.reverse();
                last
            }
        };
    }
    let keys = match &plan.order {
        RowOrder::Natural => Vec::new(),
        RowOrder::NewestFirst => vec![SortKey { column: 0, descending: true }],
        RowOrder::By(keys) => keys.clone(),
    };
    // The sort is stable, so equal rows keep their natural order.
    rows.sort_by(|&one, &other| {
        let key = |key: &SortKey| compare(table.column(key.column), key.descending, one, other);
        keys.iter().map(key).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    });
    rows
}

#[derive(Clone, Debug)]
pub(super) struct Ask {
    run: usize,
    period: bool,
    needle: bool,
    least: Option<i64>,
    end: bool,
    series_rows: Option<SeriesRows>,
    order: RowOrder,
    pub(super) columns: Vec<usize>,
    pub(super) max_rows: u64,
    task_rows: usize,
}

/// A table as `shape` says, and what `ask` wants of it, without a limit.
pub(super) async fn stored(shape: &FixtureOptions, ask: &Ask) -> (StoredFixture, ReadPlan) {
    let mut stored = StoredFixture::of_table(table(shape, ask.run), shape).await;
    stored.reader.parts_mut().task_limits.rows = ask.task_rows;
    if ask.period {
        stored.snapshot.columns[2].role = ColumnRole::Period;
        stored.snapshot.dimensions = vec!["region".to_owned()];
    }
    let mut plan = plan(&stored.snapshot);
    // `place` holds no such letter.
    plan.search_text = ask.needle.then(|| "k".to_owned());
    let least = |least| ColumnTest::Bound(Side::AtLeast, ColumnValue::Integer(least));
    plan.conditions =
        ask.least.map(|bound| Condition { column: 4, test: least(bound) }).into_iter().collect();
    plan.end = ask.end.then(|| "2000-01-09".parse().unwrap());
    (plan.series_rows, plan.order) = (ask.series_rows, ask.order.clone());
    plan.columns.clone_from(&ask.columns);
    (stored, plan)
}

async fn check(shape: FixtureOptions, ask: Ask) {
    let (stored, plan) = stored(&shape, &ask).await;
    check_pages(&stored, plan, ask.max_rows).await;
}

/// Checks the rows of `plan`, whole and in pages of `max_rows`.
pub(super) async fn check_pages(stored: &StoredFixture, mut plan: ReadPlan, max_rows: u64) {
    let all = ordered(&stored.table, &plan);
    let (rows, next) = stored.read(&plan).await.unwrap();
    assert_eq!(rows.columns(), expected(&stored.table, &all, &plan.columns).columns());
    assert_eq!(next, None);

    // Page by page: every row exactly once, and `next` is the row that the next page begins with.
    plan.max_rows = Some(max_rows);
    let total = (!plan.is_filtered()).then_some(all.len() as u64);
    for page in all.chunks(usize::try_from(max_rows).unwrap()) {
        let counts = stored.reader.scan(&plan).await.unwrap().counts;
        assert_eq!((counts.rows, counts.total), (Some(page.len() as u64), total));
        let (rows, next) = stored.read(&plan).await.unwrap();
        assert_eq!(rows.columns(), expected(&stored.table, page, &plan.columns).columns());
        let begun = all.iter().position(|row| *row == page[0]).unwrap();
        assert_eq!(next, all.get(begun + page.len()).copied());
        let told = stored.reader.row_counts(&plan).await.unwrap();
        assert!(told.rows.is_none() || told == counts, "{told:?} is no more than {counts:?}");
        plan.first_row = next;
    }
    assert_eq!(plan.first_row, None, "the last page says that it is");
}

pub(super) fn asks() -> impl Strategy<Value = Ask> {
    let series_rows = (1_u64..4, any::<bool>()).prop_map(|(rows, first)| {
        if first { SeriesRows::First(rows) } else { SeriesRows::Last(rows) }
    });
    let key =
        (0_usize..6, any::<bool>()).prop_map(|(column, descending)| SortKey { column, descending });
    let order = prop_oneof![
        1 => Just(RowOrder::Natural),
        2 => Just(RowOrder::NewestFirst),
        3 => prop::collection::vec(key, 1..4).prop_map(RowOrder::By),
    ];
    let columns = prop::sample::subsequence((0_usize..7).collect::<Vec<_>>(), 1..8);
    (
        (prop_oneof![Just(1_usize), 2_usize..80], any::<bool>(), prop::bool::weighted(0.3)),
        (prop::option::weighted(0.4, -3_i64..5), prop::bool::weighted(0.3)),
        (prop::option::weighted(0.5, series_rows), order, columns.prop_shuffle()),
        (prop_oneof![1_u64..6, 5_u64..400], prop_oneof![1_usize..100, Just(256 << 10)]),
    )
        .prop_map(|((run, period, needle), (least, end), series, (max_rows, task_rows))| {
            let (series_rows, order, columns) = series;
            Ask {
                run,
                period,
                needle,
                least,
                end,
                series_rows,
                order,
                columns,
                max_rows,
                task_rows,
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_order_is_a_stable_sort_of_the_table_and_series_are_groups_contract_15(
        shape in shapes(),
        ask in asks(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(check(shape, ask));
    }
}

#[tokio::test]
async fn nulls_and_nan_come_last_in_either_direction_contract_15() {
    let shape = FixtureOptions::rows(6);
    let numbers = [Some(f64::NAN), None, Some(2.0), Some(-0.0), Some(-1.0), Some(0.0)];
    let rows = table(&shape, 1);
    let mut columns = rows.columns().to_vec();
    columns[3] = Arc::new(Float64Array::from_iter(numbers));
    let rows = RecordBatch::try_new(rows.schema(), columns).unwrap();
    let stored = StoredFixture::of_table(rows, &shape).await;
    let mut plan = plan(&stored.snapshot);
    for (descending, order) in [(false, [4, 3, 5, 2, 0, 1]), (true, [2, 3, 5, 4, 0, 1])] {
        plan.order = RowOrder::By(vec![SortKey { column: 3, descending }]);
        let all: Vec<usize> = (0..7).collect();
        let sorted = expected(&stored.table, &order, &all);
        assert_eq!(stored.read(&plan).await.unwrap().0.columns(), sorted.columns());
    }
}
