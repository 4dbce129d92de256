//! The tables: those that generators are tried with, each with rows.

use std::collections::BTreeSet;

use super::super::project::{self, HARD};
use super::select::written;
use crate::Value;
use crate::adapter::{BoundingBox, Column, ColumnType, Credit, Dataset, Edition, Unit};
use crate::generator;

/// A dataset with its rows.
#[derive(Debug)]
pub(super) struct SampleTable {
    /// In its main language.
    pub(super) dataset: Dataset,
    /// The rows, in their natural order.
    pub(super) rows: Vec<Vec<Option<Value>>>,
}

/// Title of the dataset that has one in another language.
pub(super) const OTHER_TITLE: (&str, &str) = ("mi", "Ngā hua o te kererū");

/// Months that each series has.
const MONTHS: u32 = 24;

pub(super) fn tables() -> Vec<SampleTable> {
    let long = SampleTable::new(&project::long(), harvests(), Some(Unit::Month));
    let wide = SampleTable::new(&project::wide(), prices(), Some(Unit::Month));
    let mut spatial = SampleTable::new(&project::spatial(), places(), None);
    // Across 180°.
    spatial.dataset.bbox =
        Some(BoundingBox { west: 168.3, south: -46.5, east: -176.5, north: -36.8 });
    spatial.dataset.languages.push(OTHER_TITLE.0.to_owned());
    vec![SampleTable::new(&project::undated(), codes(), None), long, spatial, wide]
}

impl SampleTable {
    fn new(
        described: &generator::Dataset,
        rows: Vec<Vec<Option<Value>>>,
        axis: Option<Unit>,
    ) -> Self {
        let edition = |id: &str, version, published_at: &str| Edition {
            id: id.to_owned(),
            version,
            published_at: published_at.to_owned(),
            rows: rows.len() as u64,
        };
        let date = described.columns.iter().position(|column| column.name == "date");
        let mut dates: Vec<&str> =
            rows.iter().filter_map(|row| text(row.get(date?)?.as_ref()?)).collect();
        dates.sort_unstable();
        let ends = dates.first().zip(dates.last());
        let counted = |(at, described): (usize, &generator::Column)| {
            let is_counted = described.column_type != generator::ColumnType::Number
                && !matches!(described.role, generator::Role::Value | generator::Role::Geometry);
            let distinct: BTreeSet<String> =
                rows.iter().filter_map(|row| row.get(at)?.as_ref()).map(written).collect();
            let distinct = u32::try_from(distinct.len()).ok().filter(|_| is_counted);
            Column { distinct, ..column(described) }
        };
        let dataset = Dataset {
            name: described.name.clone(),
            namespace: described.namespace.clone(),
            title: described.title.clone(),
            description: described.description.clone(),
            languages: vec!["en".to_owned()],
            notes: vec![HARD.to_owned()],
            credit: Credit {
                source: described.source.clone(),
                source_url: described.source_url.clone(),
                licence: described.licence.clone(),
                licence_url: None,
                attribution: described.attribution.clone(),
            },
            columns: described.columns.iter().enumerate().map(counted).collect(),
            primary_key: described.primary_key.clone(),
            schema_version: 1,
            axis,
            dates: ends.map(|(first, last)| ((*first).to_owned(), (*last).to_owned())),
            bbox: None,
            cadence: described.refresh_cadence.clone(),
            editions: vec![
                edition(&described.snapshot_id, 2, "2026-07-01T09:00:00Z"),
                edition("fedcba9876543210fedcba9876543210", 1, "2026-06-01T09:00:00Z"),
            ],
        };
        Self { dataset, rows }
    }
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn column(described: &generator::Column) -> Column {
    Column {
        name: described.name.clone(),
        type_: match described.column_type {
            generator::ColumnType::Text => ColumnType::Text,
            generator::ColumnType::Integer => ColumnType::Integer,
            generator::ColumnType::Number => ColumnType::Number,
            generator::ColumnType::Boolean => ColumnType::Boolean,
            generator::ColumnType::Date => ColumnType::Date,
        },
        nullable: described.nullable,
        role: described.role.as_str().to_owned(),
        unit: described.unit.clone(),
        title: None,
        description: described.description.clone(),
        of: None,
        distinct: None,
    }
}

fn some(text: impl Into<String>) -> Option<Value> {
    Some(Value::Text(text.into()))
}

/// The first day of each month, and the month.
fn months() -> impl Iterator<Item = (u32, String)> {
    (0..MONTHS).map(|month| (month, format!("{}-{:02}", 2024 + month / 12, month % 12 + 1)))
}

/// Three series; the south has no value in some months.
fn harvests() -> Vec<Vec<Option<Value>>> {
    let rows = months().flat_map(|(month, period)| {
        [(HARD, 0.5), ("north", 1.0), ("south", 2.5)].map(|(region, base)| {
            let value = base + 0.25 * f64::from(month);
            let is_known = region != "south" || month % 5 != 3;
            vec![
                some(format!("{period}-01")),
                some(period.clone()),
                some(region),
                is_known.then_some(Value::Number(value)),
                Some(Value::Boolean(month + 1 < MONTHS)),
            ]
        })
    });
    rows.collect()
}

fn prices() -> Vec<Vec<Option<Value>>> {
    let row = |(month, period): (u32, String)| {
        let price = Value::Number(1000.0 + 1.5 * f64::from(month));
        let number = Value::Integer(i64::from(month));
        vec![some(format!("{period}-01")), Some(price), (month % 7 != 2).then_some(number)]
    };
    months().map(row).collect()
}

/// On both sides of 180°, and one whose place is not known.
fn places() -> Vec<Vec<Option<Value>>> {
    let row = |(name, point): (&str, Option<&str>)| {
        vec![some(name), some("2024-01-01"), point.and_then(some)]
    };
    let places = [
        ("Auckland", Some("POINT (174.8 -36.8)")),
        (HARD, None),
        ("Invercargill", Some("POINT (168.3 -46.5)")),
        ("Waitangi", Some("POINT (-176.5 -44)")),
    ];
    places.map(row).into()
}

fn codes() -> Vec<Vec<Option<Value>>> {
    let row = |(code, count): (&str, Option<i64>)| vec![some(code), count.map(Value::Integer)];
    [("a", Some(i64::MAX)), ("a", None), (HARD, Some(-1)), ("", Some(0))].map(row).into()
}
