//! Made-up rows for the suite.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use yearbook_domain::credit::SourceUrlPrecision;
use yearbook_domain::meaning::{
    ColumnMeaning, DatasetMeaning, Language, ListedCode, Note, StatusCodes, StatusColumn, Text,
};
use yearbook_domain::preview_facts::{FACTS_VERSION, LatestRows};
use yearbook_domain::{
    BoundingBox, Column, ColumnRole, ColumnType, Credit, DatasetName, Date, Digest, KeyId, Millis,
    Namespace, ObjectKey, Plan, PlannedRelease, PreviewFacts, ResultDigest, Snapshot, SnapshotId,
    SourceEntry, StoredFile, TableLayout, TextTraits,
};

use crate::{
    Caller, Catalog, CatalogError, CommitOutcome, KeyRecord, PluginRelease, Publication, Retention,
    UploadRegistration, key,
};

/// 2026-11-21T00:00:00Z.
pub(crate) const TODAY: i64 = 1_795_219_200_000;
pub(crate) const HOUR: i64 = 3_600_000;
pub(crate) const DAY: i64 = 24 * HOUR;

/// Keeps nothing that it need not.
pub(crate) const KEEP_NEWEST_ONLY: Retention = Retention { snapshots: 1, hours: 0, history: false };

/// The id that stands for `label`.
pub(crate) fn snapshot_id(label: &str) -> SnapshotId {
    SnapshotId::from_digest(digest(label))
}

/// The digest that stands for `label`.
pub(crate) fn digest(label: &str) -> Digest {
    Digest::compute(label.as_bytes())
}

pub(crate) fn key_id(text: &str) -> KeyId {
    KeyId::parse(text).unwrap()
}

pub(crate) fn name(text: &str) -> DatasetName {
    DatasetName::parse(text).unwrap()
}

/// A snapshot in which every field says something, awkward text included.
pub(crate) fn snapshot(id: &str, created_at: i64) -> Snapshot {
    let column = |name: &str, column_type, role| Column {
        name: name.to_owned(),
        column_type,
        nullable: role == ColumnRole::Value,
        role,
        unit: (role == ColumnRole::Value).then(|| "NZD ‘000’".to_owned()),
        description: (role == ColumnRole::Dimension)
            .then(|| "Te Tau Ihu; it's \"quoted\"\n, 100 %".to_owned()),
        few_values: role == ColumnRole::Dimension,
        text_traits: TextTraits::NO_TAB | TextTraits::NO_MARKUP,
        meaning: column_meaning(role).if_any(),
    };
    Snapshot {
        id: snapshot_id(id),
        created_at: Millis(created_at),
        rows: 1_234_567,
        file: StoredFile { sha256: digest(id), bytes: 987_654_321 },
        title: Some("Consumers price index".to_owned()),
        description: Some(String::new()),
        // In no order of their own.
        keywords: vec!["prices".to_owned(), "Māori \"land\"".to_owned(), "a".to_owned()],
        credit: Credit {
            source: "Stats NZ Tatauranga Aotearoa".to_owned(),
            attribution: "Contains data © Stats NZ, CC BY 4.0".to_owned(),
            licence: "CC-BY-4.0".to_owned(),
            licence_title: Some("Creative Commons Attribution 4.0 – “BY”".to_owned()),
            licence_url: Some("https://creativecommons.org/licenses/by/4.0/".to_owned()),
            source_url: Some("https://example.org/cpi?a=1&b=2".to_owned()),
            source_url_precision: Some(SourceUrlPrecision::Dataset),
            // In no order of their own.
            sources: vec![
                SourceEntry {
                    title: Some("Stats NZ".to_owned()),
                    path: Some("https://example.org/cpi?a=1&b=2".to_owned()),
                },
                SourceEntry { title: Some("\"A\" second".to_owned()), path: None },
                SourceEntry { title: None, path: Some("https://example.org/".to_owned()) },
            ],
        },
        refresh_cadence: Some("weekly".to_owned()),
        bulk_redistribution: true,
        columns: vec![
            column("date", ColumnType::Date, ColumnRole::Date),
            column("region", ColumnType::String, ColumnRole::Dimension),
            column("amount", ColumnType::Number, ColumnRole::Value),
            column("flag", ColumnType::String, ColumnRole::Status),
            column("open", ColumnType::Boolean, ColumnRole::Attribute),
            column("code", ColumnType::Integer, ColumnRole::Key),
            column("geometry_wkt", ColumnType::String, ColumnRole::Geometry),
        ],
        // Not in the order of the columns.
        primary_key: vec!["code".to_owned(), "date".to_owned()],
        dimensions: vec!["region".to_owned()],
        date_column: Some("date".to_owned()),
        date_range: Date::parse("1914-06-01").zip(Date::parse("2026-09-30")),
        layout: TableLayout::Long,
        // Crosses 180°; digits that only an exact round trip keeps.
        bbox: Some(BoundingBox([1.0 / 3.0 + 166.0, -52.620_6, -176.165, 0.1 + 0.2])),
        meaning: DatasetMeaning {
            languages: vec![language("en"), language("mi")],
            title: translated("Te taupū utu").translations,
            description: translated("“He”").translations,
            notes: vec![Note {
                text: translated("He tūhono"),
                column: Some("amount".to_owned()),
                conditions: BTreeMap::from([("date.ge".to_owned(), vec!["2025-01-01".to_owned()])]),
            }],
            releases: vec![PlannedRelease {
                at: Millis(1_798_761_599_000),
                title: "He putanga".to_owned(),
            }],
            no_derivatives: true,
            label_words: "Te Whanganui-a-Tara".to_owned(),
        },
    }
}

