//! Liveness and readiness (spec-4-health, spec-4-readiness).

use yearbook_tests::app::TestApp;

#[tokio::test]
async fn readiness_is_looked_at_once_a_minute_spec_8() {
    let app = TestApp::start().await;
    let first = app.get("/health/full").send().await;
    assert_eq!((first.status.as_u16(), &first.json()["status"]), (200, &"ok".into()));
    app.store.close().await;
    let second = app.get("/health/full").send().await;
    assert_eq!(second.body, first.body, "the report holds for 60 s");
    assert_eq!(app.get("/health").send().await.status, 200);
}

#[tokio::test]
async fn without_its_database_the_service_is_unavailable_contract_4() {
    let app = TestApp::start().await;
    app.store.close().await;
    let report = app.get("/health/full").send().await;
    assert_eq!((report.status.as_u16(), report.header("retry-after")), (503, "60".to_owned()));
    assert_eq!(
        (&report.json()["status"], &report.json()["checks"]["database"]["status"]),
        (&"unavailable".into(), &"unavailable".into())
    );
    assert_eq!(report.json()["checks"]["object_storage"]["status"], "ok");
    assert_eq!(
        app.get("/health").send().await.text(),
        "{\"status\":\"ok\"}",
        "liveness asks nobody"
    );
}
