//! Resources that guests share and that none can use up: workers, core instances, time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use futures::StreamExt;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use yearbook_sandbox::{
    Batches, EncodedBody, EncodedChunks, GuestError, Limits, PluginEncoder, Sandbox, Trap,
};
use yearbook_shares::CallerShare;
use yearbook_tests::components::{component, sandbox};

use crate::attack_arena::{AttackArena, sandbox_limits};
use crate::guest::{Guest, section};
use crate::list::limits::{CPU_MS, INSTANCES};
use crate::neighbour::Neighbour;
use crate::resource_snapshot::thread_time;
use crate::{exclusive, neighbour, wire};

/// Clients that ask for nothing but loops.
const CROWD: u32 = 6;

fn batch() -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    RecordBatch::try_from_iter([("n", numbers)]).unwrap()
}

/// A body without an end, begun.
async fn endless(guest: &Arc<PluginEncoder>) -> EncodedChunks {
    let rows: Batches = futures::stream::repeat_with(|| Ok(batch())).boxed();
    let body = guest.encode(&CallerShare::default(), batch().schema(), &[], rows).await.unwrap();
    let EncodedBody::Stream(chunks) = body else { panic!("it has no end") };
    chunks
}

async fn assert_neighbour_is_answered(sandbox: &Arc<Sandbox>) {
    let csv = sandbox.load_encoder(&component("csv")).unwrap();
    let one: Batches = futures::stream::iter([Ok(batch())]).boxed();
    let EncodedBody::Whole(bytes) =
        csv.encode(&CallerShare::default(), batch().schema(), &[], one).await.unwrap()
    else {
        panic!("three rows are one part")
    };
    assert_eq!(bytes, "n\n1\n2\n3\n");
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::await_holding_lock, reason = "each test has a runtime of its own")]
async fn a_crowd_of_runaways_leaves_a_worker_to_its_neighbours() {
    let _alone = exclusive();
    let arena = AttackArena::open().await;
    let spin = Guest::named("spin").does("part", "(call $spin)").build();
    arena.app.registry.add(&arena.app.sandbox.load(&spin).unwrap()).unwrap();
    let neighbour = Neighbour::start(arena.address, &arena.key).await;
    let over = Arc::new(AtomicBool::new(false));
    let crowd = (0..CROWD).map(|_| {
        let (over, key, address) = (Arc::clone(&over), arena.key.clone(), arena.address);
        tokio::spawn(async move {
            let mut stopped = 0;
            while !over.load(Ordering::Relaxed) {
                let answer = wire::get(address, "/v1/datasets/parks/data?format=spin", &key).await;
                // Stopped, or refused since too many wait already.
                assert!([500, 503].contains(&answer.status), "{}", answer.text());
                stopped += usize::from(answer.status == 500);
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            stopped
        })
    });
    let crowd: Vec<_> = crowd.collect();
    tokio::time::sleep(Duration::from_secs(4)).await;
    over.store(true, Ordering::Relaxed);
    let mut stopped = 0;
    for client in crowd {
        stopped += client.await.unwrap();
    }
    assert!(stopped > 10, "{stopped} runaways were stopped");
    let comparison = neighbour.stop().await;
    // Alone, since in a crowd most of the time is waiting for its turn.
    let mut alone = Vec::new();
    for _ in 0..5 {
        let begun = Instant::now();
        assert_eq!(
            wire::get(arena.address, "/v1/datasets/parks/data?format=spin", &arena.key)
                .await
                .status,
            500
        );
        alone.push(begun.elapsed());
    }
    comparison.is_fair(neighbour::median(alone));
    arena.wait_until_freed("spin").await;
    arena.close().await;
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::await_holding_lock, reason = "each test has a runtime of its own")]
async fn guests_of_many_core_instances_leave_room_for_every_neighbour() {
    let _alone = exclusive();
    let sandbox = sandbox(Limits { parallel_parts: 1, ..sandbox_limits() });
    let greedy =
        sandbox.load_encoder(&with_instances(&Guest::named("greedy").build(), 56)).unwrap();
    let mut held = Vec::new();
    for _ in 1..INSTANCES {
        held.push(endless(&greedy).await);
    }
    assert_neighbour_is_answered(&sandbox).await;
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::await_holding_lock, reason = "each test has a runtime of its own")]
async fn memory_that_a_guest_never_gets_is_nobodys_loss_contract_3() {
    let _alone = exclusive();
    let sandbox = sandbox(Limits { parallel_parts: 1, ..sandbox_limits() });
    let part = "(call $grow_in_vain (i32.const 500))
        (call $piece (i32.const 528) (i32.const 5) (i32.const 0) (i32.const 0))";
    let greedy = Guest::named("greedy").with_fixed_memory().does("part", part).build();
    let greedy = sandbox.load_encoder(&greedy).unwrap();
    let mut chunks = endless(&greedy).await;
    assert!(chunks.next().await.unwrap().is_ok());
    assert_eq!(sandbox.held_memory(), 2 * 65_536, "the pages of its module");
    assert_neighbour_is_answered(&sandbox).await;
}

