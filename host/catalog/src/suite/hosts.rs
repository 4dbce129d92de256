//! Rules about hosts that say that they serve.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_domain::Millis;

use super::TestDatabase;
use super::fixtures::{DAY, TODAY};
use crate::{Catalog, HostRecord};

fn host(id: &str, name: &str, at: i64) -> HostRecord {
    HostRecord {
        id: id.to_owned(),
        name: name.to_owned(),
        release: "0.1.0".to_owned(),
        migration: Catalog::newest_migration(),
        seen_at: Millis(at),
        clock: Some((-1_999, 3)),
    }
}

pub(crate) async fn hosts_are_listed_until_they_stop_or_are_silent_contract_21(
    place: TestDatabase,
) {
    let (here, there) = (place.host().await, place.host().await);
    assert!(Catalog::newest_migration() >= 7);
    let (a, b) = (host("host_a", "beta", TODAY), host("host_b", "alpha", TODAY + 5));
    here.note_host(&a).await.unwrap();
    there.note_host(&b).await.unwrap();
    assert_eq!(here.hosts(Millis(TODAY)).await.unwrap(), [b.clone(), a.clone()]);
    let silent = HostRecord { seen_at: Millis(TODAY + 10), clock: None, ..a };
    here.note_host(&silent).await.unwrap();
    let seen = there.hosts(Millis(TODAY + 6)).await.unwrap();
    assert_eq!(seen, std::slice::from_ref(&silent));
    there.forget_host(&b.id).await.unwrap();
    assert_eq!(here.hosts(Millis(0)).await.unwrap(), [silent]);
    // Who was killed is forgotten after a day.
    let later = host("host_c", "gamma", TODAY + 2 * DAY);
    there.note_host(&later).await.unwrap();
    assert_eq!(here.hosts(Millis(0)).await.unwrap(), [later]);
}
