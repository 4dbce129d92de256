//! The guard's and the cap's tables.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::fixtures::snapshot;
use crate::query::{parse_data, parse_pairs};
use crate::read_plan::AppliedTransforms;
use crate::{
    Column, ColumnType, DatasetName, Date, Digest, Millis, Namespace, Plan, PlanTable, SnapshotId,
};

fn column(name: &str, role: ColumnRole) -> Column {
    // Dates are never null.
    let nullable = role != ColumnRole::Date;
    Column { nullable, ..Column::new(name, ColumnType::String, role) }
}

fn dataset(rows: u64, dated: bool, spatial: bool) -> Dataset {
    let mut columns =
        vec![column("value", ColumnRole::Value), column("region", ColumnRole::Dimension)];
    if dated {
        columns.insert(0, column("date", ColumnRole::Date));
    }
    if spatial {
        columns.push(column(GEOMETRY_COLUMN, ColumnRole::Geometry));
    }
    let current = Arc::new(Snapshot {
        rows,
        dimensions: vec!["region".to_owned()],
        date_column: dated.then(|| "date".to_owned()),
        ..snapshot(columns)
    });
    Dataset {
        name: DatasetName::parse("d").unwrap(),
        namespace: Namespace::parse("n").unwrap(),
        checked_at: Millis(0),
        column_changes: 0,
        current,
        snapshots: Vec::new(),
    }
}

fn decide(dataset: &Dataset, plan_of: Plan, raw: &str) -> Result<ReadPlan, Refusal> {
    plan_snapshot(dataset, Arc::clone(&dataset.current), plan_of, raw)
}

fn plan_snapshot(
    dataset: &Dataset,
    snapshot: Arc<Snapshot>,
    plan_of: Plan,
    raw: &str,
) -> Result<ReadPlan, Refusal> {
    let (selection, _) = parse_data(&parse_pairs(raw), &["json"]).unwrap();
    let (name, namespace) = (dataset.name.clone(), dataset.namespace.clone());
    let plan = resolve_selection(name, namespace, snapshot, &selection);
    let limits = PlanTable::default().limits(plan_of);
    plan_read(dataset, plan.map_err(Refusal::InvalidParameters)?, limits, &selection, None)
}

#[test]
fn unbounded_pulls_are_refused_spec_8() {
    // (rows, dated, spatial, query, refused)
    let cases = [
        (100_000, true, false, "limit=0", false),
        (100_001, true, false, "limit=0", true),
        (100_001, true, false, "", false),
        (100_001, true, false, "limit=100001", false),
        (100_001, true, false, "limit=0&start=2020-01-01", false),
        (100_001, true, false, "limit=0&end=2020-01-01", false),
        (100_001, false, false, "limit=0&start=2020-01-01", true),
        (100_001, true, false, "limit=0&dimensions=x", true),
        (100_001, true, false, "limit=0&columns=value", true),
        (100_001, true, false, "limit=0&geometry=false", true),
        (1, true, true, "limit=0", true),
        (1, true, true, "limit=0&start=2020-01-01", false),
        (1, false, true, "limit=0&start=2020-01-01", true),
        (1, false, true, "limit=0&geometry=false", false),
        (1, false, true, "limit=0&columns=value", true),
        (100_000, false, true, "limit=0&geometry=false", false),
        (100_001, false, true, "limit=0&geometry=false", true),
        (100_001, true, true, "limit=0&geometry=false&start=2020-01-01", false),
        (1, false, true, "limit=1", false),
    ];
    for (rows, dated, spatial, raw, refused) in cases {
        let answer = decide(&dataset(rows, dated, spatial), Plan::Enterprise, raw);
        assert_eq!(
            answer.is_err(),
            refused,
            "{rows} rows, dated {dated}, spatial {spatial}, {raw}: {answer:?}"
        );
    }
}

#[test]
fn a_refused_pull_says_what_would_relieve_it() {
    let answer = decide(&dataset(5, false, true), Plan::Free, "limit=0").unwrap_err();
    assert_eq!(
        answer,
        Refusal::UnboundedRequest { rows: 5, geometry: true, dated: false, bulk: false }
    );
    let answer = decide(&dataset(100_001, true, true), Plan::Enterprise, "limit=0&geometry=false")
        .unwrap_err();
    assert_eq!(
        answer,
        Refusal::UnboundedRequest { rows: 100_001, geometry: false, dated: true, bulk: true }
    );
}