#[test]
fn a_runaway_ends_near_its_deadline() {
    let _alone = exclusive();
    let sandbox = sandbox(sandbox_limits());
    let spin =
        sandbox.load_encoder(&Guest::named("spin").does("part", "(call $spin)").build()).unwrap();
    let mut over: Vec<Duration> = (0..30)
        .map(|_| {
            let begun = thread_time();
            let failed = spin.trial(&batch().schema(), &[], &[batch()], false).unwrap_err();
            assert!(
                matches!(failed.error, GuestError::Trapped { trap: Trap::Cpu(CPU_MS), .. }),
                "{failed}"
            );
            (thread_time() - begun).saturating_sub(Duration::from_millis(CPU_MS))
        })
        .collect();
    over.sort_unstable();
    let (deadline, p90, max) = (Duration::from_millis(CPU_MS), over[26], over[29]);
    println!(
        "beyond a deadline of {CPU_MS} ms: {:?} usually, {p90:?} in 9 of 10 runs, {max:?} at most",
        over[14]
    );
    assert!(p90 <= deadline / 4 && max <= deadline / 2, "{over:?}");
}

/// Beside a guest that computes, others get the core at ticks of the sandbox's clock, every half
/// millisecond; the kernel alone gives it to them every 3 to 4 ms.
#[test]
fn a_runaway_gives_way_between_ticks_of_the_kernels_clock() {
    const RUNS: u32 = 5;
    let _alone = exclusive();
    let sandbox = sandbox(sandbox_limits());
    let spin =
        sandbox.load_encoder(&Guest::named("spin").does("part", "(call $spin)").build()).unwrap();
    let (turns, over) = (AtomicU32::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            stay_on_one_core();
            while !over.load(Ordering::Relaxed) {
                turns.fetch_add(1, Ordering::Relaxed);
                thread::yield_now();
            }
        });
        scope.spawn(|| {
            stay_on_one_core();
            // One that was compiled and run before has nothing to wait for.
            for counted in [false, true] {
                turns.store(0, Ordering::Relaxed);
                for _ in 0..if counted { RUNS } else { 1 } {
                    spin.trial(&batch().schema(), &[], &[batch()], false).unwrap_err();
                }
            }
            over.store(true, Ordering::Relaxed);
        });
    });
    let computed = u64::from(RUNS) * CPU_MS;
    let turns = u64::from(turns.load(Ordering::Relaxed));
    assert!(turns > computed * 3 / 4, "{turns} turns in {computed} ms");
}

/// Keeps this thread on the first core that it may use.
fn stay_on_one_core() {
    let allowed = sched_getaffinity(None).unwrap();
    let mut first = CpuSet::new();
    first.set((0..CpuSet::MAX_CPU).find(|&core| allowed.is_set(core)).unwrap());
    sched_setaffinity(None, &first).unwrap();
}

/// The same component with so many more instances of an empty module.
fn with_instances(component: &[u8], count: u8) -> Vec<u8> {
    let mut modules = 0;
    let mut rest = &component[8..];
    while let Some((&id, after)) = rest.split_first() {
        modules += u8::from(id == 1);
        let digits = after.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
        let length = after[..digits]
            .iter()
            .rev()
            .fold(0, |length, byte| length << 7 | usize::from(byte & 0x7f));
        rest = &after[digits + length..];
    }
    assert!(modules < 0x80);
    // A module, then instances of it without arguments.
    let instances = [vec![count], [0, modules, 0].repeat(usize::from(count))].concat();
    [component, &section(1, b"\0asm\x01\0\0\0"), &section(2, &instances)].concat()
}
