//! Rules of reading; the laws against a naive reader stand beneath.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bounds;
mod boxes;
mod callers;
mod conditions;
mod counted;
mod damage;
mod fixture;
mod kept_columns;
mod laws;
mod less;
mod numbered;
mod ordered;
mod ordered_reads;
mod ordered_room;
mod same_bytes;
mod undated;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::DataType;
use fixture::{FixtureOptions, StoredFixture, plan};
use futures::TryStreamExt;
use yearbook_domain::Date;

use super::*;
use crate::preview::PreviewLimits;

/// A sample of so many rows whose texts are whole.
fn sample(rows: usize) -> PreviewLimits {
    PreviewLimits { rows, characters: usize::MAX, row_bytes: usize::MAX }
}

#[tokio::test]
async fn batches_carry_the_schema_and_the_credits_of_the_plugin_interface() {
    let stored = StoredFixture::new(&FixtureOptions::rows(100)).await;
    let mut plan = plan(&stored.snapshot);
    plan.columns = vec![4, 1, 0];
    Arc::make_mut(&mut plan.snapshot).columns[4].unit = Some("NZD".to_owned());
    let scan = stored.reader.scan(&plan).await.unwrap();
    let fields: Vec<_> = scan
        .schema
        .fields()
        .iter()
        .map(|field| (field.name().as_str(), field.data_type().clone(), field.is_nullable()))
        .collect();
    assert_eq!(
        fields,
        [
            ("count", DataType::Int64, true),
            ("region", schema::dictionary(), true),
            ("date", DataType::Utf8, false)
        ]
    );
    let said = |index: usize| {
        scan.schema
            .field(index)
            .metadata()
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        [said(0), said(1), said(2)].map(|said| said.join(" ")),
        [
            "yearbook.role=value yearbook.unit=NZD",
            "yearbook.role=dimension",
            "yearbook.role=date yearbook.type=date"
        ]
    );
    let mut metadata: Vec<_> =
        scan.schema.metadata().iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    metadata.sort_unstable();
    assert_eq!(
        metadata,
        [
            ("yearbook.attribution", "Credit: Stats"),
            ("yearbook.dataset", "fixture"),
            ("yearbook.licence", "CC-BY-4.0"),
            ("yearbook.licence_title", "Attribution 4.0"),
            ("yearbook.licence_url", "https://licence.example/by"),
            ("yearbook.namespace", "tests"),
            ("yearbook.snapshot_id", "e8bc163c82eee18733288c7d4ac636db"),
            ("yearbook.source", "Stats"),
            ("yearbook.sources", r#"[{"title":"Stats","path":null}]"#),
        ]
    );
    let batches: Vec<RecordBatch> = scan.batches.try_collect().await.unwrap();
    assert!(batches.iter().all(|batch| batch.schema() == scan.schema));
}

#[tokio::test]
async fn a_dataset_without_dimensions_matches_nothing_contract_3() {
    let mut stored = StoredFixture::new(&FixtureOptions::rows(100)).await;
    stored.snapshot.dimensions = vec![];
    for max_rows in [None, Some(5)] {
        let mut plan = plan(&stored.snapshot);
        (plan.search_text, plan.max_rows) = (Some("a".to_owned()), max_rows);
        let (rows, next) = stored.read(&plan).await.unwrap();
        assert_eq!((rows.num_rows(), next), (0, None));
    }
}

#[tokio::test]
async fn an_empty_dataset_is_a_schema_without_batches() {
    let stored = StoredFixture::new(&FixtureOptions::rows(0)).await;
    for needle in [None, Some("a".to_owned())] {
        for max_rows in [None, Some(0), Some(5)] {
            let mut plan = plan(&stored.snapshot);
            (plan.search_text, plan.max_rows) = (needle.clone(), max_rows);
            (plan.start, plan.end) = (Date::parse("2000-01-01"), Date::parse("2030-01-01"));
            let scan = stored.reader.scan(&plan).await.unwrap();
            assert_eq!((scan.counts.next, scan.schema.fields().len()), (None, 7));
            assert!(scan.batches.try_collect::<Vec<_>>().await.unwrap().is_empty());
        }
    }
    assert_eq!(stored.reader.preview(&stored.snapshot, sample(10)).await.unwrap().num_rows(), 0);
}

#[tokio::test]
async fn preview_is_the_newest_rows_first_without_geometry_contract_4() {
    let mut stored = StoredFixture::new(&FixtureOptions::rows(100)).await;
    let preview = stored.reader.preview(&stored.snapshot, sample(10)).await.unwrap();
    let names: Vec<_> =
        preview.schema_ref().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["date", "region", "place", "value", "count", "flag"]);
    assert_eq!(preview.column(1).data_type(), &DataType::Utf8);
    let newest = stored.table.slice(90, 10);
    for row in 0..10 {
        for column in 0..6 {
            assert_eq!(
                preview.column(column).slice(row, 1).to_data(),
                newest.column(column).slice(9 - row, 1).to_data()
            );
        }
    }
    stored.snapshot.date_column = None;
    let preview = stored.reader.preview(&stored.snapshot, sample(3)).await.unwrap();
    assert_eq!(preview.column(0).to_data(), stored.table.column(0).slice(0, 3).to_data());
    assert_eq!(
        stored.reader.preview(&stored.snapshot, sample(1000)).await.unwrap().num_rows(),
        100
    );
    stored
        .snapshot
        .columns
        .iter_mut()
        .for_each(|column| column.role = yearbook_domain::ColumnRole::Geometry);
    let preview = stored.reader.preview(&stored.snapshot, sample(3)).await.unwrap();
    assert_eq!(preview.num_columns(), 0, "a dataset may hold nothing but geometry");
}

