//! Rules of the pool as a whole.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use yearbook_shares::{CallerRegistry, SharePercent};

use super::*;

#[tokio::test]
async fn a_panicking_job_is_an_error_and_the_pool_goes_on() {
    let workers = Workers::new(1);
    assert!(workers.run(|| panic!("expected by this test")).await.is_err());
    assert!(
        workers
            .drive(CallerShare::default(), async { panic!("expected by this test") })
            .await
            .is_err()
    );
    let inner = Arc::clone(&workers);
    assert!(
        workers
            .drive(CallerShare::default(), async move {
                inner.run(|| panic!("expected by this test")).await.is_err()
            })
            .await
            .unwrap()
    );
    assert_eq!(workers.run(|| 7).await.unwrap(), 7);
}

#[tokio::test]
async fn an_abandoned_job_that_has_not_begun_is_skipped() {
    let workers = Workers::new(1);
    let release = occupy_worker(&workers).await;
    let ran = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&ran);
    poll_and_drop(workers.run(move || flag.store(true, Ordering::SeqCst))).await;
    let flag = Arc::clone(&ran);
    poll_and_drop(
        workers.drive(CallerShare::default(), async move { flag.store(true, Ordering::SeqCst) }),
    )
    .await;
    release.send(()).unwrap();
    workers.run(|| ()).await.unwrap();
    assert!(!ran.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_driven_future_stays_on_one_thread_from_wait_to_wait() {
    let workers = Workers::new(4);
    loop {
        let inner = Arc::clone(&workers);
        let began = Instant::now();
        let threads = workers.drive(CallerShare::default(), async move {
            let mut threads = vec![std::thread::current().id()];
            // Another worker is free to take each of them.
            for _ in 0..100 {
                threads.push(inner.run(|| std::thread::current().id()).await.unwrap());
            }
            threads
        });
        let threads = threads.await.unwrap();
        // On a busy machine its time slice may have ended in between.
        if began.elapsed() < time_slice::TIME_SLICE {
            assert_eq!(threads, [threads[0]; 101]);
            assert_ne!(threads[0], std::thread::current().id());
            return;
        }
    }
}

#[tokio::test]
async fn a_driven_future_that_waits_holds_no_thread() {
    let workers = Workers::new(1);
    let (sender, receiver) = oneshot::channel::<u8>();
    let waiting = tokio::spawn({
        let workers = Arc::clone(&workers);
        async move {
            workers
                .drive(CallerShare::default(), async move {
                    (receiver.await.unwrap(), tokio::time::sleep(Duration::from_millis(1)).await)
                })
                .await
                .unwrap()
                .0
        }
    });
    // The only thread serves others meanwhile.
    for _ in 0..3 {
        workers.run(|| ()).await.unwrap();
    }
    sender.send(9).unwrap();
    assert_eq!(waiting.await.unwrap(), 9);
}

#[tokio::test]
async fn dropping_a_driven_future_drops_what_it_owns() {
    struct DropSignal(Option<oneshot::Sender<()>>);
    impl Drop for DropSignal {
        fn drop(&mut self) {
            let _ = self.0.take().unwrap().send(());
        }
    }
    let workers = Workers::new(1);
    let (sender, dropped) = oneshot::channel();
    let signal = DropSignal(Some(sender));
    let begun = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&begun);
    let mut driven = Box::pin(workers.drive(CallerShare::default(), async move {
        let _signal = signal;
        flag.store(true, Ordering::SeqCst);
        std::future::pending::<()>().await;
    }));
    assert!(poll_once(&mut driven).await.is_none());
    while !begun.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
    drop(driven);
    dropped.await.unwrap();
}

#[tokio::test]
async fn what_has_just_begun_goes_before_steps_of_long_work() {
    let workers = Workers::new(1);
    let release = occupy_worker(&workers).await;
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |what: &'static str| {
        let order = Arc::clone(&order);
        move || order.lock().unwrap().push(what)
    };
    let mut step = Box::pin(workers.run(note("step")));
    assert!(poll_once(&mut step).await.is_none());
    let first = note("fresh");
    let mut fresh = Box::pin(workers.drive(CallerShare::default(), async move { first() }));
    assert!(poll_once(&mut fresh).await.is_none());
    release.send(()).unwrap();
    step.await.unwrap();
    fresh.await.unwrap();
    assert_eq!(*order.lock().unwrap(), ["fresh", "step"]);
}

