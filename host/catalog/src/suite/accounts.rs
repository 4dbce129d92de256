//! Rules about accounts, the links that change them, and the mails that carry the links
//! (contract-10).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;
use std::sync::Arc;

use tokio::task::JoinSet;
use yearbook_domain::{Millis, Plan, PlanTable};

use super::TestDatabase;
use super::fixtures::{DAY, HOUR, TODAY};
use crate::{
    AccountChange, AccountOutcome, AccountRecord, Catalog, CatalogCache, DatabaseSettings,
    IssuedKey, KeyRecord, KeyVerifier, NewAccountKey, NewSignupLink, QueueOutcome, QueuedMail,
    ReserveOutcome, SignupBounds, key,
};

const BOUNDS: SignupBounds = SignupBounds { per_address: 3, per_network: 10, in_all: 1_000 };

/// A link of `address`, asked for from `network`; `number` tells links apart.
pub(super) fn link(number: u32, address: u8, network: u8, at: i64) -> NewSignupLink {
    let mut hash = [0; 32];
    hash[..4].copy_from_slice(&number.to_be_bytes());
    NewSignupLink { hash, address: [address; 32], network: [network; 32], at: Millis(at) }
}

/// A byte that differs for numbers below 256.
fn byte(number: u32) -> u8 {
    number.to_be_bytes()[3]
}

fn mail(link: &NewSignupLink) -> QueuedMail {
    QueuedMail {
        id: key::new_record_id("mail").unwrap(),
        address: link.address,
        sealed: vec![7; 100],
        created_at: link.at,
        expires_at: Millis(link.at.0 + DAY),
        attempts: 0,
    }
}

pub(super) async fn queue(
    store: &Catalog,
    link: &NewSignupLink,
    bounds: SignupBounds,
) -> QueueOutcome {
    store.queue_mail(link, &mail(link), bounds).await.unwrap()
}

pub(super) fn new_key(at: i64) -> (IssuedKey, NewAccountKey) {
    let (issued, hash) = key::issue().unwrap();
    let record = KeyRecord {
        id: key::new_id().unwrap(),
        label: Some("sign-up".to_owned()),
        plan: Plan::Free,
        created_at: Millis(at),
        revoked_at: None,
    };
    (issued, NewAccountKey { account_id: key::new_record_id("acct").unwrap(), record, hash })
}

/// Uses a fresh link of address 1 up for `change`.
async fn act(store: &Catalog, number: u32, change: AccountChange, at: i64) -> AccountOutcome {
    let bounds = SignupBounds { per_address: u32::MAX, per_network: u32::MAX, in_all: u32::MAX };
    let link = link(number, 1, 1, at);
    assert_eq!(queue(store, &link, bounds).await, QueueOutcome::Queued);
    store.change_account(&link.hash, &change, Millis(at)).await.unwrap()
}

async fn account(store: &Catalog, at: i64) -> Option<AccountRecord> {
    store.account(&[1; 32], Millis(at)).await.unwrap()
}

pub(crate) async fn a_hundred_confirmations_over_two_hosts_make_one_key_contract_10(
    place: TestDatabase,
) {
    let hosts = [place.host().await, place.host().await];
    let links = [link(1, 1, 1, TODAY), link(2, 1, 1, TODAY)];
    for link in &links {
        assert_eq!(queue(&hosts[0], link, BOUNDS).await, QueueOutcome::Queued);
    }
    let mut tasks = JoinSet::new();
    for index in 0..100 {
        // Two links of one address, each on both hosts.
        let (host, link) = (Arc::clone(&hosts[index % 2]), links[index / 2 % 2]);
        tasks.spawn(async move {
            let change = AccountChange::Open(new_key(TODAY).1);
            host.change_account(&link.hash, &change, Millis(TODAY)).await.unwrap()
        });
    }
    let outcomes = tasks.join_all().await;
    let count = |wanted| outcomes.iter().filter(|&&outcome| outcome == wanted).count();
    assert_eq!(count(AccountOutcome::Done), 1, "{outcomes:?}");
    // A person with the other link learns that there is an account, and keeps the link.
    assert_eq!(count(AccountOutcome::OtherState), 50, "{outcomes:?}");
    assert_eq!(hosts[1].keys().await.unwrap().len(), 1);
    assert_eq!(account(&hosts[1], TODAY).await.unwrap().keys.len(), 1);
}

