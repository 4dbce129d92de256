//! A host at its capacity: responses wait a bounded time in a bounded queue and are then refused
//! with 503; those that have begun go on, and memory comes back whole.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use yearbook_sandbox::{Sandbox, SandboxConfig};
use yearbook_workers::Workers;

use super::*;

fn endless() -> Batches {
    futures::stream::repeat_with(|| Ok(batch(2))).boxed()
}

async fn begin_response(guest: &Arc<PluginEncoder>) -> EncodedBody {
    guest.encode(&CallerShare::default(), batch(0).schema(), &[], endless()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_wait_while_three_quarters_of_all_guests_memory_are_taken() {
    let alone = sandbox(Limits { parallel_parts: 1, ..limits() });
    let one = alone.load_encoder(&component("evil")).unwrap();
    let held = begin_response(&one).await;
    let bytes = alone.held_memory();
    assert!(bytes > 0);
    drop(held);

    let sandbox = sandbox(Limits {
        parallel_parts: 1,
        total_memory_bytes: 4 * bytes,
        queue_ms: 50,
        ..limits()
    });
    let guest = sandbox.load_encoder(&component("evil")).unwrap();
    let mut held = Vec::new();
    for _ in 0..4 {
        held.push(begin_response(&guest).await);
    }
    assert_eq!(sandbox.held_memory(), 4 * bytes);
    assert!(matches!(
        evil(&guest, "none", "part", 1).await,
        Err(GuestError::Busy { retry_after: 1 })
    ));
    held.pop();
    // Its instance is cleared a moment after the client went.
    while sandbox.held_memory() > 3 * bytes {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(evil(&guest, "none", "part", 1).await.is_ok());
    drop(held);
    while sandbox.held_memory() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_finds_no_memory_left_is_not_to_blame_and_gives_all_of_it_back() {
    let sandbox = sandbox(Limits { total_memory_bytes: 16 << 20, ..limits() });
    let guest = sandbox.load_encoder(&component("evil")).unwrap();
    for _ in 0..3 {
        let refused = evil(&guest, "grow", "part", 1).await.err().unwrap();
        assert!(matches!(refused, GuestError::Busy { retry_after: 1 }), "{refused}");
        assert!(!refused.is_failure_of_the_plugin());
        assert_eq!(sandbox.held_memory(), 0);
    }
    let Ok(EncodedBody::Stream(mut chunks)) = evil(&guest, "grow", "tail", 50).await else {
        panic!("fifty parts were one")
    };
    let cut = loop {
        match chunks.next().await {
            Some(Ok(_)) => {}
            Some(Err(cut)) => break cut,
            None => panic!("a body without its tail ended like a whole one"),
        }
    };
    assert!(!cut.by_plugin);
    assert!(evil(&guest, "none", "part", 1).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_that_is_full_refuses_at_once() {
    let guest = encoder("evil", Limits { instances: 1, queue: 2, queue_ms: 60_000, ..limits() });
    let held = begin_response(&guest).await;
    let waiting: Vec<_> = (0..2)
        .map(|_| {
            let guest = Arc::clone(&guest);
            tokio::spawn(async move { evil(&guest, "none", "part", 1).await.is_ok() })
        })
        .collect();
    while guest.metrics().counts().waiting < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let started = Instant::now();
    assert!(matches!(evil(&guest, "none", "part", 1).await, Err(GuestError::Busy { .. })));
    assert!(started.elapsed() < Duration::from_secs(30), "it waited with the others");
    drop(held);
    for waited in waiting {
        assert!(waited.await.unwrap(), "those in the queue get their turn");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_with_a_long_line_take_no_new_responses() {
    let workers = Workers::new(1);
    let config =
        SandboxConfig { limits: Limits { backlog: 2, ..limits() }, ..SandboxConfig::default() };
    let guest = Sandbox::new(&config, Arc::clone(&workers))
        .unwrap()
        .load_encoder(&component("evil"))
        .unwrap();
    let (release, blocked) = mpsc::channel::<()>();
    let spawn = |job: Box<dyn FnOnce() + Send>| {
        let workers = Arc::clone(&workers);
        tokio::spawn(async move {
            workers.drive(yearbook_shares::CallerShare::default(), async move { job() }).await
        })
    };
    let mut jobs = vec![spawn(Box::new(move || blocked.recv().unwrap()))];
    while workers.load().busy == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    jobs.extend((0..2).map(|_| spawn(Box::new(|| {}))));
    while workers.load().new_jobs < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let refused = evil(&guest, "none", "part", 1).await;
    assert!(matches!(refused, Err(GuestError::Busy { retry_after: 1 })));
    release.send(()).unwrap();
    for job in jobs {
        job.await.unwrap().unwrap();
    }
    assert!(evil(&guest, "none", "part", 1).await.is_ok());
}
