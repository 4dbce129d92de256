//! Attacks of plugins on their host: every attack by name with the exact answer that a client and
//! the operator's log get (`docs/attacks.md`), while a neighbour's responses go on undisturbed.
//!
//! A process of its own: it reads all of its log and counts its threads, descriptors and memory.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod attack_arena;
mod chain;
mod document;
mod failure_dumps;
mod fuzz;
mod guest;
mod list;
mod log;
mod neighbour;
mod reader_arena;
mod resource_snapshot;
mod return_values;
mod sharing;
mod stack;
mod transform_answers;
mod transform_arena;
mod wire;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use yearbook_releases::{ComponentFile, check};
use yearbook_tests::components::sandbox;

use attack_arena::{AttackArena, AttackResult, sandbox_limits};
use guest::TransformGuest;
use list::readers::reader_attacks;
use list::transforms::transform_attacks;
use list::{ExpectedEnd, attacks, limits};
use neighbour::Neighbour;
use reader_arena::ReaderArena;
use resource_snapshot::{ResourceSnapshot, ran_with_exact_memory};
use transform_arena::TransformArena;

/// One test at a time: they count what the process holds.
fn exclusive() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::await_holding_lock, reason = "each test has a runtime of its own")]
async fn every_attack_ends_as_the_document_says_and_no_neighbour_notices() {
    let _alone = exclusive();
    let arena = AttackArena::open().await;
    let neighbour = Neighbour::start(arena.address, &arena.key).await;
    let (mut wrong, mut runaways) = (Vec::new(), Vec::new());
    let mut held = None;
    // Twice: what the first round leaves is what the allocator keeps, what the second adds to it
    // would be a leak.
    for _ in 0..2 {
        for attack in attacks() {
            let begun = Instant::now();
            let seen = arena.run(&attack).await;
            if matches!(&attack.ends, ExpectedEnd::Broken(reason) if reason.contains("of processor time"))
            {
                runaways.push(begun.elapsed());
            }
            if seen.ends != attack.ends || seen.said != attack.said {
                let AttackResult { ends, said } = seen;
                let name = attack.name;
                wrong.push(format!(
                    "{name}\n  ends {ends:?}\n  not  {:?}\n  said {said:?}\n  not  {:?}",
                    attack.ends, attack.said
                ));
            }
        }
        arena.clear();
        held = held.or_else(|| Some(ResourceSnapshot::now()));
    }
    let comparison = neighbour.stop().await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    comparison.is_fair(neighbour::median(runaways));
    assert_eq!(attack_arena::panics(), 0, "a thread panicked");
    for line in arena.terminal().lines() {
        assert!(
            line.starts_with("20") && !line.contains(char::is_control),
            "not one line of the log: {line:?}"
        );
    }
    ResourceSnapshot::wait_for_release(held.unwrap(), 2 * limits::MEMORY).await;
    arena.close().await;
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::await_holding_lock, reason = "each test has a runtime of its own")]
async fn every_attack_of_a_reader_ends_as_the_document_says_contract_7() {
    let _alone = exclusive();
    let arena = ReaderArena::open();
    let mut wrong = Vec::new();
    let mut held = None;
    for round in 0..2 {
        // Rows without end take seconds, and what they leave is seen in the first round.
        let attacks = reader_attacks().into_iter();
        for attack in attacks.filter(|attack| round == 0 || !attack.name.contains("endless")) {
            let ends = arena.run(&attack).await;
            if ends != attack.ends {
                wrong.push(format!("{}\n  {ends:?}\n  not\n  {:?}", attack.name, attack.ends));
            }
        }
        held = held.or_else(|| Some(ResourceSnapshot::now()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    ResourceSnapshot::wait_for_release(held.unwrap(), 2 * limits::MEMORY).await;
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::await_holding_lock, reason = "each test has a runtime of its own")]
async fn every_attack_of_a_transform_ends_as_the_document_says_contract_16() {
    if ran_with_exact_memory("every_attack_of_a_transform_ends_as_the_document_says_contract_16") {
        return;
    }
    let _alone = exclusive();
    let arena = TransformArena::open();
    let mut wrong = Vec::new();
    let mut held = None;
    for round in 0..2 {
        let attacks = transform_attacks().into_iter();
        for attack in attacks.filter(|attack| round == 0 || !attack.name.contains("endless")) {
            let ends = arena.run(&attack).await;
            if ends != attack.ends {
                wrong.push(format!("{}\n  {ends:?}\n  not\n  {:?}", attack.name, attack.ends));
            }
        }
        held = held.or_else(|| Some(ResourceSnapshot::now()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    ResourceSnapshot::wait_for_release(held.unwrap(), 2 * limits::MEMORY).await;
}

#[test]
fn check_finds_what_a_host_cannot_know_and_says_what_a_host_would() {
    let _alone = exclusive();
    let sandbox = sandbox(sandbox_limits());
    for attack in attacks() {
        let rejected = match &attack.ends {
            ExpectedEnd::Rejected(reason) if !reason.contains("taken by another") => {
                Some(reason.as_str())
            }
            _ => None,
        };
        if rejected.is_none() && attack.found.is_none() {
            continue;
        }
        // What is no component is refused before it is tried.
        let Ok(component) = ComponentFile::read(attack.component(), limits::COMPONENT) else {
            continue;
        };
        let report = check(&sandbox, &component).report;
        let found: Vec<&str> =
            report.findings.iter().map(|finding| finding.wrong.as_str()).collect();
        match (rejected, attack.found) {
            (Some(reason), _) => assert_eq!(found, [reason], "{}", attack.name),
            (None, wanted) => {
                let wanted = wanted.unwrap();
                assert!(
                    found.iter().any(|wrong| wrong.starts_with(wanted)),
                    "{}: {found:?}",
                    attack.name
                );
            }
        }
    }
}

/// Numbers its rows in the order in which an instance sees them, so that rows before a response's
/// first day count, however many are asked for.
#[test]
fn check_finds_a_transform_that_earlier_rows_change_contract_16() {
    const NUMBERING: &str = "
        (i32.store (i32.const 2312) (local.get 1))
        (i32.store (i32.load (i32.const 2332)) (local.get 1))
        (i32.store offset=8 (i32.load (i32.const 2340))
          (call $allocate (i32.const 8) (i32.mul (local.get 1) (i32.const 8))))
        (i32.store offset=12 (i32.load (i32.const 2340)) (i32.mul (local.get 1) (i32.const 8)))
        (loop
          (i64.store
            (i32.add (i32.load offset=8 (i32.load (i32.const 2340)))
                     (i32.mul (local.get $i) (i32.const 8)))
            (i64.extend_i32_u (global.get $calls)))
          (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br_if 0 (i32.lt_u (local.get $i) (local.get 1))))
        (i32.const 2304)";
    let _alone = exclusive();
    let sandbox = sandbox(sandbox_limits());
    let found = |before: Option<(u32, u32)>| {
        let guest = TransformGuest::named("numbering").does("push", NUMBERING).with(|guest| {
            guest.needs.columns = vec![(0, 0)];
            guest.columns[0].name = b"first".into();
            guest.needs.before = before;
            guest.relation = 0;
            guest.made.take = Vec::new();
        });
        let component = ComponentFile::read(guest.build(), limits::COMPONENT).unwrap();
        let findings = check(&sandbox, &component).report.findings;
        findings.into_iter().map(|finding| (finding.place, finding.wrong)).collect::<Vec<_>>()
    };
    // Without earlier rows a response numbers its own, which is a calculation like any other.
    let fine = found(None);
    assert!(fine.is_empty(), "{fine:?}");
    let found = found(Some((1, 0)));
    let expected = "it gives other rows than the last ones of the whole table";
    let is_expected = |(place, wrong): &(String, String)| {
        place.starts_with("table `series`, from ") && wrong == expected
    };
    assert!(!found.is_empty() && found.iter().all(is_expected), "{found:?}");
}