pub(crate) async fn looking_at_a_link_consumes_nothing_contract_10(place: TestDatabase) {
    let store = place.host().await;
    let link = link(1, 1, 1, TODAY);
    queue(&store, &link, BOUNDS).await;
    for _ in 0..1_000 {
        let found = store.link_address(&link.hash, Millis(TODAY + HOUR)).await.unwrap();
        assert_eq!(found, Some([1; 32]));
    }
    let look = async |at| store.link_address(&link.hash, Millis(at)).await.unwrap();
    assert_eq!(look(TODAY + DAY - 1).await, Some([1; 32]));
    assert_eq!(look(TODAY + DAY).await, None, "24 hours are over");
    let open = AccountChange::Open(new_key(TODAY).1);
    let act = async |at| store.change_account(&link.hash, &open, Millis(at)).await.unwrap();
    assert_eq!(act(TODAY + DAY).await, AccountOutcome::LinkGone);
    assert_eq!(act(TODAY + DAY - 1).await, AccountOutcome::Done);
    assert_eq!(act(TODAY + DAY - 1).await, AccountOutcome::LinkGone);
    assert_eq!(look(TODAY + HOUR).await, None, "it is used up");
}

pub(crate) async fn bounds_on_mails_are_exact_across_hosts_contract_10(place: TestDatabase) {
    let hosts = [place.host().await, place.host().await];
    let flood = async |bounds: SignupBounds, first: u32, make: fn(u32) -> NewSignupLink| {
        let mut tasks = JoinSet::new();
        for index in 0..40_u32 {
            let host = Arc::clone(if index % 2 == 0 { &hosts[0] } else { &hosts[1] });
            let link = make(first + index);
            tasks.spawn(async move { queue(&host, &link, bounds).await });
        }
        let outcomes = tasks.join_all().await;
        outcomes.iter().filter(|&&outcome| outcome == QueueOutcome::Queued).count()
    };
    // One address from many networks, many addresses from one network, both from everywhere.
    assert_eq!(flood(BOUNDS, 0, |n| link(n, 1, byte(100 + n), TODAY)).await, 3);
    assert_eq!(flood(BOUNDS, 100, |n| link(n, byte(n), 2, TODAY)).await, 10);
    let tight = SignupBounds { in_all: 20, ..BOUNDS };
    assert_eq!(flood(tight, 150, |n| link(n, byte(n), byte(n), TODAY)).await, 7);
    let refused = queue(&hosts[0], &link(1_000, 250, 250, TODAY + HOUR), tight).await;
    assert_eq!(refused, QueueOutcome::InstallationExhausted { until: Millis(TODAY + DAY) });
    assert_eq!(hosts[1].waiting_mails(Millis(TODAY)).await.unwrap(), 20);
    // A day later there is room again, and none before.
    let late = async |number, at| queue(&hosts[0], &link(number, 1, 250, at), BOUNDS).await;
    assert_eq!(late(1_001, TODAY + DAY - 1).await, QueueOutcome::AddressExhausted);
    assert_eq!(late(1_002, TODAY + DAY).await, QueueOutcome::Queued);
}

pub(crate) async fn a_key_replaced_a_hundred_times_leaves_the_months_count_contract_10(
    place: TestDatabase,
) {
    let store = place.host().await;
    let month = Millis(TODAY).month();
    let (first, opened) = new_key(TODAY);
    assert_eq!(act(&store, 0, AccountChange::Open(opened), TODAY).await, AccountOutcome::Done);
    let usage_key = async |issued: &IssuedKey| {
        let hash = key::parse(issued.expose()).unwrap();
        store.key(&hash).await.unwrap().unwrap().usage_key
    };
    let counted = usage_key(&first).await;
    for used in 1..=10 {
        let outcome = store.reserve_request(&counted, &month, 10).await.unwrap();
        assert_eq!(outcome, ReserveOutcome::Granted { used });
    }
    for number in 1..=100 {
        let at = TODAY + i64::from(number);
        let (issued, replacement) = new_key(at);
        let change = AccountChange::Replace(replacement, Millis(at));
        assert_eq!(act(&store, number, change, at).await, AccountOutcome::Done);
        assert_eq!(usage_key(&issued).await, counted);
        let outcome = store.reserve_request(&counted, &month, 10).await.unwrap();
        assert_eq!(outcome, ReserveOutcome::Exhausted { used: 10 });
    }
    let account = account(&store, TODAY + 200).await.unwrap();
    assert_eq!((account.keys.len(), account.usage_key), (1, counted));
}

