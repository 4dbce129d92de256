//! Pages of revisions at several hosts, which read the catalog at different times.

use std::time::Duration;

use yearbook_domain::Plan;
use yearbook_releases::ReleaseMonitorSettings;
use yearbook_tests::app::{HostFixture, TestApp};

use super::{REVISIONS, VERSIONS, get, publish, version};

#[tokio::test]
async fn pages_go_on_at_a_host_that_has_not_read_their_newest_version_contract_21() {
    // Neither reads the catalog by itself.
    let fixture = HostFixture { poll_interval: Duration::from_hours(1), ..HostFixture::default() };
    let app = TestApp::on_fixture(&fixture).await;
    let key = app.key(Plan::Enterprise).await;
    publish(&app, 0, &version(0)).await;
    let other = app.second_host(ReleaseMonitorSettings::default()).await;
    for number in 1..VERSIONS.len() {
        let id = publish(&app, number, &version(number)).await;
        let whole = get(&app, &key, &format!("{REVISIONS}?limit=0")).await.json();
        let first = get(&app, &key, &format!("{REVISIONS}?limit=1")).await;
        let path = format!("{REVISIONS}?limit=0&cursor={}", first.header("x-next-page"));
        let rest = get(&other, &key, &path).await;
        assert_eq!(rest.status, 200, "{}", rest.text());
        assert_eq!(rest.header("x-service-snapshot-id"), id);
        assert_eq!(rest.json().as_array().unwrap()[..], whole.as_array().unwrap()[1..]);
    }
}
