//! Order of callers at slots.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use futures::FutureExt;

use super::*;
use crate::{CallerRegistry, SharePercent};

fn callers() -> CallerRegistry {
    CallerRegistry::new(SharePercent { key: 50, address: 75 }, 1 << 20)
}

fn slots(total: usize) -> Arc<FairSlots> {
    FairSlots::new(SlotKind::Responses, total)
}

#[test]
fn nobody_holds_more_than_its_share() {
    let (callers, slots) = (callers(), slots(8));
    let address = Some([192, 0, 2, 1].into());
    let (one, two) = (callers.holder(Some("one"), address), callers.holder(Some("two"), address));
    let mut held: Vec<SlotPermit> = (0..4).map(|_| slots.try_acquire(&one).ok().unwrap()).collect();
    assert_eq!(
        slots.try_acquire(&one).err(),
        Some(AcquireError::ShareExhausted),
        "half of eight for a key"
    );
    held.extend((0..2).map(|_| slots.try_acquire(&two).ok().unwrap()));
    assert_eq!(
        slots.try_acquire(&two).err(),
        Some(AcquireError::ShareExhausted),
        "three quarters of eight for its address"
    );
    assert_eq!(callers.exhausted_counts(&slots), (1, 1));
    let other = callers.holder(Some("other"), None);
    held.extend((0..2).map(|_| slots.try_acquire(&other).ok().unwrap()));
    assert_eq!(
        slots.try_acquire(&other).err(),
        Some(AcquireError::AllTaken),
        "where none is free, that is the reason"
    );
    drop(held);
    assert_eq!(slots.free(), 8);
    assert!(slots.try_acquire(&one).is_ok(), "what was given back counts no more");
}

#[test]
fn a_share_has_one_slot_at_least() {
    let (callers, slots) = (callers(), slots(1));
    let one = callers.holder(Some("one"), None);
    let held = slots.try_acquire(&one).ok().unwrap();
    assert_eq!(slots.try_acquire(&one).err(), Some(AcquireError::AllTaken));
    drop(held);
    assert!(slots.try_acquire(&one).is_ok());
}

#[tokio::test]
async fn a_slot_that_comes_free_goes_to_the_caller_that_holds_the_fewest() {
    let (callers, slots) = (callers(), slots(4));
    let [many, few, none] = ["many", "few", "none"].map(|key| callers.holder(Some(key), None));
    let mut of_many: Vec<SlotPermit> =
        (0..2).map(|_| slots.try_acquire(&many).ok().unwrap()).collect();
    let of_few = slots.try_acquire(&few).ok().unwrap();
    let spare = slots.try_acquire(&CallerShare::default()).ok().unwrap();
    // In the order of arrival: the one with most first.
    let mut waits = [&many, &few, &none].map(|holder| Box::pin(slots.acquire(holder, false)));
    assert!(waits.iter_mut().all(|wait| wait.now_or_never().is_none()));
    drop(spare);
    let of_none = waits[2].as_mut().now_or_never().unwrap().ok().unwrap();
    assert!(
        waits[0].as_mut().now_or_never().is_none() && waits[1].as_mut().now_or_never().is_none()
    );
    drop(of_many.pop());
    // Both hold one now, so the one that has waited longer goes first.
    let again = waits[0].as_mut().now_or_never().unwrap().ok().unwrap();
    assert!(waits[1].as_mut().now_or_never().is_none());
    drop((again, of_none, of_few, of_many));
    assert!(waits[1].as_mut().now_or_never().unwrap().is_ok());
}

#[tokio::test]
async fn who_is_at_its_share_waits_for_its_own_slots_alone() {
    let (callers, slots) = (callers(), slots(4));
    let (one, two) = (callers.holder(Some("one"), None), callers.holder(Some("two"), None));
    let mut held: Vec<SlotPermit> = (0..2).map(|_| slots.try_acquire(&one).ok().unwrap()).collect();
    let mut wait = Box::pin(slots.acquire(&one, false));
    assert!(wait.as_mut().now_or_never().is_none());
    let other = slots.try_acquire(&two).ok().unwrap();
    drop(other);
    assert!(wait.as_mut().now_or_never().is_none(), "free slots are no help");
    drop(held.pop());
    assert!(wait.as_mut().now_or_never().unwrap().is_ok());
}

#[tokio::test]
async fn no_more_requests_of_a_caller_wait_than_its_share_has_slots() {
    let (callers, slots) = (callers(), slots(4));
    let one = callers.holder(Some("one"), None);
    let _held: Vec<SlotPermit> = (0..2).map(|_| slots.try_acquire(&one).ok().unwrap()).collect();
    let mut waits: Vec<_> = (0..2).map(|_| Box::pin(slots.acquire(&one, false))).collect();
    assert!(waits.iter_mut().all(|wait| wait.as_mut().now_or_never().is_none()));
    assert_eq!(
        slots.acquire(&one, false).now_or_never().unwrap().err(),
        Some(AcquireError::ShareExhausted)
    );
    assert!(
        slots.acquire(&one, true).now_or_never().is_none(),
        "unless it may wait without a bound"
    );
    waits.pop();
    assert!(slots.acquire(&one, false).now_or_never().is_none(), "who goes away waits no more");
}

