//! Facts of a table against the table itself.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use proptest::prelude::*;
use yearbook_domain::meaning::{ColumnMeaning, KnownCodes, StatusCodes, StatusColumn};
use yearbook_domain::preview_facts::{
    DatedFigure, DrawnSeries, Figure, LinePoint, LineStatuses, MAX_DRAWN_SERIES, MAX_NAMED_POINTS,
    PreviewCell, StatusRun, StatusTotal, day_number,
};
use yearbook_domain::{CalendarUnit, Column, ColumnRole, ColumnType, PreviewFacts};
use yearbook_scan::ResultHasher;

use super::*;

/// A row: date, region, code, amount, whole.
type Row = (String, Option<String>, i64, Option<f64>, Option<i64>);

/// Columns of a long table with a number and an integer.
fn columns() -> Vec<Column> {
    vec![
        Column::new("date", ColumnType::Date, ColumnRole::Date),
        Column::new("region", ColumnType::String, ColumnRole::Dimension),
        Column::new("code", ColumnType::Integer, ColumnRole::Key),
        Column::new("amount", ColumnType::Number, ColumnRole::Value),
        Column::new("whole", ColumnType::Integer, ColumnRole::Value),
    ]
}

fn batch(rows: &[Row]) -> RecordBatch {
    let columns: [(&str, ArrayRef); 5] = [
        ("date", Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.0)))),
        ("region", Arc::new(rows.iter().map(|row| row.1.as_deref()).collect::<StringArray>())),
        ("code", Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.2)))),
        ("amount", Arc::new(rows.iter().map(|row| row.3).collect::<Float64Array>())),
        ("whole", Arc::new(rows.iter().map(|row| row.4).collect::<Int64Array>())),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
        .unwrap()
}

/// The facts of `rows` that come in batches of `cut`.
fn facts(columns: &[Column], rows: &[Row], cut: usize) -> PreviewFacts {
    let whole = batch(rows);
    let positions: Vec<usize> =
        columns.iter().map(|column| whole.schema().index_of(&column.name).unwrap()).collect();
    let batches: Vec<RecordBatch> = (0..rows.len())
        .step_by(cut)
        .map(|at| whole.slice(at, cut.min(rows.len() - at)).project(&positions).unwrap())
        .collect();
    facts_of(columns, &["date", "region", "code"].map(str::to_owned), &batches)
}

/// The facts of a table that comes in `batches`.
fn facts_of(columns: &[Column], primary_key: &[String], batches: &[RecordBatch]) -> PreviewFacts {
    let mut hasher = ResultHasher::new(columns.iter());
    batches.iter().for_each(|batch| hasher.update(batch).unwrap());
    let shape = TableShape::new(columns.to_vec(), primary_key, hasher.rows());
    let mut counted = TablePass::new(shape, hasher.finish()).unwrap();
    batches.iter().for_each(|batch| counted.update(batch).unwrap());
    let (mut lines, _) = counted.finish().unwrap();
    let drawn = if lines.columns().is_empty() { &[] } else { batches };
    for batch in drawn {
        lines.update(&batch.project(lines.columns()).unwrap()).unwrap();
    }
    lines.finish().unwrap()
}

