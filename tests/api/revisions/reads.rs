//! Reads of the catalog for revisions: how many there are does not grow with versions or readers.

use std::time::Duration;

use futures::future::join_all;
use yearbook_domain::{DatasetName, Plan};
use yearbook_tests::app::TestApp;

use super::super::statements::Statements;
use super::{REVISIONS, VERSIONS, drop_all_but_the_newest, get, publish, version};

#[tokio::test]
async fn a_history_is_read_in_as_many_statements_however_long_it_is_contract_21() {
    let app = TestApp::start().await;
    for number in 0..VERSIONS.len() {
        publish(&app, number, &version(number)).await;
    }
    let name = DatasetName::parse("harvest").unwrap();
    let statements = Statements::start();
    for dropped in [false, true] {
        if dropped {
            drop_all_but_the_newest(&app).await;
        }
        // Where tests share a process, others may read meanwhile.
        let mut fewest = [usize::MAX; 2];
        for _ in 0..10 {
            for (fewest, newest) in fewest.iter_mut().zip([1, 4]) {
                let before = statements.histories();
                let known = app.store.known_history(&name, newest).await.unwrap().unwrap();
                *fewest = (*fewest).min(statements.histories() - before);
                assert_eq!(known.times.last_key_value().map(|(version, _)| *version), Some(newest));
                assert_eq!(known.times.len(), known.credits.len());
            }
        }
        assert!(fewest[0] > 0, "statements are counted");
        assert_eq!(fewest[0], fewest[1], "dropped: {dropped}");
        let known = app.store.known_history(&name, 4).await.unwrap().unwrap();
        assert_eq!(known.times, app.store.known_times(&name, 4).await.unwrap());
    }
}

#[tokio::test]
async fn requests_that_come_together_read_a_history_once_contract_21() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    for number in 0..3 {
        publish(&app, number, &version(number)).await;
    }
    assert_eq!(get(&app, &key, REVISIONS).await.status, 200);
    let statements = Statements::start();
    let mut fewest = [usize::MAX; 2];
    // Where tests share a process, others may read meanwhile.
    for _ in 0..10 {
        for (fewest, requests) in fewest.iter_mut().zip([1, 8]) {
            // A history of a moment ago is not read again.
            tokio::time::sleep(Duration::from_millis(2_100)).await;
            let before = statements.histories();
            let replies = join_all((0..requests).map(|_| get(&app, &key, REVISIONS))).await;
            *fewest = (*fewest).min(statements.histories() - before);
            assert!(replies.iter().all(|reply| reply.status == 200));
        }
        if fewest[0] == fewest[1] {
            break;
        }
    }
    assert!(fewest[0] > 0, "statements are counted");
    assert_eq!(fewest[0], fewest[1]);
}