pub(crate) async fn neither_revoking_nor_deleting_gives_new_requests_contract_10(
    place: TestDatabase,
) {
    let store = place.host().await;
    let month = Millis(TODAY).month();
    let open = || AccountChange::Open(new_key(TODAY).1);
    assert_eq!(act(&store, 1, open(), TODAY).await, AccountOutcome::Done);
    let counted = account(&store, TODAY).await.unwrap().usage_key;
    store.reserve_request(&counted, &month, 10).await.unwrap();

    assert_eq!(act(&store, 8, AccountChange::EndLinks, TODAY + 1).await, AccountOutcome::Done);
    assert_eq!(store.key_by_id(&counted).await.unwrap().unwrap().link_epoch, 1);
    assert_eq!(account(&store, TODAY + 1).await.unwrap().keys.len(), 1, "the key goes on");
    assert_eq!(act(&store, 2, AccountChange::Revoke, TODAY + 2).await, AccountOutcome::Done);
    assert_eq!(account(&store, TODAY + 2).await.unwrap().keys, []);
    assert_eq!(act(&store, 3, open(), TODAY + 3).await, AccountOutcome::OtherState);
    let replace = AccountChange::Replace(new_key(TODAY + 4).1, Millis(TODAY + 4));
    assert_eq!(act(&store, 4, replace, TODAY + 4).await, AccountOutcome::Done);
    assert_eq!(account(&store, TODAY + 4).await.unwrap().keys.len(), 1);

    assert_eq!(act(&store, 5, AccountChange::Delete, TODAY + 5).await, AccountOutcome::Done);
    assert_eq!(account(&store, TODAY + 5).await, None);
    assert!(store.keys().await.unwrap().iter().all(|key| key.revoked_at.is_some()));
    assert_eq!(store.waiting_mails(Millis(TODAY + 5)).await.unwrap(), 0, "nothing is mailed");
    let again = AccountChange::Revoke;
    assert_eq!(act(&store, 6, again, TODAY + 6).await, AccountOutcome::OtherState);

    // A second sign-up in the same month goes on where the count was.
    assert_eq!(act(&store, 7, open(), TODAY + 7).await, AccountOutcome::Done);
    assert_eq!(account(&store, TODAY + 7).await.unwrap().usage_key, counted);
    assert_eq!(store.used_requests(&counted, &month).await.unwrap(), 1);
}

pub(crate) async fn a_deleted_account_is_forgotten_when_its_month_has_ended_contract_10(
    place: TestDatabase,
) {
    let store = place.host().await;
    let open = |at| AccountChange::Open(new_key(at).1);
    assert_eq!(act(&store, 1, open(TODAY), TODAY).await, AccountOutcome::Done);
    let counted = account(&store, TODAY).await.unwrap().usage_key;
    store.reserve_request(&counted, &Millis(TODAY).month(), 10).await.unwrap();
    store.record_key_uses(&[(counted.clone(), Millis(TODAY))]).await.unwrap();
    assert_eq!(act(&store, 2, AccountChange::Delete, TODAY + 1).await, AccountOutcome::Done);
    let purge = async |at| store.purge_signup(Millis(at)).await.unwrap().accounts;
    let december = Millis(TODAY).next_month().0;
    assert_eq!(purge(december - 1).await, 0);
    assert_eq!(store.used_requests(&counted, &Millis(TODAY).month()).await.unwrap(), 1);
    assert_eq!(purge(december).await, 1);
    assert_eq!(store.keys().await.unwrap(), []);
    assert!(store.key_uses().await.unwrap().is_empty());
    assert_eq!(store.used_requests(&counted, &Millis(TODAY).month()).await.unwrap(), 0);
    // Accounts that are not deleted stay.
    assert_eq!(act(&store, 3, open(december), december).await, AccountOutcome::Done);
    assert_eq!(purge(december + 90 * DAY).await, 0);
    assert_eq!(store.keys().await.unwrap().len(), 1);
}

