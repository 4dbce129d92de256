//! Rules about addresses that are told of new versions.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_domain::Millis;

use super::TestDatabase;
use super::accounts::{link, new_key, queue};
use super::changes::following;
use super::fixtures::{DAY, HOUR, TODAY, commit, name, publish};
use crate::{
    AccountChange, AccountOutcome, AfterFailure, Catalog, DueWebhook, NewWebhook, QueueOutcome,
    Retention, SignupBounds, WEBHOOKS_OF_AN_ACCOUNT,
};

const LATER: Millis = Millis(TODAY + 10 * DAY);

fn webhook(id: &str, dataset: Option<&str>) -> NewWebhook {
    NewWebhook {
        id: id.to_owned(),
        url: format!("https://example.org/{id}"),
        dataset: dataset.map(name),
        created_at: Millis(TODAY),
    }
}

/// Returns what is due at `now`, of entries that are visible then.
async fn due(store: &Catalog, now: Millis) -> Vec<DueWebhook> {
    store.due_webhooks(now, now, 100).await.unwrap()
}

fn names(due: &[DueWebhook]) -> Vec<(&str, u64)> {
    due.iter().map(|one| (one.id.as_str(), one.entry)).collect()
}

pub(crate) async fn an_address_is_told_of_what_is_published_after_it_in_order_contract_21(
    place: TestDatabase,
) {
    let store = place.host().await;
    publish(&store, "cpi", "a", TODAY).await;
    store.add_webhook(&webhook("all", None)).await.unwrap();
    store.add_webhook(&webhook("of_cpi", Some("cpi"))).await.unwrap();
    store.add_webhook(&webhook("of_none", Some("none"))).await.unwrap();
    assert_eq!(due(&store, LATER).await, [], "what was there before is not told");
    publish(&store, "gdp", "x", TODAY + 60_000).await;
    commit(&store, &following("a", "b", TODAY + 120_000), Retention::default()).await.unwrap();
    assert_eq!(due(&store, Millis(TODAY)).await, [], "not every host serves it yet");
    let found = due(&store, LATER).await;
    assert_eq!(names(&found), [("all", 1), ("of_cpi", 2)]);
    assert_eq!(store.due_webhooks(LATER, LATER, 1).await.unwrap(), found[..1]);
    for one in &found {
        store.webhook_delivered(one).await.unwrap();
    }
    // Told twice, it is told once.
    store.webhook_delivered(&found[0]).await.unwrap();
    let next = due(&store, LATER).await;
    assert_eq!(names(&next), [("all", 2)]);
    let facts = store.webhook_facts(2).await.unwrap();
    let revision = facts.largest_revision.unwrap();
    assert_eq!((facts.entry.version, facts.changes.unwrap().deleted), (1, 2));
    assert_eq!((revision.column.as_str(), revision.key.len()), ("value", 1));
    let first = store.webhook_facts(1).await.unwrap();
    assert_eq!((first.rows.is_some(), first.changes, first.largest_revision), (true, None, None));
    store.webhook_delivered(&next[0]).await.unwrap();
    assert_eq!(due(&store, LATER).await, []);
    assert!(store.remove_webhook("all").await.unwrap());
    assert!(!store.remove_webhook("all").await.unwrap());
    assert_eq!(store.webhooks().await.unwrap().len(), 2);
}

pub(crate) async fn of_several_hosts_one_attempts_a_message_contract_21(place: TestDatabase) {
    let (here, there) = (place.host().await, place.host().await);
    here.add_webhook(&webhook("all", None)).await.unwrap();
    publish(&here, "cpi", "a", TODAY).await;
    let (left, right) = (due(&here, LATER).await, due(&there, LATER).await);
    assert_eq!(left, right);
    let lease = Millis(LATER.0 + 1_000);
    assert!(here.claim_webhook(&left[0], lease).await.unwrap());
    assert!(!there.claim_webhook(&right[0], lease).await.unwrap());
    assert_eq!(due(&there, LATER).await, []);
    // A host that is killed leaves it to the others.
    let again = due(&there, lease).await;
    assert_eq!(names(&again), [("all", 0)]);
    assert!(there.claim_webhook(&again[0], Millis(lease.0 + 1_000)).await.unwrap());
    there.webhook_delivered(&again[0]).await.unwrap();
    // The one that was thought to be killed is late, and takes nothing back.
    here.webhook_failed(&left[0], "late", AfterFailure::End(lease)).await.unwrap();
    let records = here.webhooks().await.unwrap();
    assert_eq!((records[0].attempts, records[0].ended_at), (0, None));
    publish(&here, "cpi", "b", TODAY + HOUR).await;
    assert_eq!(names(&due(&here, LATER).await), [("all", 1)]);
}

