//! Boxes: a scan with one is a filter over the whole table, for shapes whose rule is a comparison.

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use proptest::prelude::*;
use yearbook_domain::BoundingBox;

use super::super::*;
use super::fixture::{FixtureOptions, FixtureRandom, StoredFixture, plan};
use super::laws;

const GEOMETRY: usize = 6;

/// A place, a rectangle with and without a hole as large as it but for a degree around, nothing.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Null,
    Empty,
    Point([i64; 2]),
    Rectangle([i64; 4]),
    Frame([i64; 4]),
}

impl Shape {
    fn draw(random: &mut FixtureRandom) -> Self {
        let mut below = |most: usize| i64::try_from(random.below(most)).unwrap();
        let (kind, west, south) = (below(5), below(10), below(10));
        let rectangle = [west, south, west + 3 + below(4), south + 3 + below(4)];
        match kind {
            0 => Self::Null,
            1 => Self::Empty,
            2 => Self::Point([west, south]),
            3 => Self::Rectangle(rectangle),
            _ => Self::Frame(rectangle),
        }
    }

    fn text(self) -> Option<String> {
        let ring = |[west, south, east, north]: [i64; 4]| {
            format!(
                "({west} {south}, {east} {south}, {east} {north}, {west} {north}, {west} {south})"
            )
        };
        match self {
            Self::Null => None,
            Self::Empty => Some("MULTIPOLYGON EMPTY".to_owned()),
            Self::Point([x, y]) => Some(format!("MULTIPOINT (({x} {y}))")),
            Self::Rectangle(sides) => Some(format!("MULTIPOLYGON (({}))", ring(sides))),
            Self::Frame(sides) => {
                Some(format!("MULTIPOLYGON (({}, {}))", ring(sides), ring(inner(sides))))
            }
        }
    }

    fn meets(self, [west, south, east, north]: [i64; 4]) -> bool {
        let overlaps = |other: [i64; 4]| {
            other[0] <= east && west <= other[2] && other[1] <= north && south <= other[3]
        };
        match self {
            Self::Null | Self::Empty => false,
            Self::Point([x, y]) => overlaps([x, y, x, y]),
            Self::Rectangle(sides) => overlaps(sides),
            Self::Frame(sides) => {
                let hole = inner(sides);
                let is_in_hole =
                    hole[0] < west && east < hole[2] && hole[1] < south && north < hole[3];
                overlaps(sides) && !is_in_hole
            }
        }
    }
}

fn inner([west, south, east, north]: [i64; 4]) -> [i64; 4] {
    [west + 1, south + 1, east - 1, north - 1]
}

#[derive(Clone, Debug)]
struct Ask {
    seed: u64,
    kinds: usize,
    bbox: [i64; 4],
    columns: Vec<usize>,
    needle: Option<char>,
    max_rows: u64,
}

async fn check(options: FixtureOptions, ask: Ask, weight: Option<u64>) {
    let mut random = FixtureRandom(ask.seed);
    let known: Vec<Shape> = (0..ask.kinds).map(|_| Shape::draw(&mut random)).collect();
    let shapes: Vec<Shape> = (0..options.rows).map(|_| known[random.below(ask.kinds)]).collect();
    let geometry: StringArray = shapes.iter().map(|shape| shape.text()).collect();
    let with_geometry = |table: RecordBatch| {
        let mut columns = table.columns().to_vec();
        columns[GEOMETRY] = Arc::new(geometry) as ArrayRef;
        RecordBatch::try_new(table.schema(), columns).unwrap()
    };
    let table = with_geometry(StoredFixture::new(&options).await.table);
    let stored = StoredFixture::of_table(table, &options).await;
    if let Some(weight) = weight {
        stored.store_bounds(weight).await;
    }
    let mut plan = plan(&stored.snapshot);
    plan.search_text = ask.needle.map(String::from);
    plan.columns = ask.columns;
    let all: Vec<u64> = laws::matching(&stored.table, &plan)
        .into_iter()
        .filter(|row| shapes[usize::try_from(*row).unwrap()].meets(ask.bbox))
        .collect();
    plan.bbox = Some(BoundingBox(ask.bbox.map(|side| side as f64)));
    let (rows, next) = stored.read(&plan).await.unwrap();
    let expected = laws::expected(&stored.table, &all, &plan.columns);
    assert_eq!((rows.columns(), next), (expected.columns(), None));
    assert_eq!(stored.reader.row_counts(&plan).await.unwrap(), RowCounts::default());

    let mut seen = 0;
    loop {
        plan.max_rows = Some(ask.max_rows);
        let (rows, next) = stored.read(&plan).await.unwrap();
        let page = &all[seen..all.len().min(seen + usize::try_from(ask.max_rows).unwrap())];
        let expected = laws::expected(&stored.table, page, &plan.columns);
        assert_eq!(rows.columns(), expected.columns());
        seen += page.len();
        let Some(next) = next else { break };
        plan.first_row = Some(next);
    }
    assert_eq!(seen, all.len());
}

fn asks() -> impl Strategy<Value = Ask> {
    let columns = prop::sample::subsequence((0..7).collect::<Vec<_>>(), 1..7);
    let side = || (0_i64..16, 0_i64..6);
    (any::<u64>(), 1_usize..20, side(), side(), columns, prop::option::of(Just('k')), 1_u64..60)
        .prop_map(|(seed, kinds, (west, width), (south, height), columns, needle, max_rows)| Ask {
            seed,
            kinds,
            bbox: [west, south, west + width, south + height],
            columns,
            needle,
            max_rows,
        })
}

/// Geometry in a dictionary or not.
fn options() -> impl Strategy<Value = FixtureOptions> {
    (laws::shapes(), any::<bool>()).prop_map(|(options, plain)| FixtureOptions {
        plain: if plain { &["geometry_wkt"] } else { &[] },
        ..options
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 100, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn a_scan_with_a_box_is_a_filter_over_the_whole_table_contract_15(
        options in options(),
        ask in asks(),
        // Without bounds of rows, with those of row groups alone, with coarse and with fine ones.
        weight in prop::sample::select(vec![None, Some(0), Some(400), Some(1_300), Some(1 << 20)]),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(check(options, ask, weight));
    }
}

#[tokio::test]
async fn geometry_that_is_none_is_a_damaged_file_and_no_missing_row() {
    for plain in [&["geometry_wkt"][..], &[]] {
        let options = FixtureOptions { plain, ..FixtureOptions::rows(20) };
        let table = StoredFixture::new(&options).await.table;
        let mut columns = table.columns().to_vec();
        columns[GEOMETRY] = Arc::new(StringArray::from(vec!["MULTIPOINT ((1 x))"; 20]));
        let table = RecordBatch::try_new(table.schema(), columns).unwrap();
        let stored = StoredFixture::of_table(table, &options).await;
        let mut plan = plan(&stored.snapshot);
        plan.columns = vec![0];
        plan.bbox = Some(BoundingBox([0.0, 0.0, 1.0, 1.0]));
        let failure = stored.read(&plan).await.unwrap_err();
        assert!(matches!(failure, StorageFailure::Damaged { .. }), "{failure}");
    }
}
