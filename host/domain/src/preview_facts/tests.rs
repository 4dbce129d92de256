//! Bounds of facts, series and their lines, and cells of rows.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;

use super::*;
use crate::read_plan::PeriodForm;

fn number(value: f64) -> Option<Figure> {
    Some(Figure::Number(value))
}

fn line(values: &[Option<f64>]) -> Vec<LinePoint> {
    let point =
        |(day, value): (i32, &Option<f64>)| LinePoint { day, value: value.map(Figure::Number) };
    (0..).zip(values).map(point).collect()
}

fn drawn(column: &str, key: &[&str], line: Vec<LinePoint>) -> DrawnSeries {
    DrawnSeries {
        id: series_id(column, key.iter().copied().map(Some), None),
        column: column.to_owned(),
        key: key.iter().map(|value| Some((*value).to_owned())).collect(),
        rows: line.len() as u64,
        points: line.iter().filter(|point| point.value.is_some()).count() as u64,
        form: None,
        excluded: 0,
        latest: None,
        min: None,
        max: None,
        line,
        line_statuses: LineStatuses {
            runs: vec![
                StatusRun { code: "P".to_owned(), first: i32::MIN, last: i32::MIN };
                MAX_STATUS_RUNS
            ],
            left_out: u64::MAX,
            totals: vec![
                StatusTotal {
                    code: "P".to_owned(),
                    rows: u64::MAX,
                    first: i32::MIN,
                    last: i32::MIN
                };
                20
            ],
        },
    }
}

fn facts(series: Vec<DrawnSeries>, latest: LatestRows) -> PreviewFacts {
    PreviewFacts {
        version: FACTS_VERSION,
        rows: 1,
        values: Vec::new(),
        values_left_out: 0,
        series: (!series.is_empty())
            .then(|| SeriesPreview { key_columns: vec!["region".to_owned()], drawn: series }),
        series_number: None,
        axis: None,
        centroids: None,
        digest: ResultDigest::from_columns(0, std::iter::empty()),
        latest,
    }
}

proptest! {
    #[test]
    fn figures_read_back_bit_by_bit(bits: u64, whole: i64) {
        let value = f64::from_bits(bits);
        prop_assume!(value.is_finite());
        for figure in [Figure::Number(value), Figure::Integer(whole)] {
            let text = serde_json::to_string(&figure).unwrap();
            let read: Figure = serde_json::from_str(&text).unwrap();
            match (figure, read) {
                (Figure::Number(before), Figure::Number(after)) => {
                    prop_assert_eq!(before.to_bits(), after.to_bits());
                }
                (before, after) => prop_assert_eq!(before, after),
            }
        }
    }

    #[test]
    fn a_thinned_line_keeps_its_extremes_and_its_order(
        values in prop::collection::vec(prop::option::weighted(0.9, -1e9..1e9), 1..600),
        points in 2_usize..64,
    ) {
        let whole = line(&values);
        let mut series = drawn("value", &["a"], whole.clone());
        series.thin(points);
        prop_assert!(series.line.len() <= points.max(2));
        prop_assert!(series.line.is_sorted_by_key(|point| point.day));
        prop_assert!(series.line.iter().all(|point| whole.contains(point)));
        let extremes = |line: &[LinePoint]| {
            let values = || line.iter().filter_map(|point| point.value.map(Figure::as_f64));
            (values().reduce(f64::min), values().reduce(f64::max))
        };
        prop_assert_eq!(extremes(&series.line), extremes(&whole));
    }
}