/// Figures as a reader of the table would find them.
fn naive(
    values: &[(&str, Option<Figure>)],
) -> (u64, Option<DatedFigure>, Option<f64>, Option<f64>) {
    let finite: Vec<(&str, Figure)> = values
        .iter()
        .filter_map(|(date, value)| Some((*date, (*value)?)))
        .filter(|(_, value)| value.as_f64().is_finite())
        .collect();
    let floats = || finite.iter().map(|(_, value)| value.as_f64());
    let latest =
        finite.last().map(|(date, value)| DatedFigure { date: (*date).to_owned(), value: *value });
    (finite.len() as u64, latest, floats().reduce(f64::min), floats().reduce(f64::max))
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let number = prop_oneof![
        6 => (-1e6..1e6_f64).prop_map(Some),
        1 => Just(Some(f64::NAN)),
        1 => Just(Some(f64::NEG_INFINITY)),
        1 => Just(Some(f64::INFINITY)),
        2 => Just(None),
    ];
    let region = prop::option::weighted(0.8, prop::sample::select(vec!["", "a", "b", "ā", "a, b"]));
    let row = (0_i32..40, region, 0_i64..3, number, prop::option::weighted(0.8, -9..9_i64));
    prop::collection::vec(row, 0..120).prop_map(|mut rows| {
        rows.sort_by_key(|row| row.0);
        let date = |day| LinePoint { day: 18_000 + 30 * day, value: None }.date();
        rows.into_iter()
            .map(|(day, region, code, amount, whole)| {
                (date(day), region.map(str::to_owned), code, amount, whole)
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn facts_state_the_numbers_of_the_table_contract_9(rows in rows(), cut in 1_usize..50) {
        let facts = facts(&columns(), &rows, cut);
        prop_assert_eq!(facts.rows, rows.len() as u64);
        let amount = |row: &Row| row.3.map(Figure::Number);
        let whole = |row: &Row| row.4.map(Figure::Integer);
        let series = facts.series.as_ref().unwrap();
        let mut keys: BTreeMap<(Option<&str>, i64), Vec<&Row>> = BTreeMap::new();
        for row in &rows {
            keys.entry((row.1.as_deref(), row.2)).or_default().push(row);
        }
        prop_assert_eq!(facts.series_number, Some(keys.len() as u64));
        let days = |rows: &Vec<&Row>| {
            let mut days: Vec<i32> = rows.iter().filter_map(|row| day_number(&row.0)).collect();
            days.dedup();
            days.windows(2).map(|pair| pair[1] - pair[0]).min()
        };
        // Dates of the table are multiples of 30 days apart.
        let axis = match keys.values().filter_map(days).min() {
            Some(30) => Some(CalendarUnit::Month),
            Some(90) => Some(CalendarUnit::Quarter),
            _ => None,
        };
        prop_assert_eq!(facts.axis, axis, "contract-16-axis");
        prop_assert_eq!(facts.line_count(), Some(2 * keys.len() as u64));
        prop_assert_eq!(&series.key_columns, &["region", "code"]);

        for (name, figure) in [("amount", &amount as &dyn Fn(&Row) -> Option<Figure>), ("whole", &whole)] {
            let values: Vec<(&str, Option<Figure>)> =
                rows.iter().map(|row| (row.0.as_str(), figure(row))).collect();
            let (points, latest, min, max) = naive(&values);
            let stated = facts.value(name).unwrap();
            prop_assert_eq!(stated.points, points);
            let present = values.iter().filter(|(_, value)| value.is_some()).count() as u64;
            prop_assert_eq!(stated.excluded, present - points);
            prop_assert_eq!((stated.min.map(Figure::as_f64), stated.max.map(Figure::as_f64)), (min, max));
            let expected = if keys.len() > 1 { None } else { latest };
            prop_assert_eq!(&stated.latest, &expected);
        }
        // Every line that has a point and fits: most points first, then by key, then by column;
        // before them the first one of each column, since neither has a unit.
        let mut expected = Vec::new();
        for (key, rows) in &keys {
            for (index, figure) in [&amount as &dyn Fn(&Row) -> Option<Figure>, &whole].into_iter().enumerate() {
                let points = naive(&rows.iter().map(|row| ("", figure(row))).collect::<Vec<_>>()).0;
                if points > 0 {
                    expected.push((std::cmp::Reverse(points), *key, index));
                }
            }
        }
        expected.sort();
        let mut firsts: Vec<_> = (0..2)
            .filter_map(|column| expected.iter().position(|line| line.2 == column))
            .map(|place| expected[place])
            .collect();
        expected.retain(|line| !firsts.contains(line));
        firsts.append(&mut expected);
        let mut expected = firsts;
        expected.truncate(MAX_DRAWN_SERIES);
        prop_assert_eq!(series.drawn.len(), expected.len());
        for (drawn, (points, key, index)) in series.drawn.iter().zip(&expected) {
            let figure: &dyn Fn(&Row) -> Option<Figure> = if *index == 0 { &amount } else { &whole };
            prop_assert_eq!(&drawn.column, ["amount", "whole"][*index]);
            prop_assert_eq!(&drawn.key, &[key.0.map(str::to_owned), Some(key.1.to_string())]);
            let values: Vec<(&str, Option<Figure>)> =
                keys[key].iter().map(|row| (row.0.as_str(), figure(row))).collect();
            let (finite, latest, min, max) = naive(&values);
            prop_assert_eq!((drawn.points, finite), (points.0, points.0));
            prop_assert_eq!(&drawn.latest, &latest);
            prop_assert_eq!((drawn.min.map(Figure::as_f64), drawn.max.map(Figure::as_f64)), (min, max));
            let line: Vec<LinePoint> = values
                .iter()
                .map(|(date, value)| LinePoint {
                    day: day_number(date).unwrap(),
                    value: value.filter(|value| value.as_f64().is_finite()),
                })
                .collect();
            prop_assert_eq!(&drawn.line, &line);
            prop_assert!(!drawn.is_reduced());
        }
        // The newest rows first, cells as the table has them.
        prop_assert_eq!(facts.latest.rows.len(), rows.len().min(5));
        for (cells, row) in facts.latest.rows.iter().zip(rows.iter().rev()) {
            let expected = [
                PreviewCell::Text(row.0.clone()),
                row.1.clone().map_or(PreviewCell::Null, PreviewCell::Text),
                PreviewCell::Number(Figure::Integer(row.2)),
                row.3.filter(|value| value.is_finite())
                    .map_or(PreviewCell::Null, |value| PreviewCell::Number(Figure::Number(value))),
                row.4.map_or(PreviewCell::Null, |value| PreviewCell::Number(Figure::Integer(value))),
            ];
            prop_assert_eq!(cells, &expected);
        }
        prop_assert_eq!(PreviewFacts::from_json(&facts.to_json()).unwrap(), facts);
    }
}

#[test]
fn each_value_column_of_a_wide_table_is_a_series_contract_9() {
    let wide: Vec<Column> = columns()
        .into_iter()
        .filter(|column| !matches!(column.role, ColumnRole::Dimension | ColumnRole::Key))
        .collect();
    let rows: Vec<Row> = (0..2_000)
        .map(|day| {
            let date = LinePoint { day, value: None }.date();
            let whole = (day % 2 == 0).then_some(i64::from(day));
            (date, None, 0, Some(f64::from(day % 97)), whole)
        })
        .collect();
    let facts = facts(&wide, &rows, 300);
    let series = facts.series.as_ref().unwrap();
    assert_eq!((facts.series_number, series.drawn.len()), (Some(1), 2));
    let named = series.named().unwrap();
    assert_eq!((named.column.as_str(), named.points, named.key.len()), ("amount", 2_000, 0));
    assert_eq!(series.label(named), "amount");
    // Reduced, and its extremes are there.
    assert!(named.is_reduced() && named.line.len() <= MAX_NAMED_POINTS, "{}", named.line.len());
    let values = || named.line.iter().filter_map(|point| point.value.map(Figure::as_f64));
    assert_eq!((values().reduce(f64::min), values().reduce(f64::max)), (Some(0.0), Some(96.0)));
    // Nothing shares its dates, so the columns have latest values.
    let latest =
        |name: &str| facts.values.iter().find(|value| value.column == name).unwrap().latest.clone();
    assert_eq!(latest("amount").unwrap().date, "1975-06-23");
    assert_eq!(
        latest("whole").unwrap(),
        DatedFigure { date: "1975-06-22".to_owned(), value: Figure::Integer(1_998) }
    );
}

#[test]
fn a_line_has_the_statuses_of_its_value_column_contract_21() {
    let list = |codes| ColumnMeaning {
        status: Some(StatusColumn { of: vec!["whole".to_owned()], codes }),
        ..ColumnMeaning::default()
    };
    let statuses = |codes| {
        let mut table = columns();
        table.remove(2);
        table[1].role = ColumnRole::Status;
        table[1].meaning = list(codes).if_any();
        let row = |(day, code): (i32, &str)| {
            (LinePoint { day, value: None }.date(), Some(code.to_owned()), 0, Some(0.5), Some(1))
        };
        let rows: Vec<Row> = (0..).zip(["A", "B", "A", "P", "P"]).map(row).collect();
        let rows = batch(&rows).project(&[0, 1, 3, 4]).unwrap();
        let batches = [rows.slice(0, 4), rows.slice(4, 1)];
        let drawn = facts_of(&table, &["date".to_owned()], &batches).series.unwrap().drawn;
        let runs = |line: &DrawnSeries| (line.column.clone(), line.line_statuses.clone());
        drawn.iter().map(runs).collect::<Vec<_>>()
    };
    let run = |code: &str, first, last| StatusRun { code: code.to_owned(), first, last };
    let known = statuses(StatusCodes::Known(KnownCodes::SdmxObs));
    let total =
        |code: &str, rows, first, last| StatusTotal { code: code.to_owned(), rows, first, last };
    let whole = LineStatuses {
        runs: vec![run("B", 1, 1), run("P", 3, 4)],
        left_out: 0,
        totals: vec![total("B", 1, 1, 1), total("P", 2, 3, 4)],
    };
    let nothing = LineStatuses::default();
    assert_eq!(known, [("amount".to_owned(), nothing), ("whole".to_owned(), whole)]);
    let own = statuses(StatusCodes::Own(Vec::new()));
    assert!(own.iter().all(|(_, statuses)| statuses.is_empty()), "{own:?}");
}

/// A table of cities by code, with figures of years and of months in two units.
fn cities() -> (Vec<Column>, RecordBatch) {
    let value = |name: &str, unit: Option<&str>| Column {
        unit: unit.map(str::to_owned),
        ..Column::new(name, ColumnType::Number, ColumnRole::Value)
    };
    let columns = vec![
        Column::new("date", ColumnType::Date, ColumnRole::Date),
        Column::new("period", ColumnType::String, ColumnRole::Period),
        Column::new("city", ColumnType::String, ColumnRole::Dimension),
        Column::new("weather", ColumnType::String, ColumnRole::Dimension),
        Column::new("code", ColumnType::String, ColumnRole::Key),
        value("births", Some("people")),
        value("area", Some("km²")),
        value("deaths", Some("people")),
    ];
    let rows = [
        ["2024-01-01", "2024", "Tāmaki", "rain", "21"],
        ["2024-01-01", "2024-01", "Tāmaki", "rain", "21"],
        ["2024-01-01", "2024-01", "Lower Hutt", "sun", "46"],
        ["2024-02-01", "2024-02", "Tāmaki", "sun", "21"],
        ["2024-02-01", "2024-02", "Lower Hutt", "sun", "46"],
    ];
    let text = |column: usize| {
        let cells = rows.iter().map(|row| row[column]);
        let cells: ArrayRef = Arc::new(StringArray::from_iter_values(cells));
        cells
    };
    let numbers = |points: usize| {
        let cells = (0..rows.len()).map(|row| (row >= rows.len() - points).then_some(1.5));
        let cells: ArrayRef = Arc::new(cells.collect::<Float64Array>());
        cells
    };
    let arrays = (0..5).map(text).chain([2, 5, 4].map(numbers));
    let named = columns.iter().map(|column| column.name.clone()).zip(arrays);
    let named = named.map(|(name, array)| (name, array, true)).collect::<Vec<_>>();
    (columns, RecordBatch::try_from_iter_with_nullable(named).unwrap())
}

#[test]
fn previews_have_the_series_of_selections_contract_15() {
    let (columns, batch) = cities();
    let key = ["date", "period", "code"].map(str::to_owned);
    let facts = facts_of(&columns, &key, &[batch.slice(0, 2), batch.slice(2, 3)]);
    // Two cities by month, and one of them by year too; a row counts once for all its values.
    assert_eq!((facts.series_number, facts.line_count()), (Some(3), Some(9)));
    let series = facts.series.unwrap();
    // The city is named beside its code, since each has one; the weather changes.
    assert_eq!(series.key_columns, ["city", "code"]);
    let labels: Vec<String> = series.drawn.iter().map(|drawn| series.label(drawn)).collect();
    let lines = [
        // The named one is of the first unit: the one with the most points there.
        "Tāmaki, 21, deaths, monthly",
        "Tāmaki, 21, area, monthly",
        "Lower Hutt, 46, area, monthly",
        "Lower Hutt, 46, deaths, monthly",
        "Tāmaki, 21, area, yearly",
        "Tāmaki, 21, births, monthly",
        "Lower Hutt, 46, births, monthly",
    ];
    assert_eq!(labels, lines);
    let ids: std::collections::BTreeSet<&String> =
        series.drawn.iter().map(|drawn| &drawn.id).collect();
    assert_eq!(ids.len(), lines.len());

    // Without dates in the key the dimensions outside of it tell series apart.
    let facts = facts_of(&columns, &["code".to_owned()], &[batch]);
    assert_eq!(facts.series.unwrap().key_columns, ["city", "weather"]);
    assert_eq!(facts.series_number, Some(4));
}

#[test]
fn a_table_without_dates_has_figures_and_its_first_rows_contract_9() {
    let undated: Vec<Column> =
        columns().into_iter().filter(|column| column.role != ColumnRole::Date).collect();
    let rows: Vec<Row> = (0..9).map(|code| (String::new(), None, code, Some(0.5), None)).collect();
    let facts = facts(&undated, &rows, 4);
    assert_eq!(facts.series, None);
    assert_eq!((facts.values[0].points, facts.values[0].latest.clone()), (9, None));
    assert!(!facts.latest.newest_first);
    let codes: Vec<&PreviewCell> = facts.latest.rows.iter().map(|row| &row[1]).collect();
    assert_eq!(
        codes,
        (0..5)
            .map(|code| PreviewCell::Number(Figure::Integer(code)))
            .collect::<Vec<_>>()
            .iter()
            .collect::<Vec<_>>()
    );
}

#[test]
fn centroids_are_those_of_the_sampled_rows_contract_9() {
    let columns = vec![
        Column::new("name", ColumnType::String, ColumnRole::Attribute),
        Column::new("geometry_wkt", ColumnType::String, ColumnRole::Geometry),
    ];
    let batches = (0..250).step_by(60).map(|start| {
        let rows = start..(start + 60).min(250);
        let wkt = |row: i32| (row != 5).then(|| format!("MULTIPOINT (({row}.5 1))"));
        let arrays: [(&str, ArrayRef); 2] = [
            (
                "name",
                Arc::new(StringArray::from_iter_values(rows.clone().map(|row| row.to_string()))),
            ),
            ("geometry_wkt", Arc::new(rows.map(|row| wkt(row % 180)).collect::<StringArray>())),
        ];
        let arrays = arrays.map(|(name, array)| (name, array, true));
        RecordBatch::try_from_iter_with_nullable(arrays).unwrap()
    });
    let facts = facts_of(&columns, &[], &batches.collect::<Vec<_>>());
    let sample = facts.centroids.unwrap();
    let expected: Vec<[f64; 2]> = (0..100)
        .map(|index| index * 250 / 100 % 180)
        .filter(|row| *row != 5)
        .map(|row| [f64::from(row) + 0.5, 1.0])
        .collect();
    assert_eq!((sample.features, sample.points), (250, expected));
    assert_eq!(facts.latest.columns, ["name"], "geometry is left out");
}