fn language(tag: &str) -> Language {
    Language::parse(tag).unwrap()
}

fn translated(text: &str) -> Text {
    let translations = BTreeMap::from([(language("mi"), text.to_owned())]);
    Text { text: "A “text”".to_owned(), translations }
}

fn column_meaning(role: ColumnRole) -> ColumnMeaning {
    let code =
        ListedCode { code: "p".to_owned(), label: Some(translated("Tīmata")), confidential: true };
    match role {
        ColumnRole::Dimension => ColumnMeaning {
            title: Some(translated("Rohe")),
            description: translated("Te rohe").translations,
            labelled: true,
            status: None,
        },
        ColumnRole::Status => ColumnMeaning {
            status: Some(StatusColumn {
                of: vec!["amount".to_owned()],
                codes: StatusCodes::Own(vec![code]),
            }),
            ..ColumnMeaning::default()
        },
        _ => ColumnMeaning::default(),
    }
}

/// A snapshot that leaves out all it can.
pub(crate) fn bare_snapshot(id: &str, created_at: i64) -> Snapshot {
    Snapshot {
        rows: 0,
        title: None,
        description: None,
        keywords: Vec::new(),
        credit: Credit {
            licence_title: None,
            licence_url: None,
            source_url: None,
            source_url_precision: None,
            sources: Vec::new(),
            ..snapshot(id, created_at).credit
        },
        refresh_cadence: None,
        bulk_redistribution: false,
        columns: Vec::new(),
        primary_key: Vec::new(),
        dimensions: Vec::new(),
        date_column: None,
        date_range: None,
        layout: TableLayout::Wide,
        bbox: None,
        meaning: DatasetMeaning::default(),
        ..snapshot(id, created_at)
    }
}

/// Preview facts that differ by `rows`.
pub(crate) fn facts(rows: u64) -> PreviewFacts {
    PreviewFacts {
        version: FACTS_VERSION,
        rows,
        values: Vec::new(),
        values_left_out: 0,
        series: None,
        series_number: None,
        axis: None,
        centroids: None,
        digest: ResultDigest::from_columns(rows, std::iter::empty()),
        latest: LatestRows::default(),
    }
}

/// A snapshot committed as soon as its source was looked at.
pub(crate) fn publication(dataset: &str, id: &str, at: i64) -> Publication {
    Publication {
        name: name(dataset),
        namespace: Namespace::parse("prices").unwrap(),
        snapshot: snapshot(id, at),
        predecessor: None,
        changes: None,
        facts: Some(facts(1)),
        at: Some(Millis(at)),
    }
}

pub(crate) async fn publish(store: &Catalog, dataset: &str, id: &str, at: i64) {
    commit(store, &publication(dataset, id, at), Retention::default()).await.unwrap();
}

/// Commits a publication whose files are declared, as a publisher does that compares again until
/// nobody is faster.
pub(crate) async fn commit(
    store: &Catalog,
    publication: &Publication,
    retention: Retention,
) -> Result<CommitOutcome, CatalogError> {
    let changed = publication.changes.iter().map(|changes| &changes.file);
    for file in std::iter::once(&publication.snapshot.file).chain(changed) {
        assert_eq!(
            store.register_upload(&ObjectKey::snapshot(&file.sha256)).await?,
            UploadRegistration::Registered
        );
    }
    loop {
        let predecessor =
            store.current_snapshot(&publication.name).await?.map(|current| current.id);
        match store
            .commit_snapshot(&Publication { predecessor, ..publication.clone() }, retention)
            .await?
        {
            CommitOutcome::Conflict => {}
            committed => return Ok(committed),
        }
    }
}

/// Registers a release whose component is declared.
pub(crate) async fn register(
    store: &Catalog,
    release: &PluginRelease,
) -> Result<bool, CatalogError> {
    assert_eq!(
        store.register_upload(&ObjectKey::component(&release.id.digest)).await?,
        UploadRegistration::Registered
    );
    store.register_release(release).await
}

/// Issues a key and says its text.
pub(crate) async fn issue_key(store: &Catalog, id: &str, plan: Plan) -> String {
    let (text, hash) = key::issue().unwrap();
    let record = KeyRecord {
        id: key_id(id),
        label: None,
        plan,
        created_at: Millis(TODAY),
        revoked_at: None,
    };
    store.insert_key(&record, &hash).await.unwrap();
    text.expose().to_owned()
}

pub(crate) fn caller(id: &str, plan: Plan) -> Caller {
    Caller::for_test(key_id(id), plan)
}

/// Waits until `holds` does, at most `patience`, and says how long it took.
pub(crate) async fn wait_until(patience: Duration, holds: impl AsyncFn() -> bool) -> Duration {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < patience, "not within {patience:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    begun.elapsed()
}

/// Ids of the snapshots of `cpi`, the oldest first; the last one is current.
pub(crate) async fn history(store: &Catalog) -> Vec<SnapshotId> {
    let datasets = store.datasets().await.unwrap();
    let dataset = datasets.iter().find(|dataset| dataset.name == name("cpi")).unwrap();
    assert_eq!(dataset.snapshots.last().unwrap().id, dataset.current.id);
    dataset.snapshots.iter().map(|summary| summary.id).collect()
}