proptest! {
    // Each case renders tens of kilobytes a few dozen times.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn facts_fit_64_kib_whatever_the_table_holds_contract_9(
        text in "[\\x00-\\x1f\"\\\\<ā🌏]{0,300}",
        columns in 0_usize..60,
        series in 0_usize..40,
        points in 1_usize..700,
        value in any::<f64>().prop_filter("finite", |value| value.is_finite()),
    ) {
        let key: Vec<&str> = vec![cut_text(&text, MAX_CELL_CHARACTERS); MAX_KEY_PARTS];
        let column = "c".repeat(crate::name::MAX_BYTES);
        let drawn = (0..series.min(MAX_DRAWN_SERIES))
            .map(|_| drawn(&column, &key, line(&vec![Some(value); points.min(MAX_NAMED_POINTS)])))
            .collect();
        let shown = columns.min(MAX_TABLE_COLUMNS);
        let latest = LatestRows {
            columns: vec![column.clone(); shown],
            columns_left_out: 3,
            newest_first: true,
            rows: vec![vec![PreviewCell::of_text(&text, MAX_CELL_CHARACTERS); shown]; 5],
        };
        let figure = Some(DatedFigure { date: "2026-11-22".to_owned(), value: Figure::Number(value) });
        let one = ValueFacts {
            column,
            points: u64::MAX,
            excluded: u64::MAX,
            latest: figure,
            min: number(value),
            max: number(value),
        };
        let whole = PreviewFacts {
            values: vec![one; MAX_VALUE_COLUMNS],
            centroids: Some(CentroidSample {
                features: u64::MAX,
                points: vec![[-179.123_456, -89.123_456]; 100],
            }),
            ..facts(drawn, latest)
        };
        let fitted = whole.clone().fit();
        prop_assert!(fitted.to_json().len() <= MAX_FACTS_BYTES, "{}", fitted.to_json().len());
        prop_assert_eq!(&PreviewFacts::from_json(&fitted.to_json()).unwrap(), &fitted);
        prop_assert_eq!(&fitted.values, &whole.values);
        prop_assert_eq!(&fitted.centroids, &whole.centroids);
        let columns = |facts: &PreviewFacts| {
            facts.latest.columns.len() as u64 + facts.latest.columns_left_out
        };
        prop_assert_eq!(columns(&fitted), columns(&whole));
        let named = |facts: &PreviewFacts| {
            facts.series.as_ref().and_then(|series| series.named().map(|named| named.line.clone()))
        };
        prop_assert_eq!(named(&fitted), named(&whole));
        prop_assert_eq!(fitted.clone().fit(), fitted);
    }
}

#[test]
fn small_facts_lose_nothing() {
    let whole = facts(
        vec![drawn("value", &["a"], line(&[Some(1.0), None, Some(2.5)]))],
        LatestRows::default(),
    );
    assert_eq!(whole.clone().fit(), whole);
}

#[test]
fn a_gap_stays_where_a_part_has_no_value() {
    let mut series =
        drawn("value", &[], line(&[Some(1.0), Some(2.0), None, None, Some(4.0), Some(3.0)]));
    series.thin(6);
    assert_eq!(series.line.len(), 6);
    series.thin(5);
    let days: Vec<i32> = series.line.iter().map(|point| point.day).collect();
    assert_eq!(days, [0, 1, 4, 5], "parts of three rows: {:?}", series.line);
    let mut series = drawn("value", &[], line(&[Some(1.0), Some(2.0), None, None]));
    series.thin(3);
    assert_eq!(series.line.iter().map(|point| point.day).collect::<Vec<_>>(), [0, 1]);
    let mut series =
        drawn("value", &[], line(&[Some(1.0), Some(2.0), None, None, Some(1.0), Some(0.5)]));
    series.line.extend(line(&[None, None]));
    series.thin(7);
    assert!(series.line.iter().any(|point| point.value.is_none()), "{:?}", series.line);
}

#[test]
fn sampled_rows_are_those_of_the_contract_contract_9() {
    for (features, first, count, last) in [
        (0, None, 0, None),
        (1, Some(0), 1, Some(0)),
        (100, Some(0), 100, Some(99)),
        (2_155, Some(0), 100, Some(2_133)),
    ] {
        let rows: Vec<u64> = CentroidSample::sampled_rows(features).collect();
        assert_eq!(
            (rows.first().copied(), rows.len(), rows.last().copied()),
            (first, count, last),
            "{features}"
        );
    }
    assert_eq!(CentroidSample::sampled_rows(2_155).nth(7), Some(7 * 2_155 / 100));
}

