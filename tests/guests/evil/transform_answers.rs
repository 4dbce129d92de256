//! Transforms that fail, as clients and operators see it: statuses and codes, the release that is
//! blamed, what is kept for a minute, dumps, and answers to others.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use yearbook_catalog::{PluginRelease, ReleaseId, ReleaseState};
use yearbook_domain::{ObjectKey, Plan};
use yearbook_releases::ReleaseMonitorSettings;
use yearbook_sandbox::{Plugin, PluginMetricsSnapshot};
use yearbook_tests::app::{HostFixture, TestApp, harvest, unbounded};

use crate::attack_arena::{AttackArena, panics, sandbox_limits};
use crate::guest::TransformGuest;
use crate::list::limits;
use crate::list::transforms::{ChainEnd, TransformAttack, transform_attacks};
use crate::neighbour::{self, Neighbour};
use crate::{exclusive, wire};

/// Attacks of which nothing comes at rows of `harvest`: it has a column, a region and rows more
/// than the list's table, its dates have known values, all of its rows are one batch, and a page
/// ends before a result without end does.
const HARMLESS: [&str; 8] = [
    "t_groups_outside",
    "t_passed_outside",
    "t_take_outside",
    "t_groups_not_given",
    "t_needs_unknown_codes",
    "t_spins_late",
    "t_finish_endless",
    "t_finish_endless_small",
];

/// Status and code of the answer to an attack on rows of `harvest`.
fn answer(attack: &TransformAttack) -> (u16, &'static str) {
    let name = attack.name.as_str();
    match &attack.ends {
        _ if HARMLESS.contains(&name) => (200, ""),
        ChainEnd::Rows(..) => (200, ""),
        ChainEnd::Rejected(_) => (422, "invalid_parameters"),
        ChainEnd::Failed(_) => match name {
            "t_sentence_schema" | "t_sentence_option" | "t_sentence_rows" | "t_needs_codes" => {
                (422, "invalid_parameters")
            }
            "t_sentence_large" => (413, "answer_too_large"),
            _ => (500, "internal"),
        },
    }
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::await_holding_lock, reason = "each test has a runtime of its own")]
async fn every_attack_of_a_transform_has_its_answer_and_no_neighbour_notices_contract_16() {
    let _alone = exclusive();
    let arena = Box::pin(AttackArena::open()).await;
    let neighbour = Neighbour::start(arena.address, &arena.key).await;
    let (mut wrong, mut runaways) = (Vec::new(), Vec::new());
    for attack in transform_attacks() {
        if let Ok(transform) = arena.app.sandbox.load(&attack.component()) {
            arena.app.registry.add(&transform).unwrap();
        }
        let path = format!("/v1/datasets/harvest/data?apply={}&format=csv", attack.name);
        let begun = Instant::now();
        let reply = wire::get(arena.address, &path, &arena.key).await;
        if attack.name.contains("spin") {
            runaways.push(begun.elapsed());
        }
        let (status, code) = answer(&attack);
        let shown = format!("x-service-error-code: {code}");
        let is_coded = code.is_empty() || reply.head.to_ascii_lowercase().contains(&shown);
        if reply.status != status || !is_coded || (status == 200 && !reply.whole) {
            wrong.push(format!("{}: {} {}", attack.name, reply.head, reply.text()));
        }
        arena.wait_until_freed(&attack.name).await;
    }
    let comparison = neighbour.stop().await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    comparison.is_fair(neighbour::median(runaways));
    assert_eq!(panics(), 0, "a thread panicked");
    arena.close().await;
}

/// A service whose transforms fail, with a folder of dumps.
async fn failing(guests: &[TransformGuest]) -> (TestApp, Vec<ReleaseId>) {
    let fixture = HostFixture::default();
    let dumps = fixture.folder.path().join("dumps");
    let fixture = HostFixture { dumps: Some(dumps), ..fixture };
    let mut settings = unbounded();
    settings.server.response_cache_bytes = 0;
    let monitor = ReleaseMonitorSettings::default();
    let app = Box::pin(TestApp::with_all(fixture, settings, sandbox_limits(), monitor)).await;
    for name in ["harvest", "second", "third"] {
        app.publish(&harvest().named(name)).await;
    }
    let mut releases = Vec::new();
    for guest in guests {
        let plugin = app.sandbox.load(&guest.build()).unwrap();
        app.registry.add(&plugin).unwrap();
        releases.push(record(&app, &plugin).await);
    }
    let csv = Plugin::Encoder(app.registry.current().encoder("csv").unwrap().clone());
    releases.push(record(&app, &csv).await);
    app.catalog_cache.refresh().await.unwrap();
    app.release_monitor.follow(&app.catalog_cache, Duration::from_millis(50));
    (app, releases)
}

