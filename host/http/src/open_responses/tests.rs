//! Memory of bodies, their chunks, and their cuts. Checks are made by hand, so no
//! test waits for a clock.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::AtomicUsize;
use std::task::{Context, Wake, Waker};

use bytes::Bytes;
use futures::{FutureExt, StreamExt};
use http_body::Frame;

use super::*;
use crate::CoreSettings;
use crate::settings::{LimitSettings, ServerSettings};

const MEBIBYTE: usize = 1 << 20;

fn bodies(open_responses: usize, body_bytes: usize) -> OpenResponses {
    let server = ServerSettings { open_responses, body_bytes, ..ServerSettings::default() };
    let limits = LimitSettings { key_share_percent: 50, ..LimitSettings::default() };
    OpenResponses::start(&CoreSettings { server, limits, ..CoreSettings::default() })
}

async fn opened(bodies: &OpenResponses, key: &str) -> OpenResponse {
    bodies.open(&bodies.holder(Some(key), None), Some(Duration::ZERO)).await.unwrap()
}

/// A body of such chunks, that says when it is let go of.
fn of_chunks<const N: usize>(chunks: [usize; N]) -> (Body, Arc<()>) {
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let chunks = chunks.into_iter().map(move |bytes| {
        let _ = &held;
        Ok::<_, Infallible>(Bytes::from(vec![b'x'; bytes]))
    });
    (Body::from_stream(futures::stream::iter(chunks)), alive)
}

/// Waker that counts.
#[derive(Default)]
struct WakeCount(AtomicUsize);