#[tokio::test]
async fn steps_are_served_however_much_begins() {
    let workers = Workers::new(1);
    let begun = Arc::new(AtomicUsize::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    // Each begins its successor: the line of what has just begun is never empty.
    let crowd: Vec<_> = (0..4)
        .map(|_| {
            let (workers, begun, stop) =
                (Arc::clone(&workers), Arc::clone(&begun), Arc::clone(&stop));
            tokio::spawn(async move {
                while !stop.load(Ordering::SeqCst) {
                    let begun = Arc::clone(&begun);
                    workers
                        .drive(CallerShare::default(), async move {
                            begun.fetch_add(1, Ordering::SeqCst)
                        })
                        .await
                        .unwrap();
                }
            })
        })
        .collect();
    for _ in 0..10 {
        workers.run(|| ()).await.unwrap();
    }
    stop.store(true, Ordering::SeqCst);
    for one in crowd {
        one.await.unwrap();
    }
    assert!(begun.load(Ordering::SeqCst) > 0);
}

#[tokio::test]
async fn long_work_takes_turns_with_what_has_just_begun() {
    let workers = Workers::new(1);
    let inner = Arc::clone(&workers);
    let others = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&others);
    let mut long = Box::pin(workers.drive(CallerShare::default(), async move {
        let mut most = 0;
        for _ in 0..20 {
            let seen = Arc::clone(&seen);
            let one = move || {
                std::thread::sleep(Duration::from_millis(2));
                seen.load(Ordering::SeqCst)
            };
            most = most.max(inner.run(one).await.unwrap());
        }
        most
    }));
    assert!(poll_once(&mut long).await.is_none());
    for _ in 0..3 {
        let others = Arc::clone(&others);
        workers
            .drive(CallerShare::default(), async move { others.fetch_add(1, Ordering::SeqCst) })
            .await
            .unwrap();
    }
    assert_eq!(long.await.unwrap(), 3, "all three were served while the long one ran");
}

#[tokio::test]
async fn a_light_caller_waits_behind_nobody_else() {
    let workers = Workers::new(1);
    let callers = CallerRegistry::new(SharePercent { key: 25, address: 50 }, 1 << 20);
    let (heavy, light) = (callers.holder(Some("heavy"), None), callers.holder(Some("light"), None));
    heavy.add_processor_time(Duration::from_secs(1), Instant::now());
    let (release, gate) = mpsc::channel::<()>();
    let mut long = Box::pin(workers.run_for(&heavy, move || gate.recv().unwrap()));
    assert!(poll_once(&mut long).await.is_none());
    // The only steady worker is busy until `release` is used, and others of the caller wait.
    let mut more = Box::pin(workers.drive(heavy.clone(), async {}));
    assert!(poll_once(&mut more).await.is_none());
    workers.run_for(&light, || ()).await.unwrap();
    workers.drive(light.clone(), async {}).await.unwrap();
    release.send(()).unwrap();
    long.await.unwrap();
    more.await.unwrap();
}

#[tokio::test]
async fn a_burst_whose_caller_has_become_heavy_makes_way_for_light_callers() {
    let workers = Workers::new(1);
    let callers = CallerRegistry::new(SharePercent { key: 25, address: 50 }, 1 << 20);
    let [first, heavy, light] =
        ["first", "heavy", "light"].map(|key| callers.holder(Some(key), None));
    let steady = occupy_worker(&workers).await;
    let prompt = occupy_worker_for(&workers, &first).await;
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut waiting = Vec::new();
    let burst = std::iter::repeat_n((&heavy, "heavy"), 20);
    for (caller, name) in burst.chain([(&light, "light")]) {
        let order = Arc::clone(&order);
        let mut job = Box::pin(workers.run_for(caller, move || order.lock().unwrap().push(name)));
        assert!(poll_once(&mut job).await.is_none());
        waiting.push(job);
    }
    heavy.add_processor_time(Duration::from_secs(1), Instant::now());
    prompt.send(()).unwrap();
    waiting.pop().unwrap().await.unwrap();
    assert_eq!(*order.lock().unwrap(), ["light"]);
    steady.send(()).unwrap();
    for job in waiting {
        job.await.unwrap();
    }
    assert_eq!(order.lock().unwrap().len(), 21, "the steady worker has the rest");
}

