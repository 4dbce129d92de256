//! Chunks that take their client longer than it may leave a full buffer untouched.

use std::time::Duration;

use yearbook_domain::Plan;
use yearbook_sandbox::Limits;
use yearbook_tests::app::TestApp;

use super::http2::Http2Event;
use super::{assert_nothing_held, read_at, serve, settings, wide};

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_client_gets_chunks_that_take_it_longer_than_a_stall_contract_5() {
    let mut settings = settings();
    settings.server.write_idle_ms = 1_000;
    let limits = Limits {
        instances: 16,
        buffered_chunks: 1,
        parallel_parts: 1,
        stalled_client_ms: 1_000,
        ..Limits::default()
    };
    let app = TestApp::with_limits(settings.clone(), limits).await;
    app.publish(&wide(8_000)).await;
    let key = app.key(Plan::Enterprise).await;
    let address = serve(&app, &settings).await;
    let path = "/v1/datasets/big/data?limit=30000&format=csv";
    let whole = app.get(path).key(&key).send().await.body.len() as u64;
    // A chunk of half a mebibyte takes it two seconds, a step of the body a quarter of one.
    let slow = read_at(address, &key, 25_000, Duration::from_millis(100)).await;
    assert_eq!(slow, (whole, Http2Event::End));
    assert_nothing_held(&app, 16).await;
}