impl WakeCount {
    fn read(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for WakeCount {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The next bytes that are there.
fn next(body: &mut Body) -> Option<Result<Bytes, axum::Error>> {
    let frame = futures::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context))
        .now_or_never()?;
    frame.map(|frame| frame.map(|frame: Frame<Bytes>| frame.into_data().unwrap()))
}

#[tokio::test]
async fn a_body_that_nobody_reads_lets_go_of_everything_and_is_cut_contract_5() {
    let bodies = bodies(8, 64 * MEBIBYTE);
    let (body, alive) = of_chunks([MEBIBYTE; 4]);
    let mut body = bodies.watch(body, Some(opened(&bodies, "a").await), None).unwrap();
    drop(next(&mut body).unwrap().unwrap());
    assert_eq!((bodies.callers().bytes().used(), bodies.slots().free()), (MEBIBYTE, 7));
    for _ in 0..30 {
        bodies.watched.check_all();
    }
    assert_eq!(Arc::strong_count(&alive), 2, "within its time it is left alone");
    // The task that looks may have added one.
    bodies.watched.check_all();
    assert_eq!(
        (bodies.callers().bytes().used(), bodies.slots().free(), Arc::strong_count(&alive)),
        (0, 8, 1)
    );
    assert_eq!(bodies.cut(CutReason::Idle), 1);
    assert!(next(&mut body).unwrap().is_err(), "what follows is no end");
    bodies.watched.check_all();
    assert_eq!(bodies.cut(CutReason::Idle), 1, "it is cut once");
}

#[tokio::test]
async fn a_body_asked_ahead_waits_for_its_client_until_all_has_gone_and_then_for_us_contract_5() {
    let bodies = bodies(8, 64 * MEBIBYTE);
    let open = async |key: &str| {
        let chunks = futures::stream::iter([Ok::<_, Infallible>(Bytes::from(vec![b'x'; 1_000]))]);
        let body = Body::from_stream(chunks.chain(futures::stream::pending()));
        bodies.watch(body, Some(opened(&bodies, key).await), None).unwrap()
    };
    let (mut stalled, mut slow) = (open("a").await, open("b").await);
    let unread = next(&mut stalled).unwrap().unwrap();
    assert!(next(&mut stalled).is_none(), "asked ahead");
    let read = next(&mut slow).unwrap().unwrap();
    let woken = Arc::new(WakeCount::default());
    let waker = Waker::from(Arc::clone(&woken));
    let ahead = Pin::new(&mut slow).poll_frame(&mut Context::from_waker(&waker));
    assert!(ahead.is_pending() && woken.read() == 0);
    drop(read);
    assert_eq!(woken.read(), 1, "it is asked again when all has gone");
    assert!(next(&mut slow).is_none());
    for _ in 0..=30 {
        bodies.watched.check_all();
    }
    assert_eq!((bodies.cut(CutReason::Idle), bodies.slots().free()), (1, 7));
    assert!(next(&mut stalled).unwrap().is_err());
    assert!(next(&mut slow).is_none(), "a slow source is not its client's fault");
    drop(unread);
    assert_eq!(bodies.callers().bytes().used(), 0);
}

#[tokio::test]
async fn bytes_count_until_the_transport_lets_go_of_them() {
    let bodies = bodies(8, 64 * MEBIBYTE);
    let (body, _alive) = of_chunks([100_000, 3]);
    let mut body = bodies.watch(body, Some(opened(&bodies, "a").await), None).unwrap();
    let first = next(&mut body).unwrap().unwrap();
    let second = next(&mut body).unwrap().unwrap();
    assert_eq!((first.len() + second.len(), bodies.callers().bytes().used()), (100_000, 100_000));
    drop(first);
    assert_eq!(bodies.callers().bytes().used(), 100_000, "both are one piece of memory");
    drop(second);
    assert_eq!(bodies.callers().bytes().used(), 0);
    let third = next(&mut body).unwrap().unwrap();
    drop(body);
    assert_eq!(bodies.callers().bytes().used(), 3, "what is on its way outlives its body");
    drop(third);
    assert_eq!(bodies.callers().bytes().used(), 0);
}

#[tokio::test]
async fn steps_are_small_for_who_is_slow_and_grow_for_who_keeps_up() {
    let bodies = bodies(8, 64 * MEBIBYTE);
    let (body, _alive) = of_chunks([8 * MEBIBYTE]);
    let open = opened(&bodies, "a").await;
    let mut body = bodies.watch(body, Some(open.clone()), None).unwrap();
    let mut step = || next(&mut body).unwrap().unwrap().len() >> 10;
    assert_eq!([step(), step(), step(), step(), step()], [64, 128, 256, 512, 512]);
    for _ in 0..4 {
        bodies.watched.check_all();
    }
    assert_eq!([step(), step()], [64, 128]);
    assert_eq!(open.holder().steps(), 7, "who makes the chunk sees each of them");
}

#[tokio::test]
async fn a_watched_body_has_the_same_bytes_and_says_how_many_are_left() {
    let bodies = bodies(8, 64 * MEBIBYTE);
    let bytes: Vec<u8> = (0..700_001_u32).map(|at| (at % 251) as u8).collect();
    let mut body =
        bodies.watch(Body::from(bytes.clone()), Some(opened(&bodies, "a").await), None).unwrap();
    let mut all = Vec::new();
    assert_eq!(body.size_hint().exact(), Some(700_001));
    while let Some(some) = next(&mut body) {
        all.extend_from_slice(&some.unwrap());
        assert_eq!(body.size_hint().exact(), Some((bytes.len() - all.len()) as u64));
    }
    assert!(all == bytes && body.is_end_stream());
    assert_eq!(bodies.slots().free(), 8);
}

#[tokio::test]
async fn small_bodies_pass_as_they_are() {
    let bodies = bodies(1, 64 * MEBIBYTE);
    let _open = opened(&bodies, "a").await;
    let small = bodies.watch(Body::from(vec![0; 32 << 10]), None, None);
    assert!(small.is_ok() && bodies.watched.lock().is_empty());
    let large = bodies.watch(Body::from(vec![0; (32 << 10) + 1]), None, None);
    assert!(matches!(large, Err(Error::Busy { .. })), "what nobody has opened needs a place now");
}

#[tokio::test]
async fn new_responses_wait_while_the_bytes_are_used_up_and_are_told_whose_fault_it_is_contract_5()
{
    let bodies = bodies(8, 4 * MEBIBYTE);
    let hold = async |key: &str| {
        let mut body = bodies
            .watch(of_chunks([2 * MEBIBYTE, 1]).0, Some(opened(&bodies, key).await), None)
            .unwrap();
        (next(&mut body).unwrap().unwrap(), body)
    };
    let one = hold("a").await;
    let (a, b) = (bodies.holder(Some("a"), None), bodies.holder(Some("b"), None));
    let now = Some(Duration::from_millis(1));
    let refused = bodies.open(&a, now).await.err().unwrap();
    assert_eq!(
        (refused.code(), refused.retry_after()),
        ("too_many_open", Some(5)),
        "half is its share"
    );
    let two = hold("b").await;
    let refused = bodies.open(&bodies.holder(Some("c"), None), now).await.err().unwrap();
    assert_eq!((refused.code(), refused.retry_after()), ("busy", Some(1)), "nobody has room");
    assert_eq!(bodies.refusal_counts(), [1, 1]);
    let mut wait = Box::pin(bodies.open(&b, Some(Duration::from_secs(60))));
    assert!(wait.as_mut().now_or_never().is_none());
    drop(one);
    assert!(wait.as_mut().now_or_never().is_none(), "its own share is still used up");
    drop(two);
    assert!(wait.await.is_ok());
    assert_eq!((bodies.callers().bytes().used(), bodies.slots().free()), (0, 8));
}

#[tokio::test]
async fn a_source_that_fails_ends_the_body_as_it_did() {
    let bodies = bodies(8, MEBIBYTE);
    let chunks = futures::stream::iter([
        Ok(Bytes::from_static(b"abc")),
        Err(std::io::Error::other("expected by this test")),
    ]);
    let mut body = bodies
        .watch(Body::from_stream(chunks.boxed()), Some(opened(&bodies, "a").await), None)
        .unwrap();
    assert_eq!(next(&mut body).unwrap().unwrap(), "abc");
    assert!(next(&mut body).unwrap().is_err());
    assert_eq!(bodies.slots().free(), 8);
}
