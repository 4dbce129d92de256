//! Hosts that follow a catalog, and releases that can be distinguished by what they write.

use std::sync::Arc;
use std::time::{Duration, Instant};

use yearbook_catalog::{Catalog, PluginRelease, ReleaseChange, ReleaseId, ReleaseState};
use yearbook_domain::{Digest, ObjectKey};
use yearbook_releases::{
    EmbeddedComponent, PluginReconciler, ReleaseMonitor, ReleaseMonitorSettings, TrustPolicy,
};
use yearbook_sandbox::{Limits, PluginRegistry};
use yearbook_tests::app::TestApp;
use yearbook_tests::components::{component, sandbox};

/// So that tests need not wait for the guard.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// contract-6-plugins-live.
pub(crate) const TWO_SECONDS: Duration = Duration::from_secs(2);

/// The component with other bytes of the same length in its code and constants. What follows an `@`
/// is a name of the interface and stays.
pub(crate) fn patched(name: &str, from: impl AsRef<[u8]>, to: impl AsRef<[u8]>) -> Vec<u8> {
    let (from, to) = (from.as_ref(), to.as_ref());
    assert_eq!(from.len(), to.len());
    let mut bytes = component(name);
    let places: Vec<usize> = (1..bytes.len() - from.len())
        .filter(|at| bytes[at - 1] != b'@' && bytes[*at..].starts_with(from))
        .collect();
    assert!(!places.is_empty(), "{name} has no {from:?}");
    places.into_iter().for_each(|at| bytes[at..at + to.len()].copy_from_slice(to));
    bytes
}

/// The built-in json, as a binary brings it.
pub(crate) fn embedded() -> Vec<EmbeddedComponent> {
    vec![EmbeddedComponent {
        name: "json".to_owned(),
        bytes: component("json"),
        by: "embedded".to_owned(),
    }]
}

/// Keeps the app's registry as its catalog says.
pub(crate) async fn start_reconciler(
    app: &TestApp,
    embedded: Vec<EmbeddedComponent>,
) -> Arc<PluginReconciler> {
    let reconciler = PluginReconciler::start(
        Arc::clone(&app.sandbox),
        app.files.clone(),
        &app.store,
        Arc::clone(&app.registry),
        Arc::clone(&app.release_monitor),
        TrustPolicy::default(),
        embedded,
    )
    .await
    .unwrap();
    app.catalog_cache.refresh().await.unwrap();
    reconciler.follow(app.catalog_cache.releases());
    app.release_monitor.follow(&app.catalog_cache, POLL_INTERVAL);
    eventually(|| app.registry.current().encoder("csv").is_none()).await;
    reconciler
}

/// A second host on the app's catalog and object store, with a sandbox of its own.
pub(crate) async fn second_host(
    app: &TestApp,
) -> (Arc<PluginReconciler>, Arc<PluginRegistry>, Arc<yearbook_catalog::CatalogCache>) {
    second_host_with(app, TrustPolicy::default()).await
}

/// As [`second_host`], on a host with settings of its own.
pub(crate) async fn second_host_with(
    app: &TestApp,
    trust: TrustPolicy,
) -> (Arc<PluginReconciler>, Arc<PluginRegistry>, Arc<yearbook_catalog::CatalogCache>) {
    let store = yearbook_catalog::open(
        &yearbook_catalog::sqlite_url(&app.folder.path().join("yearbook.db")),
        &yearbook_catalog::DatabaseSettings::default(),
    )
    .await
    .unwrap();
    let catalog_cache = yearbook_catalog::CatalogCache::start(
        Arc::clone(&store),
        yearbook_catalog::CatalogCache::POLL_INTERVAL,
    )
    .await
    .unwrap();
    let registry = Arc::new(PluginRegistry::new());
    let sandbox = sandbox(Limits { instances: 16, ..Limits::default() });
    let release_monitor = ReleaseMonitor::new(
        Arc::clone(&store),
        Arc::clone(&sandbox),
        ReleaseMonitorSettings::default(),
    )
    .unwrap();
    let reconciler = PluginReconciler::start(
        sandbox,
        app.files.clone(),
        &store,
        Arc::clone(&registry),
        Arc::clone(&release_monitor),
        trust,
        embedded(),
    )
    .await
    .unwrap();
    reconciler.follow(catalog_cache.releases());
    release_monitor.follow(&catalog_cache, POLL_INTERVAL);
    (reconciler, registry, catalog_cache)
}

/// Records a release as `plugin install` does, without its check: what swaps are tried with need
/// not be good.
pub(crate) async fn record_release(
    app: &TestApp,
    bytes: Vec<u8>,
    state: ReleaseState,
) -> ReleaseId {
    let plugin = app.sandbox.load(&bytes).unwrap();
    let id =
        ReleaseId { kind: plugin.kind(), name: plugin.name().to_owned(), digest: *plugin.digest() };
    app.store.register_upload(&ObjectKey::component(&id.digest)).await.unwrap();
    assert_eq!(app.files.put_component(bytes.into()).await.unwrap(), id.digest);
    let release = PluginRelease {
        id: id.clone(),
        version: plugin.version().to_owned(),
        bytes: plugin.bytes(),
        by: "tests".to_owned(),
        installed_at: yearbook_catalog::clock::now(),
        built_in: false,
        state,
        promotion: 0,
        pinned: false,
        reason: None,
        until: None,
        quarantines: 0,
        origin: None,
    };
    assert!(app.store.register_release(&release).await.unwrap());
    id
}

/// Moves a release; the app's catalog in memory knows of it when this returns.
pub(crate) async fn set_state(app: &TestApp, id: &ReleaseId, to: ReleaseState) {
    let change = ReleaseChange {
        id: id.clone(),
        to,
        by: "tests".to_owned(),
        at: yearbook_catalog::clock::now(),
        reason: None,
    };
    assert_eq!(
        app.store.change_release(&change).await.unwrap(),
        yearbook_catalog::ChangeOutcome::Done
    );
    app.catalog_cache.refresh().await.unwrap();
}

/// The digest of the encoder that serves a format.
pub(crate) fn serving(registry: &PluginRegistry, format: &str) -> Option<Digest> {
    registry.current().encoder(format).map(|encoder| *encoder.digest())
}

/// Waits until `holds` does; within two seconds, whatever the machine does besides, times ten.
#[track_caller]
pub(crate) fn eventually(mut holds: impl FnMut() -> bool) -> impl Future<Output = Duration> {
    let caller = std::panic::Location::caller();
    async move {
        let begun = Instant::now();
        while !holds() {
            assert!(
                begun.elapsed() < 10 * TWO_SECONDS,
                "not within {:?}: {caller}",
                10 * TWO_SECONDS
            );
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        begun.elapsed()
    }
}

pub(crate) async fn states(store: &Catalog, name: &str) -> Vec<(Digest, ReleaseState)> {
    let releases =
        store.releases().await.unwrap().into_iter().filter(|release| release.id.name == name);
    releases.map(|release| (release.id.digest, release.state)).collect()
}