/// Records a release as one that serves.
async fn record(app: &TestApp, plugin: &Plugin) -> ReleaseId {
    let id =
        ReleaseId { kind: plugin.kind(), name: plugin.name().to_owned(), digest: *plugin.digest() };
    let release = PluginRelease {
        id: id.clone(),
        version: plugin.version().to_owned(),
        bytes: plugin.bytes(),
        by: "tests".to_owned(),
        installed_at: yearbook_catalog::clock::now(),
        built_in: false,
        state: ReleaseState::Promoted,
        promotion: 0,
        pinned: false,
        reason: None,
        until: None,
        quarantines: 0,
        origin: None,
    };
    app.store.register_upload(&ObjectKey::component(&id.digest)).await.unwrap();
    assert!(app.store.register_release(&release).await.unwrap());
    id
}

fn counts(app: &TestApp, name: &str) -> PluginMetricsSnapshot {
    app.registry.current().transform(name).unwrap().metrics().counts()
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::await_holding_lock, reason = "each test has a runtime of its own")]
async fn a_failure_of_a_transform_is_its_own_and_kept_and_leaves_a_dump_contract_16() {
    let _alone = exclusive();
    let guest = |name: &str, push: &str| TransformGuest::named(name).does("push", push);
    let broken = TransformGuest::named("t_rule").with(|guest| guest.made.rows = 0);
    let guests = [
        guest("t_trap", "(unreachable)"),
        guest("t_deadline", "(call $spin)"),
        guest("t_memory", "(call $grow (i32.const 16))"),
        broken,
    ];
    let (app, releases) = Box::pin(failing(&guests)).await;
    let (key, other) = (app.key(Plan::Enterprise).await, app.key(Plan::Enterprise).await);
    let stored = async || app.get("/v1/datasets/harvest/data?format=csv").key(&key).send().await;
    let expected = stored().await.body;
    for guest in &guests {
        let path = |name: &str| format!("/v1/datasets/{name}/data?format=csv&apply={}", guest.name);
        let outcome = (500, "internal".to_owned());
        for (dataset, key) in [("harvest", &key), ("second", &other), ("third", &key)] {
            assert_eq!(app.get(&path(dataset)).key(key).send().await.outcome(), outcome);
            assert_eq!(stored().await.body, expected, "a neighbour notices");
        }
        let begun = counts(&app, &guest.name).begun;
        for key in [&key, &other] {
            // A plugin is pure: the same input would fail again.
            assert_eq!(app.get(&path("harvest")).key(key).send().await.outcome(), outcome);
        }
        assert_eq!(counts(&app, &guest.name).begun, begun, "{}", guest.name);
        let one = app.get(&format!("{}&limit=1", path("harvest"))).key(&key).send().await;
        assert_eq!(one.outcome(), outcome);
        assert!(counts(&app, &guest.name).begun > begun, "another request is tried");
        assert_eq!(app.free_instances(), limits::INSTANCES as usize);
    }
    let begun = Instant::now();
    let states = async || {
        let all = app.store.releases().await.unwrap();
        let state = |id: &ReleaseId| all.iter().find(|release| release.id == *id).unwrap().state;
        releases.iter().map(state).collect::<Vec<_>>()
    };
    let mut blamed = vec![ReleaseState::Quarantined; guests.len()];
    blamed.push(ReleaseState::Promoted);
    while states().await != blamed {
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", states().await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let encoder = app.registry.current().encoder("csv").unwrap().metrics().counts();
    assert_eq!(encoder.failures(), 0);
    let dumps = std::fs::read_dir(app.folder.path().join("dumps")).unwrap();
    let dumped: HashSet<String> = dumps
        .map(|file| yearbook_releases::read_dump(&file.unwrap().path()).unwrap())
        .map(|dump| dump.about.failure.kind.clone())
        .collect();
    let kinds = ["wasm", "cpu", "memory", "bad_output"].map(str::to_owned);
    assert_eq!(dumped, HashSet::from(kinds));
}