#[tokio::test]
async fn the_caller_that_used_least_comes_first() {
    let workers = Workers::new(1);
    let callers = CallerRegistry::new(SharePercent { key: 25, address: 50 }, 1 << 20);
    let caller = |key: &str, seconds: u64| {
        let caller = callers.holder(Some(key), None);
        caller.add_processor_time(Duration::from_secs(seconds), Instant::now());
        caller
    };
    let (most, more) = (caller("most", 2_000), caller("more", 1_000));
    let release = occupy_worker(&workers).await;
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut waiting = Vec::new();
    for (caller, name) in [(&most, "most"), (&most, "most"), (&more, "more"), (&more, "more")] {
        let order = Arc::clone(&order);
        let mut job = Box::pin(workers.run_for(caller, move || order.lock().unwrap().push(name)));
        assert!(poll_once(&mut job).await.is_none());
        waiting.push(job);
    }
    release.send(()).unwrap();
    for job in waiting {
        job.await.unwrap();
    }
    assert_eq!(*order.lock().unwrap(), ["more", "more", "most", "most"]);
}

#[tokio::test]
async fn a_job_is_charged_to_its_caller() {
    let workers = Workers::new(1);
    let callers = CallerRegistry::new(SharePercent { key: 25, address: 50 }, 1 << 20);
    let caller = callers.holder(Some("key"), Some([192, 0, 2, 1].into()));
    let spin = || {
        let began = processor_time();
        while processor_time() - began < Duration::from_millis(20) {}
    };
    workers.run_for(&caller, spin).await.unwrap();
    let address = callers.holder(None, Some([192, 0, 2, 1].into()));
    // The worker adds the time after it has sent the result.
    while address.recent_processor_time(Instant::now()).unwrap() < Duration::from_millis(10) {
        tokio::task::yield_now().await;
    }
    assert!(caller.recent_processor_time(Instant::now()).unwrap() <= Duration::from_secs(1));
}

#[tokio::test]
async fn stopped_workers_answer_with_an_error() {
    let workers = Workers::new(1);
    let release = occupy_worker(&workers).await;
    let other = Workers::new(1);
    let (first, second) = (workers.run(|| ()), workers.drive(CallerShare::default(), async {}));
    // Neither has been asked for yet, so both come after the stop.
    workers.queue.stop();
    assert!(first.await.is_err() && second.await.is_err());
    release.send(()).unwrap();
    other.run(|| ()).await.unwrap();
}

/// Keeps a worker busy until what is returned is used.
async fn occupy_worker(workers: &Arc<Workers>) -> mpsc::Sender<()> {
    occupy_worker_for(workers, &CallerShare::default()).await
}

/// The same on the account of `caller`.
async fn occupy_worker_for(workers: &Arc<Workers>, caller: &CallerShare) -> mpsc::Sender<()> {
    let (release, gate) = mpsc::channel::<()>();
    let (begun, busy) = oneshot::channel();
    let (workers, caller) = (Arc::clone(workers), caller.clone());
    tokio::spawn(async move {
        let job = move || {
            begun.send(()).unwrap();
            gate.recv().unwrap();
        };
        workers.run_for(&caller, job).await
    });
    busy.await.unwrap();
    release
}

async fn poll_and_drop<F: Future>(future: F) {
    let mut future = Box::pin(future);
    assert!(poll_once(&mut future).await.is_none());
}

async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    std::future::poll_fn(|context| match std::pin::Pin::new(&mut *future).poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}