#[test]
fn bulk_is_advised_where_plan_and_licence_have_it_contract_3() {
    for plan_of in Plan::ALL {
        for licensed in [true, false] {
            for pinned in [true, false] {
                let mut dataset = dataset(100_001, true, false);
                Arc::get_mut(&mut dataset.current).unwrap().bulk_redistribution = licensed;
                let mut older = Snapshot::clone(&dataset.current);
                older.id = SnapshotId::from_digest(Digest::compute(b"s0"));
                let read = if pinned { Arc::new(older) } else { Arc::clone(&dataset.current) };
                let answer = plan_snapshot(&dataset, read, plan_of, "limit=0");
                let Err(Refusal::UnboundedRequest { bulk, .. }) = answer else {
                    panic!("{answer:?}")
                };
                let entitled = matches!(plan_of, Plan::Pro | Plan::Enterprise);
                assert_eq!(
                    bulk,
                    entitled && licensed && !pinned,
                    "{plan_of}, licensed {licensed}, pinned {pinned}"
                );
            }
        }
    }
}

#[test]
fn bulk_is_advised_for_no_rows_that_no_file_has_contract_3() {
    let stored = dataset(100_001, true, false);
    let (selection, _) = parse_data(&parse_pairs("limit=0"), &["json"]).unwrap();
    let plan = |dataset: &Dataset| {
        let (name, namespace) = (dataset.name.clone(), dataset.namespace.clone());
        ReadPlan::full_scan(name, namespace, Arc::clone(&dataset.current))
    };
    let is_advised = |dataset: &Dataset, plan: ReadPlan| {
        let limits = PlanTable::default().limits(Plan::Enterprise);
        match plan_read(dataset, plan, limits, &selection, None) {
            Err(Refusal::UnboundedRequest { bulk, .. }) => bulk,
            answer => panic!("{answer:?}"),
        }
    };
    assert!(is_advised(&stored, plan(&stored)));
    let applied = AppliedTransforms { input: plan(&stored), transforms: Vec::new() };
    let made = ReadPlan { applied: Some(Arc::new(applied)), ..plan(&stored) };
    assert!(!is_advised(&stored, made));
    // The table of revisions has the id of the newest version.
    let mut revised = stored.clone();
    Arc::make_mut(&mut revised.current).columns.push(column(VALID_FROM, ColumnRole::Attribute));
    assert!(!is_advised(&revised, plan(&revised)));
}

#[test]
fn limit_zero_is_everything_and_the_plan_caps_spec_4_1() {
    // (plan, query, max_rows, capped_at)
    let cases = [
        (Plan::Enterprise, "", Some(100), None),
        (Plan::Enterprise, "limit=0", None, None),
        (Plan::Pro, "limit=60000", Some(60_000), None),
        (Plan::Free, "limit=0", Some(50_000), Some(50_000)),
        (Plan::Starter, "limit=0", Some(50_000), Some(50_000)),
        (Plan::Free, "limit=50000", Some(50_000), None),
        (Plan::Free, "limit=50001", Some(50_000), Some(50_000)),
        (Plan::Free, "limit=99999999999999999999", Some(50_000), Some(50_000)),
    ];
    for (plan_of, raw, max_rows, capped_at) in cases {
        let plan = decide(&dataset(60_000, true, false), plan_of, raw).unwrap();
        assert_eq!((plan.max_rows, plan.plan_row_cap), (max_rows, capped_at), "{plan_of} {raw}");
    }
}

#[test]
fn no_answer_has_more_cells_than_the_cap_times_the_columns_contract_16() {
    let stored = decide(&dataset(60_000, true, false), Plan::Free, "limit=0").unwrap();
    // (columns that a transform gives, rows of the cap): three columns are stored.
    for (columns, rows) in [(1, 50_000), (3, 50_000), (6, 25_000), (4_000, 37), (200_000, 1)] {
        let columns: Vec<Column> =
            (0..columns).map(|number| column(&format!("c{number}"), ColumnRole::Value)).collect();
        let plan = ReadPlan {
            columns: (0..columns.len()).collect(),
            snapshot: Arc::new(Snapshot { rows: u64::MAX, ..snapshot(columns) }),
            applied: Some(Arc::new(AppliedTransforms {
                input: stored.clone(),
                transforms: Vec::new(),
            })),
            ..stored.clone()
        };
        let (selection, _) = parse_data(&parse_pairs("limit=0"), &["json"]).unwrap();
        let limits = PlanTable::default().limits(Plan::Free);
        let dataset = dataset(60_000, true, false);
        let plan = plan_read(&dataset, plan, limits, &selection, None).unwrap();
        assert_eq!((plan.max_rows, plan.plan_row_cap), (Some(rows), Some(rows)));
    }
}