#[tokio::test]
async fn a_slot_whose_request_went_away_is_not_lost() {
    let (callers, slots) = (callers(), slots(2));
    let one = callers.holder(Some("one"), None);
    let held: Vec<SlotPermit> =
        (0..2).map(|_| slots.try_acquire(&CallerShare::default()).ok().unwrap()).collect();
    let mut gone = Box::pin(slots.acquire(&one, false));
    assert!(gone.as_mut().now_or_never().is_none());
    // Granted, and never looked at.
    drop(held);
    drop(gone);
    assert_eq!(slots.free(), 2);
    for _ in 0..1_000 {
        let _full: Vec<SlotPermit> =
            (0..2).map(|_| slots.try_acquire(&CallerShare::default()).ok().unwrap()).collect();
        assert!(slots.acquire(&one, false).now_or_never().is_none());
    }
    assert!(slots.lock().len() < 100, "those that gave up do not pile up");
}

#[tokio::test]
async fn a_request_takes_all_of_its_slots_in_one_step_or_none_contract_16() {
    let (callers, slots) = (callers(), slots(4));
    let [many, other] = ["many", "other"].map(|key| callers.holder(Some(key), None));
    let mut held: Vec<SlotPermit> =
        (0..3).map(|_| slots.try_acquire(&CallerShare::default()).ok().unwrap()).collect();
    assert!(slots.try_acquire_many(&many, 2).is_err());
    let mut wait = Box::pin(slots.acquire_many(&many, 2));
    assert!(wait.as_mut().now_or_never().is_none());
    assert_eq!(slots.free(), 1, "it holds none while it waits");
    assert_eq!(
        slots.try_acquire(&other).err(),
        Some(AcquireError::AllTaken),
        "one that is free is kept for it"
    );
    drop(held.pop());
    let both = wait.as_mut().now_or_never().unwrap().ok().unwrap();
    assert_eq!((both.len(), slots.free()), (2, 0));
    drop((both, held));
    assert_eq!(slots.free(), 4);
}

#[tokio::test]
async fn a_request_that_gave_up_keeps_no_slot_from_others_contract_16() {
    let (callers, slots) = (callers(), slots(2));
    let [many, other] = ["many", "other"].map(|key| callers.holder(Some(key), None));
    let held = slots.try_acquire(&CallerShare::default()).ok().unwrap();
    let mut wait = Box::pin(slots.acquire_many(&many, 2));
    assert!(wait.as_mut().now_or_never().is_none());
    drop(wait);
    assert!(slots.try_acquire(&other).is_ok());
    drop(held);
}

#[tokio::test]
async fn who_gives_up_leaves_what_was_kept_for_it_to_those_behind_contract_16() {
    let (callers, slots) = (callers(), slots(2));
    let [many, other] = ["many", "other"].map(|key| callers.holder(Some(key), None));
    let nobody = CallerShare::default();
    // It goes before its turn, and when it was granted both and has not looked.
    for is_granted in [false, true] {
        let mut held: Vec<SlotPermit> = slots.try_acquire_many(&nobody, 2).ok().unwrap();
        let mut wait = Box::pin(slots.acquire_many(&many, 2));
        let mut behind = Box::pin(slots.acquire(&other, false));
        assert!(wait.as_mut().now_or_never().is_none());
        held.truncate(1);
        assert!(behind.as_mut().now_or_never().is_none(), "the free one is kept");
        if is_granted {
            held.clear();
        }
        drop(wait);
        let got = behind.as_mut().now_or_never().unwrap().ok().unwrap();
        assert_eq!(slots.free(), usize::from(is_granted));
        drop((got, held));
        assert_eq!(slots.free(), 2);
    }
}

#[tokio::test]
async fn one_request_may_have_more_than_its_share_where_it_holds_none_contract_16() {
    let (callers, slots) = (callers(), slots(4));
    let one = callers.holder(Some("one"), None);
    let held = slots.try_acquire_many(&one, 3).ok().unwrap();
    assert_eq!(slots.try_acquire(&one).err(), Some(AcquireError::ShareExhausted));
    drop(held);
    let held = slots.try_acquire(&one).ok().unwrap();
    assert_eq!(slots.try_acquire_many(&one, 2).err(), Some(AcquireError::ShareExhausted));
    drop(held);
    assert_eq!(slots.acquire_many(&one, 5).await.err(), Some(AcquireError::AllTaken));
}