pub(crate) async fn what_failed_waits_and_ends_alone_contract_21(place: TestDatabase) {
    let store = place.host().await;
    for id in ["a", "b"] {
        store.add_webhook(&webhook(id, None)).await.unwrap();
    }
    publish(&store, "cpi", "a", TODAY).await;
    let found = due(&store, LATER).await;
    let again = Millis(LATER.0 + 5_000);
    store.webhook_failed(&found[0], "status 500", AfterFailure::Retry(again)).await.unwrap();
    assert_eq!(names(&due(&store, LATER).await), [("b", 0)]);
    // Those that answered last time come first.
    let later = due(&store, again).await;
    assert_eq!(names(&later), [("b", 0), ("a", 0)]);
    assert_eq!(later[1].attempts, 1);
    let records = store.webhooks().await.unwrap();
    assert_eq!(records[0].last_failure.as_deref(), Some("status 500"));
    store.webhook_delivered(&later[1]).await.unwrap();
    let records = store.webhooks().await.unwrap();
    assert_eq!((records[0].attempts, &records[0].last_failure), (0, &None));
    store.webhook_failed(&later[0], "status 410", AfterFailure::End(again)).await.unwrap();
    assert_eq!(due(&store, Millis(again.0 + 100 * DAY)).await, []);
    assert_eq!(store.webhooks().await.unwrap()[1].ended_at, Some(again));
}

pub(crate) async fn neither_versions_nor_attempts_of_the_future_silence_an_address_contract_6(
    place: TestDatabase,
) {
    let store = place.host().await;
    store.add_webhook(&webhook("all", None)).await.unwrap();
    let now = Millis(TODAY);
    let future = Millis(TODAY + 365 * DAY);
    publish(&store, "cpi", "a", future.0).await;
    publish(&store, "gdp", "a", TODAY - HOUR).await;
    let first = due(&store, now).await;
    assert_eq!(names(&first), [("all", 0)]);
    // A host whose clock is ahead claims it and is killed.
    assert!(store.claim_webhook(&first[0], future).await.unwrap());
    let again = due(&store, now).await;
    assert_eq!(names(&again), [("all", 0)]);
    let lease = Millis(TODAY + 30_000);
    assert!(store.claim_webhook(&again[0], lease).await.unwrap());
    assert_eq!(due(&store, now).await, [], "leased");
    store.webhook_delivered(&again[0]).await.unwrap();
    let next = due(&store, now).await;
    assert_eq!(names(&next), [("all", 1)]);
    // The longest pause is one.
    let longest = Millis(TODAY + 26 * HOUR);
    store.webhook_failed(&next[0], "status 500", AfterFailure::Retry(longest)).await.unwrap();
    assert_eq!(due(&store, now).await, []);
    store.webhook_failed(&next[0], "status 500", AfterFailure::Retry(future)).await.unwrap();
    assert_eq!(names(&due(&store, now).await), [("all", 1)]);
}

const NO_BOUNDS: SignupBounds =
    SignupBounds { per_address: u32::MAX, per_network: u32::MAX, in_all: u32::MAX };

/// Changes the account of `address` by a link with this number.
async fn change(
    store: &Catalog,
    number: u32,
    address: u8,
    change: &AccountChange,
) -> AccountOutcome {
    let link = link(number, address, 0, TODAY);
    assert_eq!(queue(store, &link, NO_BOUNDS).await, QueueOutcome::Queued);
    store.change_account(&link.hash, change, Millis(TODAY)).await.unwrap()
}

pub(crate) async fn an_address_goes_with_its_account_contract_21(place: TestDatabase) {
    let store = place.host().await;
    for address in [1, 2] {
        let opened = AccountChange::Open(new_key(TODAY).1);
        let number = u32::from(address);
        assert_eq!(change(&store, number, address, &opened).await, AccountOutcome::Done);
    }
    for number in 0..WEBHOOKS_OF_AN_ACCOUNT {
        let added = AccountChange::AddWebhook(webhook(&format!("hook_{number}"), None));
        let number = 10 + u32::try_from(number).unwrap();
        assert_eq!(change(&store, number, 1, &added).await, AccountOutcome::Done);
    }
    let added = AccountChange::AddWebhook(webhook("hook_more", None));
    assert_eq!(change(&store, 20, 1, &added).await, AccountOutcome::TooManyWebhooks);
    assert_eq!(change(&store, 21, 2, &added).await, AccountOutcome::Done, "another account");
    // Whose it is not, nobody removes.
    let removed = AccountChange::RemoveWebhook("hook_0".to_owned());
    change(&store, 22, 2, &removed).await;
    let account = store.account(&[1; 32], Millis(TODAY)).await.unwrap().unwrap();
    assert_eq!(account.webhooks.len() as u64, WEBHOOKS_OF_AN_ACCOUNT);
    // The link of the one that was refused still works.
    let outcome =
        store.change_account(&link(20, 1, 0, TODAY).hash, &removed, Millis(TODAY)).await.unwrap();
    assert_eq!(outcome, AccountOutcome::Done);
    let account = store.account(&[1; 32], Millis(TODAY)).await.unwrap().unwrap();
    assert_eq!(account.webhooks.len() as u64, WEBHOOKS_OF_AN_ACCOUNT - 1);
    change(&store, 23, 1, &AccountChange::Delete).await;
    let left = store.webhooks().await.unwrap();
    assert_eq!(left.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["hook_more"]);
}