pub(crate) async fn a_replaced_key_ends_when_its_holder_said_contract_10(place: TestDatabase) {
    let store = place.host().await;
    let live = CatalogCache::start(Arc::clone(&store), CatalogCache::POLL_INTERVAL).await.unwrap();
    let settings = DatabaseSettings::default();
    let ring =
        KeyVerifier::new(Arc::clone(&store), Arc::clone(&live), &settings, PlanTable::default());
    let works = async |issued: &IssuedKey| ring.check(issued.expose()).await.unwrap().is_some();
    let now = crate::clock::now().0;
    let (first, opened) = new_key(now);
    act(&store, 1, AccountChange::Open(opened), now).await;
    assert!(works(&first).await);
    // It goes on for a moment, then ends by itself on a host that knows it.
    let (second, replacement) = new_key(now);
    let ends = Millis(crate::clock::now().0 + 5_000);
    act(&store, 2, AccountChange::Replace(replacement, ends), now).await;
    live.refresh().await.unwrap();
    assert!(works(&first).await && works(&second).await);
    while crate::clock::now() < ends {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert!(!works(&first).await && works(&second).await);
    // The next one ends at once.
    let (third, replacement) = new_key(now);
    act(&store, 3, AccountChange::Replace(replacement, Millis(now)), now).await;
    live.refresh().await.unwrap();
    assert!(!works(&second).await && works(&third).await);
    // What an operator revokes earlier than planned ends earlier.
    let id = account(&store, now).await.unwrap().keys.pop().unwrap().id;
    let (fourth, replacement) = new_key(now);
    act(&store, 4, AccountChange::Replace(replacement, Millis(now + DAY)), now).await;
    assert!(store.revoke_key(&id, Millis(now)).await.unwrap());
    live.refresh().await.unwrap();
    assert!(!works(&third).await && works(&fourth).await);
}

pub(crate) async fn keys_without_proof_share_one_months_count_contract_10(place: TestDatabase) {
    let store = place.host().await;
    let mut counted = HashSet::new();
    for number in 1..=4 {
        let at = TODAY + i64::from(number);
        let (issued, key) = new_key(at);
        let link = link(number, 1, 1, at);
        let outcome = store.issue_unconfirmed(&link, &key, Millis(at + DAY), BOUNDS).await.unwrap();
        let hash = key::parse(issued.expose()).unwrap();
        let found = store.key(&hash).await.unwrap();
        match number {
            1..=3 => {
                assert_eq!(outcome, QueueOutcome::Queued);
                counted.insert(found.unwrap().usage_key);
            }
            _ => assert!(outcome == QueueOutcome::AddressExhausted && found.is_none()),
        }
        let used = store.link_address(&link.hash, Millis(at)).await.unwrap();
        assert_eq!(used, None, "no link is given out");
    }
    assert_eq!(counted.len(), 1);
}

pub(crate) async fn a_mail_is_leased_to_one_host_at_a_time_contract_10(place: TestDatabase) {
    let hosts = [place.host().await, place.host().await];
    for number in 0..8 {
        queue(&hosts[0], &link(number, byte(number), 1, TODAY), BOUNDS).await;
    }
    let (now, lease_ends) = (Millis(TODAY + 1), Millis(TODAY + 60_000));
    let mut tasks = JoinSet::new();
    for index in 0..32 {
        let host = Arc::clone(&hosts[index % 2]);
        tasks.spawn(async move { host.claim_mail(now, lease_ends).await.unwrap() });
    }
    let claimed: Vec<QueuedMail> = tasks.join_all().await.into_iter().flatten().collect();
    let ids: HashSet<&str> = claimed.iter().map(|mail| mail.id.as_str()).collect();
    assert_eq!(ids.len(), claimed.len(), "no mail was leased twice");
    // A host that was too late for one may try again.
    let mut leased = claimed.len();
    while hosts[0].claim_mail(now, lease_ends).await.unwrap().is_some() {
        leased += 1;
    }
    assert_eq!(leased, 8);
    // A host that died left its mails to others, and what was handed over is gone.
    let again = hosts[1].claim_mail(lease_ends, Millis(TODAY + HOUR)).await.unwrap().unwrap();
    assert_eq!(again.attempts, 2);
    assert!(hosts[1].delete_mail(&again.id).await.unwrap());
    assert!(!hosts[0].delete_mail(&again.id).await.unwrap());
    assert_eq!(hosts[0].waiting_mails(now).await.unwrap(), 7);
    hosts[0].defer_mail(&claimed[0].id, Millis(TODAY + 2 * HOUR)).await.unwrap();
    assert_eq!(hosts[0].waiting_mails(Millis(TODAY + DAY)).await.unwrap(), 0, "all have expired");
}
