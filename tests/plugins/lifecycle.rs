//! A release from its file to what hosts serve, and back: the platform's functions on a real
//! catalog, object store and sandbox.

use std::time::Instant;

use yearbook_catalog::{PluginRelease, ReleaseId, ReleaseState};
use yearbook_domain::{Plan, PluginKind};
use yearbook_releases::{
    ComponentFile, InstallOptions, InstalledRelease, ReleaseError, TrustPolicy, install, pin,
    remove, rollback,
};
use yearbook_tests::app::{TestApp, harvest};
use yearbook_tests::components::component;

use super::test_hosts::{
    TWO_SECONDS, embedded, eventually, patched, record_release, second_host, serving, set_state,
    start_reconciler, states,
};

async fn installed(
    app: &TestApp,
    bytes: Vec<u8>,
    now: bool,
) -> Result<InstalledRelease, ReleaseError> {
    let component = ComponentFile::read(bytes, 32 << 20).unwrap();
    let wish =
        InstallOptions { now, by: "ann".to_owned(), reason: None, signature: None, origin: None };
    install(&app.store, &app.files, &app.sandbox, &TrustPolicy::default(), component, wish).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_installed_format_is_served_by_every_running_host_within_2_s_contract_6() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let _reconciler = start_reconciler(&app, embedded()).await;
    let (_other, registry, _live) = second_host(&app).await;
    eventually(|| serving(&registry, "json").is_some()).await;
    let unknown = app.get("/v1/datasets/harvest/data?format=csv").key(&key).send().await;
    assert_eq!(unknown.problems()[0].1, "literal_error");

    let csv = installed(&app, component("csv"), false).await.unwrap();
    let begun = Instant::now();
    assert_eq!(
        (csv.state, csv.before),
        (ReleaseState::Promoted, None),
        "there is nobody to protect from it"
    );
    eventually(|| serving(&registry, "csv").is_some() && serving(&app.registry, "csv").is_some())
        .await;
    assert!(begun.elapsed() < TWO_SECONDS, "{:?}", begun.elapsed());
    assert!(
        app.get("/v1/datasets/harvest/data?format=csv")
            .key(&key)
            .send()
            .await
            .text()
            .starts_with("date,")
    );

    // The next one waits, until somebody wants it now; the same again changes nothing.
    let newer = patched("csv", "0.1.0", "0.2.0");
    let waits = installed(&app, newer.clone(), false).await.unwrap();
    assert_eq!(
        (waits.state, waits.version.as_str(), waits.before.as_ref()),
        (ReleaseState::Installed, "0.2.0", Some(&csv.id))
    );
    let events = app.store.release_events().await.unwrap().len();
    assert!(installed(&app, newer.clone(), false).await.unwrap().unchanged);
    assert_eq!(app.store.release_events().await.unwrap().len(), events);
    assert_eq!(serving(&app.registry, "csv").unwrap(), csv.id.digest);
    let now = installed(&app, newer, true).await.unwrap();
    assert_eq!(now.state, ReleaseState::Promoted);
    eventually(|| serving(&registry, "csv").as_ref() == Some(&now.id.digest)).await;
    eventually(|| serving(&app.registry, "csv").as_ref() == Some(&now.id.digest)).await;

    let events = app.store.release_events().await.unwrap();
    let actions: Vec<_> = events
        .iter()
        .filter(|event| event.id.name == "csv")
        .map(|event| (event.what.as_str(), event.by.as_str()))
        .collect();
    assert_eq!(actions, [("promoted", "ann"), ("installed", "ann"), ("promoted", "ann")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_format_is_not_called_like_a_known_transform_contract_15() {
    let app = TestApp::start().await;
    let growth = installed(&app, component("growth"), true).await.unwrap().id;
    let other = ReleaseId { kind: PluginKind::Transform, name: "csv".to_owned(), ..growth };
    let known = app.store.releases().await.unwrap().remove(0);
    let known = PluginRelease { id: other.clone(), ..known };
    assert!(app.store.register_release(&known).await.unwrap());
    let refused = installed(&app, component("csv"), true).await.unwrap_err();
    assert!(matches!(
        &refused,
        ReleaseError::NameTaken { name, kind: PluginKind::Transform } if name == "csv"
    ));
    set_state(&app, &other, ReleaseState::Removed).await;
    let csv = installed(&app, component("csv"), true).await.unwrap();
    assert_eq!(csv.state, ReleaseState::Promoted, "what was removed has no name");
}

#[tokio::test(flavor = "multi_thread")]
async fn rollback_returns_to_the_release_before_and_in_the_end_to_what_is_built_in() {
    let app = TestApp::start().await;
    let _reconciler = start_reconciler(&app, embedded()).await;
    let built_in = serving(&app.registry, "json").unwrap();
    let one = installed(&app, patched("json", "0.1.0", "0.1.1"), true).await.unwrap().id.digest;
    let two = installed(&app, patched("json", "0.1.0", "0.1.2"), true).await.unwrap().id.digest;
    eventually(|| serving(&app.registry, "json").as_ref() == Some(&two)).await;
    for expected in [&one, &built_in] {
        let outcome = rollback(&app.store, "json", "ann", None).await.unwrap();
        assert_eq!(outcome.serving[0].1.as_ref().map(|release| &release.id.digest), Some(expected));
        eventually(|| serving(&app.registry, "json").as_ref() == Some(expected)).await;
    }
    let nothing = rollback(&app.store, "json", "ann", None).await.unwrap_err().to_string();
    assert!(nothing.contains("no other promoted release"), "{nothing}");
    assert!(matches!(
        rollback(&app.store, "xlsx", "ann", None).await,
        Err(ReleaseError::NoSuchPlugin(_))
    ));

    // A pin outlasts promotions, and guards against rolling back.
    pin(&app.store, "json", Some(&one.as_str()[..10]), "ann").await.unwrap();
    installed(&app, patched("json", "0.1.0", "0.1.3"), true).await.unwrap();
    eventually(|| serving(&app.registry, "json").as_ref() == Some(&one)).await;
    assert!(
        rollback(&app.store, "json", "ann", None).await.unwrap_err().to_string().contains("--off")
    );
    assert!(matches!(
        pin(&app.store, "json", Some(""), "ann").await,
        Err(ReleaseError::Digest { found: 4, .. })
    ));
    pin(&app.store, "json", None, "ann").await.unwrap();
    assert!(pin(&app.store, "json", None, "ann").await.is_err());

    let removed = remove(&app.store, "json", "ann", Some("tired of it".to_owned())).await.unwrap();
    assert_eq!(removed.changed.len(), 3);
    eventually(|| serving(&app.registry, "json").as_ref() == Some(&built_in)).await;
    assert!(
        remove(&app.store, "json", "ann", None).await.unwrap_err().to_string().contains("built in")
    );
    assert_eq!(
        states(&app.store, "json")
            .await
            .iter()
            .filter(|(_, state)| *state == ReleaseState::Removed)
            .count(),
        3
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transform_without_a_healthy_release_is_503_contract_16() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Free).await;
    let _reconciler = start_reconciler(&app, embedded()).await;
    let growth = record_release(&app, component("growth"), ReleaseState::Promoted).await;
    let is_loaded = || app.registry.current().transform("growth").is_some();
    eventually(is_loaded).await;
    set_state(&app, &growth, ReleaseState::Quarantined).await;
    eventually(|| !is_loaded()).await;
    for apply in ["growth", "growth@9.9.9"] {
        let path = format!("/v1/datasets/harvest/data?apply={apply}&growth.periods=2");
        let reply = app.get(&path).key(&key).send().await;
        assert_eq!(reply.outcome(), (503, "transform_unavailable".to_owned()), "{apply}");
        assert!(reply.text().contains("'growth' is out of service"), "{}", reply.text());
        assert!(!reply.header("retry-after").is_empty());
    }
    assert_eq!(app.get("/v1/me").key(&key).send().await.json()["requests"]["used"], 0);
    set_state(&app, &growth, ReleaseState::Removed).await;
    eventually(|| !app.registry.current().is_unavailable_transform("growth")).await;
    let reply = app.get("/v1/datasets/harvest/data?apply=growth").key(&key).send().await;
    assert_eq!(reply.status.as_u16(), 422, "removed, it is unknown");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_format_without_a_healthy_release_is_503_with_what_to_do() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Free).await;
    let _reconciler = start_reconciler(&app, embedded()).await;
    let csv = record_release(&app, component("csv"), ReleaseState::Promoted).await;
    eventually(|| serving(&app.registry, "csv").is_some()).await;
    set_state(&app, &csv, ReleaseState::Quarantined).await;
    eventually(|| serving(&app.registry, "csv").is_none()).await;
    let path = "/v1/datasets/harvest/data?format=csv";
    let reply = app.get(path).key(&key).send().await;
    assert_eq!(reply.outcome(), (503, "format_unavailable".to_owned()));
    assert!(
        reply.text().contains("'csv' is out of service") && reply.text().contains("json"),
        "{}",
        reply.text()
    );
    assert!(!reply.header("retry-after").is_empty());
    assert_eq!(
        app.get("/v1/me").key(&key).send().await.json()["requests"]["used"],
        0,
        "and costs nothing"
    );
    // Removed, it is a format that nobody knows.
    remove(&app.store, "csv", "ann", None).await.unwrap();
    app.catalog_cache.refresh().await.unwrap();
    eventually(|| !app.registry.current().is_unavailable("csv")).await;
    assert_eq!(app.get(path).key(&key).send().await.problems()[0].1, "literal_error");
    let again = installed(&app, component("csv"), false).await.unwrap();
    assert_eq!(
        (again.state, again.before),
        (ReleaseState::Promoted, None),
        "what was removed can be installed again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_adapter_without_a_healthy_release_is_503_contract_17() {
    let app = TestApp::start().await;
    let _reconciler = start_reconciler(&app, embedded()).await;
    let scripted = record_release(&app, component("scripted"), ReleaseState::Promoted).await;
    let is_loaded = || app.registry.current().adapter("scripted").is_some();
    eventually(is_loaded).await;
    let path = "/api/scripted/request";
    assert_eq!(app.get(path).send().await.status, 200);
    set_state(&app, &scripted, ReleaseState::Quarantined).await;
    eventually(|| !is_loaded()).await;
    for method in ["GET", "POST", "PUT"] {
        let reply = app.ask(method, path).send().await;
        assert_eq!(reply.outcome(), (503, "adapter_unavailable".to_owned()), "{method}");
        assert!(reply.text().contains("'scripted' is out of service"), "{}", reply.text());
    }
    // Removed, it is an API that nobody knows.
    remove(&app.store, "scripted", "ann", None).await.unwrap();
    app.catalog_cache.refresh().await.unwrap();
    eventually(|| !app.registry.current().is_unavailable_adapter("scripted")).await;
    assert_eq!(app.get(path).send().await.outcome(), (404, "no_such_adapter".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_whose_bytes_do_not_have_its_digest_is_refused_and_the_one_before_serves() {
    let app = TestApp::start().await;
    let _reconciler = start_reconciler(&app, embedded()).await;
    let built_in = serving(&app.registry, "json").unwrap();
    let newer = patched("json", "0.1.0", "0.1.4");
    let id = record_release(&app, newer.clone(), ReleaseState::Installed).await;
    let path = app.folder.path().join("objects/plugins").join(format!("{}.wasm", id.digest));
    // As long as what was installed, and another plugin.
    std::fs::write(&path, patched("json", "0.1.0", "6.6.6")).unwrap();
    set_state(&app, &id, ReleaseState::Promoted).await;
    let (_other, registry, _live) = second_host(&app).await;
    eventually(|| serving(&registry, "json").is_some()).await;
    assert_eq!(serving(&registry, "json").unwrap(), built_in);
    assert_eq!(serving(&app.registry, "json").unwrap(), built_in);
    // Repaired, it is taken without another word: the store is asked again.
    std::fs::write(&path, newer).unwrap();
    eventually(|| serving(&registry, "json").as_ref() == Some(&id.digest)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_pass_its_check_leaves_no_trace() {
    let app = TestApp::start().await;
    let before = (app.store.revision().await.unwrap(), app.store.releases().await.unwrap());
    let Err(ReleaseError::CheckFailed(report)) =
        installed(&app, component("evil-generator"), true).await
    else {
        panic!("not refused")
    };
    assert!(!report.passed());
    assert_eq!((app.store.revision().await.unwrap(), app.store.releases().await.unwrap()), before);
    assert!(!app.folder.path().join("objects/plugins").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_starts_later_serves_what_was_installed_before_it_came() {
    let app = TestApp::start().await;
    let csv = installed(&app, component("csv"), true).await.unwrap().id.digest;
    let (_other, registry, catalog_cache) = second_host(&app).await;
    eventually(|| serving(&registry, "csv").as_ref() == Some(&csv)).await;
    eventually(|| serving(&registry, "json").is_some()).await;
    drop(catalog_cache);
}