#[test]
fn dates_have_no_effect_without_a_date_axis_spec_4_1() {
    let raw = "start=2020-01-01&end=2020-12-31";
    let plan = decide(&dataset(10, false, false), Plan::Free, raw).unwrap();
    assert_eq!((plan.start, plan.end), (None, None));
    let plan = decide(&dataset(10, true, false), Plan::Free, raw).unwrap();
    assert_eq!((plan.start, plan.end), (Date::parse("2020-01-01"), Date::parse("2020-12-31")));
}

#[test]
fn columns_come_in_the_order_asked_for_contract_3() {
    // Columns: date, value, region, geometry_wkt.
    let cases: [(&str, &[usize]); 6] = [
        ("", &[0, 1, 2, 3]),
        ("geometry=false", &[0, 1, 2]),
        ("columns=region,date", &[2, 0]),
        ("columns=geometry_wkt", &[3]),
        ("columns=geometry_wkt,value&geometry=false", &[1]),
        ("columns=%20value%20,%20date", &[1, 0]),
    ];
    for (raw, expected) in cases {
        assert_eq!(
            decide(&dataset(10, true, true), Plan::Free, raw).unwrap().columns,
            expected,
            "{raw}"
        );
    }
}

#[test]
fn unknown_columns_are_named_contract_3() {
    let sentence = |raw: &str| match decide(&dataset(10, true, true), Plan::Free, raw).unwrap_err()
    {
        Refusal::InvalidParameters(problems) => {
            problems.into_iter().map(|problem| problem.msg).collect::<Vec<_>>().join("|")
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(
        sentence("columns=date,Value,x"),
        "Value error, unknown 'Value', 'x'; this dataset has date, value, region, geometry_wkt"
    );
    assert_eq!(
        sentence("columns=geometry_wkt&geometry=false"),
        "Value error, geometry=false leaves no column to send; ask for more than geometry_wkt"
    );
}

#[test]
fn wrong_columns_come_before_the_guard_contract_1() {
    assert!(matches!(
        decide(&dataset(100_001, true, true), Plan::Free, "limit=0&columns=x"),
        Err(Refusal::InvalidParameters(_))
    ));
}

#[test]
fn many_names_are_found_like_few_and_unknown_ones_are_told_in_part_contract_3() {
    let dataset = dataset(5, true, true);
    let select = |names: &[&str]| {
        let raw = format!("columns={}", names.join(","));
        decide(&dataset, Plan::Free, &raw).map(|plan| plan.columns).map_err(|refusal| match refusal
        {
            Refusal::InvalidParameters(mut problems) => problems.remove(0),
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(select(&["region", "date"]).unwrap(), [2, 0]);
    let strangers: Vec<String> = (0..60).map(|index| format!("x{index}")).collect();
    let mut names: Vec<&str> = strangers.iter().map(String::as_str).collect();
    names.insert(30, "region");
    let few = select(&["x0", "region"]).unwrap_err().msg;
    assert_eq!(
        few,
        "Value error, unknown 'x0'; this dataset has date, value, region, geometry_wkt"
    );
    let many = select(&names).unwrap_err().msg;
    assert!(
        many.contains("unknown 'x0', 'x1',")
            && many.contains("'x39' and 20 more; this dataset has date,"),
        "{many}"
    );
    assert!(!many.contains("'region'"), "{many}");
}

#[test]
fn problems_of_a_selection_come_in_one_order_contract_15() {
    let names = |problems: Vec<ValidationError>| {
        problems.into_iter().map(|problem| problem.loc[1].clone()).collect::<Vec<_>>()
    };
    let wrong = "bbox=1&first=0&last=0&sort=&where=1&columns=";
    assert_eq!(
        names(parse_data(&parse_pairs(wrong), &["json"]).unwrap_err()),
        ["columns", "where", "sort", "first", "last", "bbox"]
    );
    let wrong =
        "bbox=1,2,3,4&last=1&sort=nowhere&where.nowhere=1&where.also_nowhere=1&columns=none";
    let Err(Refusal::InvalidParameters(problems)) =
        decide(&dataset(10, false, false), Plan::Free, wrong)
    else {
        panic!("{wrong} was taken");
    };
    assert_eq!(
        names(problems),
        ["columns", "where.nowhere", "where.also_nowhere", "sort", "last", "bbox"]
    );
}

#[test]
fn a_problem_repeats_what_was_sent_contract_15() {
    // (query, parameter, input)
    let cases = [
        ("bbox=1,2,3,4", "bbox", "1,2,3,4"),
        ("sort=%2Bnowhere,+value", "sort", "+nowhere, value"),
        ("columns=nowhere,+value", "columns", "nowhere, value"),
        ("last=%2B5.0", "last", "+5.0"),
        ("first=1_0", "first", "1_0"),
    ];
    for (raw, parameter, input) in cases {
        let Err(Refusal::InvalidParameters(problems)) =
            decide(&dataset(10, false, false), Plan::Free, raw)
        else {
            panic!("{raw} was taken");
        };
        let found: Vec<(&str, Option<&str>)> = problems
            .iter()
            .map(|problem| (problem.loc[1].as_str(), problem.input.as_deref()))
            .collect();
        assert_eq!(found, [(parameter, Some(input))]);
    }
}

#[test]
fn the_nearest_name_is_sought_for_the_first_unknown_names_alone_contract_15() {
    let conditions: Vec<String> = (0..6).map(|index| format!("where.valu{index}=1")).collect();
    let raw = format!("{}&sort=vallue", conditions.join("&"));
    let Err(Refusal::InvalidParameters(problems)) =
        decide(&dataset(10, true, false), Plan::Free, &raw)
    else {
        panic!("{raw} was taken");
    };
    let has_nearest: Vec<bool> =
        problems.iter().map(|problem| problem.msg.contains("the nearest is 'value'")).collect();
    assert_eq!(has_nearest, [true, true, true, true, false, false, false]);
    assert!(problems.iter().all(|problem| problem.msg.contains("this dataset has date, value")));
}

#[test]
fn only_what_is_held_bounds_an_order_contract_15() {
    // (rows, query, refused)
    let cases = [
        (10_001, "sort=value&limit=0", true),
        (10_001, "sort=value&limit=10001", true),
        (10_001, "sort=value&limit=10000", false),
        (10_001, "sort=value", false),
        (10_000, "sort=value&limit=0", false),
        (10_001, "sort=-date&limit=0&end=2020-01-01", false),
        (10_001, "sort=date&limit=0&end=2020-01-01", false),
        (10_001, "sort=-date,-value&limit=0", true),
    ];
    for (rows, raw, refused) in cases {
        let answer = decide(&dataset(rows, true, false), Plan::Enterprise, raw);
        let is_too_large = matches!(answer, Err(Refusal::SortTooLarge { .. }));
        assert_eq!(is_too_large, refused, "{rows} rows, {raw}: {answer:?}");
    }
    let capped = decide(&dataset(60_000, true, false), Plan::Free, "sort=value&limit=0");
    assert!(matches!(capped, Err(Refusal::SortTooLarge { .. })), "the cap is more than is held");
    let both = decide(&dataset(100_001, true, false), Plan::Enterprise, "sort=value&limit=0");
    assert!(matches!(both, Err(Refusal::UnboundedRequest { .. })), "the guard comes first");
}

#[test]
fn an_order_of_columns_that_may_be_null_is_not_that_of_the_file_contract_15() {
    // (columns that may be null, query, streamed)
    let cases: [(&[&str], &str, bool); 9] = [
        (&[], "sort=date", true),
        (&[], "sort=date,region", true),
        (&[], "sort=-date,region", true),
        (&["region"], "sort=date", true),
        (&["region"], "sort=date,region", false),
        (&["region"], "sort=-date,region", false),
        (&["date", "region"], "sort=date", false),
        // Those that are stored first come last.
        (&["date", "region"], "sort=-date", true),
        (&["date", "region"], "", true),
    ];
    for (nullable, raw, streamed) in cases {
        let mut dataset = dataset(10, true, false);
        let current = Arc::make_mut(&mut dataset.current);
        current.primary_key = vec!["date".to_owned(), "region".to_owned()];
        for column in &mut current.columns {
            column.nullable = nullable.contains(&column.name.as_str());
        }
        let order = decide(&dataset, Plan::Enterprise, raw).unwrap().order;
        assert_eq!(order.is_streamed(), streamed, "{nullable:?}, {raw}: {order:?}");
    }
}