#[test]
fn series_are_found_by_id_and_by_label() {
    let both = facts(
        vec![
            drawn("value", &["Tāmaki"], line(&[Some(1.0)])),
            drawn("value", &["a, b"], line(&[Some(1.0)])),
        ],
        LatestRows::default(),
    );
    let series = both.series.unwrap();
    assert_eq!(series.label(&series.drawn[0]), "Tāmaki");
    for wanted in &series.drawn {
        assert_eq!(series.find(&wanted.id), Some(wanted));
        assert_eq!(series.find(&series.label(wanted)), Some(wanted));
        assert_eq!(wanted.id.len(), 16);
    }
    assert_eq!(series.find("elsewhere"), None);
    // Where a text ends is part of the id.
    assert_ne!(
        series_id("v", [Some("ab"), Some("c")].into_iter(), None),
        series_id("v", [Some("a"), Some("bc")].into_iter(), None)
    );
    let of = |value, form| series_id("v", [value].into_iter(), form);
    assert_ne!(of(None, None), of(Some(""), None));
    // So is the form of the period codes, which the label has where there are several.
    let [yearly, monthly] = [PeriodForm::Year, PeriodForm::Month].map(|form| DrawnSeries {
        id: of(Some("a"), Some(form)),
        form: Some(form),
        ..drawn("value", &["a"], line(&[Some(1.0)]))
    });
    assert_ne!(yearly.id, monthly.id);
    let both = facts(vec![yearly, monthly], LatestRows::default()).series.unwrap();
    let labels: Vec<String> = both.drawn.iter().map(|series| both.label(series)).collect();
    assert_eq!(labels, ["a, yearly", "a, monthly"]);
}

#[test]
fn days_are_dates() {
    for date in ["0001-01-01", "1914-06-01", "1969-12-31", "1970-01-01", "2026-02-28", "9999-12-31"]
    {
        let day = day_number(date).unwrap();
        assert_eq!(LinePoint { day, value: None }.date(), date);
    }
    assert_eq!(day_number("1970-01-02"), Some(1));
    assert_eq!(day_number("2026-02-30"), None);
}

#[test]
fn texts_are_cut_between_characters() {
    assert_eq!(cut_text("Māori", 2), "Mā");
    assert_eq!(cut_text("Mā", 2), "Mā");
}

#[test]
fn facts_of_other_versions_are_read_with_what_both_know_contract_9() {
    let mut series = drawn("value", &["a"], line(&[Some(1.0), Some(2.0)]));
    let mut runs = StatusRuns::default();
    runs.push(1, Some("P"), true);
    series.line_statuses = runs.finish();
    let facts = facts(vec![series], LatestRows::default());
    let text = facts.to_json();
    let runs = r#","line_statuses":{"runs":[["P",1,1]],"left_out":0,"totals":[["P",1,1,1]]}"#;
    assert!(text.contains(runs), "{text}");
    assert_eq!(PreviewFacts::from_json(&text).unwrap(), facts);
    // Without them, as a former version has it, and beside something that a later one has.
    let mut without = facts;
    without.series.as_mut().unwrap().drawn[0].line_statuses = LineStatuses::default();
    assert_eq!(PreviewFacts::from_json(&text.replace(runs, "")).unwrap(), without);
    let later = text.replace(runs, ",\"later\":[1]");
    assert_eq!(PreviewFacts::from_json(&later).unwrap(), without);
}

#[test]
fn a_break_without_a_point_keeps_its_date_contract_21() {
    let mut series = drawn("value", &["a"], line(&[Some(1.0), Some(2.0)]));
    let mut runs = StatusRuns::default();
    for (day, code) in [(0, "B"), (1, "P"), (2, "B"), (3, "B"), (4, "P")] {
        runs.push(day, Some(code), true);
    }
    series.line_statuses = runs.finish();
    let days: Vec<_> = series.further_breaks().map(|point| (point.day, point.value)).collect();
    assert_eq!(days, [(2, None)], "the first is a point of the line");
}