#[tokio::test]
async fn slicing_is_the_same_every_time_and_bounded() {
    let stored = StoredFixture::new(&FixtureOptions {
        rows: 30_000,
        group: 20_000,
        page: 1_000,
        ..FixtureOptions::default()
    })
    .await;
    let sizes = async |columns: Vec<usize>| {
        let mut plan = plan(&stored.snapshot);
        plan.columns = columns;
        let batches: Vec<RecordBatch> =
            stored.reader.scan(&plan).await.unwrap().batches.try_collect().await.unwrap();
        batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>()
    };
    assert_eq!(sizes(vec![0, 4]).await, [8192, 8192, 3616, 8192, 1808]);
    assert_eq!(sizes(vec![0, 4]).await, sizes(vec![4, 0]).await);
    let wide = sizes(vec![6]).await;
    assert_eq!(wide.iter().sum::<usize>(), 30_000);
    assert!(
        wide.len() > 5 && wide == sizes(vec![6]).await,
        "larger rows make smaller batches: {wide:?}"
    );
}

#[tokio::test]
async fn batches_of_a_row_group_share_their_dictionary() {
    let stored = StoredFixture::new(&FixtureOptions {
        rows: 20_000,
        group: 20_000,
        page: 1_000,
        ..FixtureOptions::default()
    })
    .await;
    let mut plan = plan(&stored.snapshot);
    plan.columns = vec![1];
    let batches: Vec<RecordBatch> =
        stored.reader.scan(&plan).await.unwrap().batches.try_collect().await.unwrap();
    assert!(batches.len() > 1);
    let values: Vec<_> = batches
        .iter()
        .map(|batch| batch.column(0).as_any_dictionary().values().to_data())
        .collect();
    assert!(values.iter().all(|data| data.ptr_eq(&values[0])));
}

#[tokio::test]
async fn a_null_that_the_catalogue_denies_is_a_failure_not_a_lie() {
    let mut stored = StoredFixture::new(&FixtureOptions::rows(100)).await;
    stored.snapshot.columns[4].nullable = false;
    let failure = stored.read(&plan(&stored.snapshot)).await.unwrap_err();
    assert!(failure.to_string().contains(&ObjectStorage::key(&stored.snapshot.file)), "{failure}");
}

#[tokio::test]
async fn a_row_larger_than_a_batch_travels_alone() {
    let stored = StoredFixture::new(&FixtureOptions {
        rows: 300,
        group: 300,
        page: 100,
        huge: Some(150),
        ..FixtureOptions::default()
    })
    .await;
    let mut plan = plan(&stored.snapshot);
    plan.columns = vec![6, 0];
    let batches: Vec<RecordBatch> =
        stored.reader.scan(&plan).await.unwrap().batches.try_collect().await.unwrap();
    let with_huge: Vec<_> = batches
        .iter()
        .filter(|batch| {
            batch.column(0).as_string::<i32>().iter().flatten().any(|text| text.len() > 4 << 20)
        })
        .collect();
    assert_eq!(with_huge.len(), 1);
    assert_eq!(with_huge[0].num_rows(), 1);
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 300);
}

#[tokio::test]
async fn without_room_the_same_batches_are_fetched_one_at_a_time() {
    let stored = StoredFixture::new(&FixtureOptions {
        rows: 30_000,
        group: 20_000,
        page: 1_000,
        ..FixtureOptions::default()
    })
    .await;
    let ask = async |bytes: u64, columns: &[usize], needle: Option<&str>| {
        let reader = stored.afresh(None).with_fetch_budget(bytes);
        let mut plan = plan(&stored.snapshot);
        (plan.columns, plan.search_text) = (columns.to_vec(), needle.map(str::to_owned));
        let batches: Vec<RecordBatch> =
            reader.scan(&plan).await.unwrap().batches.try_collect().await.unwrap();
        let shares = |two: &[RecordBatch]| {
            let values =
                |batch: &RecordBatch| batch.column(0).as_any_dictionary().values().to_data();
            values(&two[0]).ptr_eq(&values(&two[1]))
        };
        let shared: Vec<bool> = batches.windows(2).map(shares).collect();
        (batches, shared)
    };
    for needle in [None, Some("a")] {
        let (plenty, shared) = ask(1 << 30, &[1, 0, 3, 6], needle).await;
        assert!(plenty.len() > 5 && shared.contains(&true));
        assert_eq!(
            ask(0, &[1, 0, 3, 6], needle).await,
            (plenty, shared),
            "rows, their slices, and which of them share a dictionary"
        );
    }
}

#[tokio::test]
async fn room_is_given_back_when_a_step_ends_and_when_a_scan_is_dropped() {
    let stored = StoredFixture::new(&FixtureOptions {
        rows: 30_000,
        group: 20_000,
        page: 1_000,
        ..FixtureOptions::default()
    })
    .await;
    let bytes = 64 << 20;
    let mut reader = stored.afresh(None).with_fetch_budget(bytes);
    // Tables that are kept are decoded step by step, and need no room.
    reader.parts_mut().task_limits.kept_scan_bytes = 0;
    let mut scan = reader.scan(&plan(&stored.snapshot)).await.unwrap();
    scan.batches.try_next().await.unwrap().unwrap();
    assert!(reader.parts.budget.take(bytes).is_none(), "a step is being decoded");
    drop(scan);
    assert!(reader.parts.budget.take(bytes).is_some());
    let all: Vec<RecordBatch> =
        reader.scan(&plan(&stored.snapshot)).await.unwrap().batches.try_collect().await.unwrap();
    assert!(!all.is_empty() && reader.parts.budget.take(bytes).is_some());
}
