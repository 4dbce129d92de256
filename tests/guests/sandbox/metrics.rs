//! Metrics of a release: every response once, whichever way it ends, and for as long as the process
//! lives.

use std::time::Duration;

use futures::{FutureExt, StreamExt};
use yearbook_sandbox::{
    EncodedBody, Limits, PluginEncoder, PluginMetricsSnapshot, ResponseOutcome, TrapKind,
};
use yearbook_shares::CallerShare;
use yearbook_tests::components::{component, encoder, sandbox};

use super::{batch, collect, evil, limits, source};

/// The counters once nothing is being made any more.
async fn wait_until_settled(encoder: &PluginEncoder) -> PluginMetricsSnapshot {
    for _ in 0..500 {
        let counts = encoder.metrics().counts();
        if counts.begun == counts.outcomes.iter().sum::<u64>() && counts.instances == 0 {
            return counts;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("a response has no end: {:?}", encoder.metrics().counts());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_in_and_comes_out_is_counted_issue_5_8() {
    let json = encoder("json", Limits::default());
    let whole = json
        .encode(&CallerShare::default(), batch(0).schema(), &[], source(vec![Ok(batch(50))]))
        .await
        .unwrap();
    let streamed = json
        .encode(
            &CallerShare::default(),
            batch(0).schema(),
            &[],
            source((0..7).map(|_| Ok(batch(50))).collect()),
        )
        .await
        .unwrap();
    assert!(matches!((&whole, &streamed), (EncodedBody::Whole(_), EncodedBody::Stream(_))));
    let bytes = collect(whole).await.0.len() + collect(streamed).await.0.len();
    let counts = wait_until_settled(&json).await;
    assert_eq!(
        (counts.begun, counts.outcome(ResponseOutcome::Completed), counts.rows),
        (2, 2, 400)
    );
    // Separators are the host's.
    let separators = json.description().separator.as_ref().unwrap().len() as u64;
    assert!(
        (bytes as u64 - 6 * separators..=bytes as u64).contains(&counts.bytes_out),
        "{counts:?}"
    );
    assert!(
        counts.bytes_in > 400 * 8 && counts.memory_bytes >= 1 << 16 && counts.cpu > Duration::ZERO,
        "{counts:?}"
    );
    assert!(counts.calls >= 2 * 4 && counts.refused == 0 && counts.waiting == 0, "{counts:?}");
    assert_eq!(counts.first_bytes.iter().sum::<u64>(), 2);
    assert_eq!(counts.compiled.count + counts.cached.count, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_response_is_counted_once_by_how_it_ended_issue_5_8() {
    let guest = encoder("evil", limits());
    let attacks = [
        ("spin", TrapKind::Cpu),
        ("grow", TrapKind::Memory),
        ("panic", TrapKind::Wasm),
        ("flood", TrapKind::Output),
        ("amplify", TrapKind::Amplification),
    ];
    for (attack, kind) in attacks {
        assert!(evil(&guest, attack, "part", 1).await.is_err());
        assert!(
            collect(evil(&guest, attack, "tail", 3).await.unwrap()).await.1,
            "{attack} after the first byte"
        );
        assert_eq!(wait_until_settled(&guest).await.trap(kind), 2, "{attack}");
    }
    assert!(evil(&guest, "refuse", "part", 1).await.is_err());
    drop(evil(&guest, "none", "part", 500).await.unwrap());
    let failing = source(vec![Err("the disk is gone".into())]);
    assert!(guest.encode(&CallerShare::default(), batch(0).schema(), &[], failing).await.is_err());
    let holder = CallerShare::default();
    let waiting = guest.encode(&holder, batch(0).schema(), &[], futures::stream::pending().boxed());
    assert!(Box::pin(waiting).now_or_never().is_none());
    let counts = wait_until_settled(&guest).await;
    let outcome = |outcome| counts.outcome(outcome);
    assert_eq!(
        (
            outcome(ResponseOutcome::Trapped),
            outcome(ResponseOutcome::TooLarge),
            counts.traps.iter().sum::<u64>()
        ),
        (4, 6, 10)
    );
    assert_eq!(
        (outcome(ResponseOutcome::Internal), counts.failures()),
        (1, 5),
        "limits that an option ran into are no failures"
    );
    assert_eq!(
        (
            outcome(ResponseOutcome::Abandoned),
            outcome(ResponseOutcome::Input),
            outcome(ResponseOutcome::Completed)
        ),
        (2, 1, 0)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_that_finds_no_instance_is_refused_and_not_begun() {
    let guest = encoder("evil", Limits { instances: 1, queue_ms: 20, ..Limits::default() });
    let holder = CallerShare::default();
    let endless = || futures::stream::repeat_with(|| Ok(batch(2))).boxed();
    let held = guest.encode(&holder, batch(0).schema(), &[], endless()).await.unwrap();
    let second = guest.encode(&holder, batch(0).schema(), &[], endless());
    let (refused, waiting) = futures::join!(second, async {
        tokio::task::yield_now().await;
        guest.metrics().counts().waiting
    });
    assert!(refused.is_err());
    drop(held);
    let counts = wait_until_settled(&guest).await;
    assert_eq!((waiting, counts.waiting, counts.refused, counts.begun), (1, 0, 1, 1));
    assert!(counts.waited >= Duration::from_millis(20));
}

#[tokio::test(flavor = "multi_thread")]
async fn counters_outlive_the_plugin_and_go_on_when_it_is_loaded_again() {
    let sandbox = sandbox(Limits::default());
    for round in 1..=2 {
        let csv = sandbox.load_encoder(&component("csv")).unwrap();
        drop(
            csv.encode(&CallerShare::default(), batch(0).schema(), &[], source(vec![Ok(batch(3))]))
                .await
                .unwrap(),
        );
        drop(csv);
        let [counts] = &sandbox.metrics_snapshots()[..] else { panic!("one release, one tally") };
        assert_eq!(
            (
                counts.release.id.kind.as_str(),
                counts.release.id.name.as_str(),
                counts.outcome(ResponseOutcome::Completed)
            ),
            ("encoder", "csv", round)
        );
        assert_eq!(counts.compiled.count + counts.cached.count, round);
    }
}
