//! Work of a reader is put down to its caller, wherever it is polled.

use std::time::{Duration, Instant};

use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use yearbook_shares::{CallerRegistry, SharePercent};

use super::super::*;
use super::fixture::{FixtureOptions, StoredFixture, plan, read};

/// Returns whether a caller has used processor time, as soon as that is counted.
async fn is_charged(caller: &CallerShare) -> bool {
    for _ in 0..200 {
        let recent = caller.recent_processor_time(Instant::now());
        if recent.is_some_and(|spent| !spent.is_zero()) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

#[tokio::test]
async fn reading_and_searching_are_on_the_account_of_their_caller() {
    let options = FixtureOptions { group: 10_000, page: 500, ..FixtureOptions::rows(30_000) };
    let stored = StoredFixture::new(&options).await;
    let callers = CallerRegistry::new(SharePercent { key: 25, address: 50 }, 1);
    let folder = stored.folder.path().join("store");
    let whole = plan(&stored.snapshot);
    let searched = ReadPlan { search_text: Some("kk".to_owned()), ..whole.clone() };
    let first = ReadPlan { max_rows: Some(100), ..whole.clone() };
    for (case, plan) in [whole, searched, first].into_iter().enumerate() {
        for is_local in [true, false] {
            let remote = LocalFileSystem::new_with_prefix(&folder).unwrap();
            let remote: Arc<dyn ObjectStore> = Arc::new(remote);
            let reader = stored.afresh((!is_local).then_some(remote));
            // What the footer takes is not what is looked for here.
            reader.row_groups(&stored.snapshot).await.unwrap();
            let name = format!("{case} {is_local}");
            let [key, other] = [name.as_str(), "other"].map(|key| callers.holder(Some(key), None));
            read(&reader.for_caller(&key), &plan).await.unwrap();
            assert!(is_charged(&key).await, "case {case}, local: {is_local}");
            assert_eq!(other.recent_processor_time(Instant::now()), Some(Duration::ZERO));
        }
    }
}
